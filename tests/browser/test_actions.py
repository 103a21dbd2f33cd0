"""What a person does in the viewer: begin, reply, stop, resume, fork, each to its end."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.threads import Fetching
from tests.browser.viewer import Viewer
from tests.browser.watch import Watch
from tests.forethought.app.scripted import Script
from tests.support.model_server import Fault, ModelServer, SeenRequest

pytestmark = pytest.mark.usefixtures("watch")


@dataclass
class Gate(Script):
    """A model that writes no answer until `opened` is set."""

    opened: threading.Event = field(default_factory=threading.Event)

    def answerdraft(self, seen: SeenRequest) -> Any:
        """Wait at most 20 s, which a failing test takes."""
        self.opened.wait(20)
        return super().answerdraft(seen)


async def begin(page: Page, task: str, *, approve: bool = False) -> None:
    """Begin a new task by its form; the thread's page is open then."""
    await page.goto("/view/new")
    await page.get_by_label("Task", exact=True).fill(task)
    if approve:
        await page.get_by_text("Settings", exact=True).click()
        await page.get_by_label("Ask me to approve the plan").check()
    await page.get_by_role("button", name="Start").click()
    await expect(page).to_have_url(re.compile(r"/view/threads/[\w-]+$"))


async def reply(page: Page, decision: str) -> None:
    """Choose a reply and send it."""
    await page.get_by_role("radio", name=decision, exact=True).check()
    await page.get_by_role("button", name="Reply").click()


def status(page: Page) -> Locator:
    """The status of the task on a thread's page."""
    return page.locator("main .status").first


def step(page: Page, number: int) -> Locator:
    """A step of the timeline, which opens."""
    return (
        page.locator(f"#step-{number}").locator("details").or_(page.locator(f"details#step-{number}")).first
    )


def asked_for(models: ModelServer, reply_name: str) -> list[SeenRequest]:
    """What the model was asked for this reply."""
    return [seen for seen in models.requests if seen.reply_name == reply_name]


async def test_a_run_grows_in_the_open_page_around_what_a_person_does(
    page: Page, models: ModelServer, tmp_path: Path
) -> None:
    models.policy = gate = Gate()
    notes = tmp_path / "notes <b>.txt"
    notes.write_text("The colour is teal.")
    await page.goto("/view/")
    await page.get_by_text("New task", exact=True).first.click()
    await page.get_by_label("Task", exact=True).fill("What is 40 + 2?")
    await page.get_by_label("Files").set_input_files(notes)
    await page.get_by_role("button", name="Start").click()
    await expect(status(page)).to_have_text("running")
    await page.evaluate("window.stayed = true")
    await expect(page.get_by_role("heading", level=1)).to_have_text("What is 40 + 2?")
    await expect(page.locator("main")).to_contain_text(notes.name)

    opened, typed = step(page, 1), page.get_by_label("Task", exact=True)
    await opened.locator("summary").first.click()
    await page.get_by_label("Guidance").fill("Mind the units.")
    await typed.fill("half a sen")
    await expect(page.get_by_role("button", name="Start")).to_be_disabled()
    gate.opened.set()
    await expect(status(page)).to_have_text("answered")
    await expect(page.get_by_role("heading", name="Answer", exact=True)).to_be_visible()
    assert await opened.evaluate("(each) => each.open"), "what was opened stays open"
    assert notes.name in asked_for(models, "Plan")[0].text
    await expect(typed).to_be_focused()
    await page.keyboard.type("tence")
    await expect(typed).to_have_value("half a sentence")
    await expect(page.get_by_label("Guidance")).to_have_value("Mind the units.")
    assert await page.evaluate("window.stayed"), "the page was not loaded again"

    await page.get_by_role("button", name="Start").dblclick()
    await expect(page.get_by_role("heading", level=1)).to_have_text("half a sentence")
    await expect(status(page)).to_have_text("answered")
    assert len(asked_for(models, "Plan")) == 2, "a second click begins no second run"


async def test_a_plan_is_rejected_then_edited(page: Page, models: ModelServer, watch: Watch) -> None:
    await begin(page, "What is 6 * 7?", approve=True)
    await page.get_by_label("Reason").fill("use one step")
    await reply(page, "Reject")
    await expect(page.get_by_text("Approve plan version 2?")).to_be_visible()
    assert "use one step" in asked_for(models, "Plan")[-1].text
    await page.get_by_text("Subtasks as JSON").click()
    await page.get_by_label("Edited").fill("[{")
    await reply(page, "Approve")
    problem = page.get_by_role("alert")
    await expect(problem).to_have_text("You changed the subtasks: choose Edit, or undo the change.")
    await expect(page.get_by_label("Edited")).to_be_visible()
    await expect(page.get_by_label("Edited")).to_have_value("[{")
    await reply(page, "Edit")
    await expect(problem).to_contain_text("not JSON")
    await expect(problem).to_be_focused()
    await expect(page.get_by_label("Edited")).to_have_value("[{")
    watch.forgive(422)
    await page.get_by_label("Edited").fill(
        '[{"id": "only", "description": "Compute 6 * 7", "depends_on": []}]'
    )
    await reply(page, "Edit")
    await expect(status(page)).to_have_text("answered")
    await expect(page.locator("main")).to_contain_text("only")


@pytest.mark.parametrize(("decision", "trace"), [("Approve", "approved by a person"), ("Reject", "not now")])
async def test_a_call_is_allowed_or_not(
    page: Page, models: ModelServer, viewer: Viewer, decision: str, trace: str
) -> None:
    await page.goto(viewer.path(f"call to {decision.lower()}"))
    question = page.get_by_role("group", name="Allow the call to visit_webpage?")
    await expect(question).to_contain_text(Fetching.address)
    await page.get_by_label("Reason").fill("not now")
    await reply(page, decision)
    await expect(page.locator("main")).to_contain_text(trace)


async def test_a_question_is_answered_once_without_a_mouse(page: Page, models: ModelServer) -> None:
    models.policy = Script(question="Which colour?")
    await page.goto("/view/new")
    await page.get_by_label("Task", exact=True).focus()
    await page.keyboard.type("What is it?")
    await press(page, "Start")
    question = page.get_by_role("group", name="Which colour?")
    await question.get_by_role("textbox").focus()
    await page.keyboard.type("deep=blue")
    other = await page.context.new_page()
    await other.goto(page.url)
    await press(page, "Reply")
    await expect(status(page)).to_have_text("answered")
    await expect(page.locator("main")).to_contain_text("deep=blue")
    await expect(status(other)).to_have_text("answered")
    await expect(other.get_by_role("button", name="Reply")).to_have_count(0)
    await page.go_back()
    await expect(status(page)).to_have_text("answered")
    await expect(page.get_by_role("button", name="Reply")).to_have_count(0)


async def press(page: Page, name: str) -> None:
    """Press Tab until a button has the focus, then Enter."""
    for _ in range(20):
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement.textContent.trim()") == name:
            return await page.keyboard.press("Enter")
    raise AssertionError(f"Tab does not lead to {name}")


async def test_a_run_is_stopped_and_resumed(page: Page, models: ModelServer) -> None:
    models.policy = gate = Gate()
    await begin(page, "What is 40 + 2?")
    await expect(step(page, 3)).to_be_visible()
    await page.get_by_role("button", name="Stop").click()
    await expect(status(page)).to_have_text("stopped")
    gate.opened.set()
    await page.get_by_role("button", name="Resume").click()
    await expect(status(page)).to_have_text("answered")


async def test_what_failed_says_why_and_is_resumed_in_another_tab(page: Page, models: ModelServer) -> None:
    models.policy = Script(fault=lambda seen: Fault("500", message="out of order"))
    await begin(page, "What is 40 + 2?")
    await expect(status(page)).to_have_text("failed")
    await expect(page.get_by_role("alert")).to_contain_text("out of order")
    models.policy = Script()
    other = await page.context.new_page()
    await other.goto(page.url)
    await other.get_by_role("button", name="Resume").click()
    await expect(status(page)).to_have_text("answered")


async def test_a_fork_runs_on_with_guidance_beside_the_first_branch(page: Page, models: ModelServer) -> None:
    models.policy = script = Script()
    await begin(page, "What is 40 + 2?")
    await expect(status(page)).to_have_text("answered")
    script.answer = "forty-two"
    await page.get_by_label("Rerun from step").fill("3")
    await page.get_by_label("Guidance").fill("Write it in words.")
    await page.get_by_role("button", name="Rerun", exact=True).click()
    await expect(page.locator("main")).to_contain_text("forty-two")
    assert any("Write it in words." in seen.text for seen in models.requests)
    await page.get_by_role("definition").get_by_role("link", name="2", exact=True).click()
    await expect(page.locator("main")).to_contain_text("forked before step 3")
    await page.get_by_role("link", name="compare").click()
    await expect(page.get_by_role("heading", name="Branch 1 and branch 2")).to_be_visible()


async def test_a_page_that_cannot_follow_its_run_says_so(page: Page, viewer: Viewer, watch: Watch) -> None:
    await page.route("**/changes?*", lambda route: route.fulfill(status=404))
    await page.goto(viewer.path("waiting"))
    await expect(page.get_by_role("status")).to_have_text("This page no longer updates. Reload it.")
    watch.forgive(404)
