"""What a person does in the viewer, by the forms of its pages, with a real graph behind them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest

from tests.forethought.app.viewer.conftest import Open, thread_of
from tests.support.model_server import Fault

Scripted = Callable[..., Any]


async def test_a_task_with_files_is_begun_carried_out_and_answered(
    open_viewer: Open, scripted: Scripted
) -> None:
    scripted()
    async with open_viewer() as browser:
        assert "Start" in (await browser.get("/new")).text
        files = [("files", ("a.csv", b"a,b\n1,2\n")), ("files", ("b.txt", b"words"))]
        begun = await browser.post("/new", {"task": "What is 40 + 2?", "effort": "paper"}, files=files)
        assert begun.history[0].status_code == 303
        page = await browser.settled(thread_of(begun))
        assert 'class="status answered"' in page
        state = (await browser.runs.snapshot(thread_of(begun))).values
        assert [file["name"] for file in state["files"]] == ["a.csv", "b.txt"]
        again = await browser.post(f"/threads/{thread_of(begun)}/task", {"task": "And once more?"})
        assert thread_of(again) == thread_of(begun)
        assert "And once more?" in await browser.settled(thread_of(begun))


@pytest.mark.parametrize(
    ("form", "line"),
    [
        ({"task": "  "}, "Write the task."),
        ({"task": "keep me", "model": "openai:dear"}, "openai:dear"),
        ({"task": "keep me", "effort": "much"}, "effort"),
    ],
)
async def test_bad_input_brings_the_form_again(
    open_viewer: Open, scripted: Scripted, form: dict[str, str], line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted()
    monkeypatch.setenv("FORETHOUGHT_ALLOWED_MODELS", "openai:scripted")
    async with open_viewer() as browser:
        again = await browser.post("/new", form)
        assert again.status_code == 422
        text = unescape(again.text)
        (problem,) = re.findall(r'role="alert"[^>]*>([^<]*)<', text)
        assert line in problem
        assert form["task"] in text
        assert form.get("model", "") in text
        assert "No threads yet" in (await browser.get("/")).text


async def test_files_that_a_form_forgets_are_asked_for_again(open_viewer: Open, scripted: Scripted) -> None:
    scripted()
    async with open_viewer() as browser:
        form = {"task": "keep me", "effort": "much"}
        assert "Choose the files again." not in (await browser.post("/new", form)).text
        again = await browser.post("/new", form, files=[("files", ("a.csv", b"a,b"))])
        assert "Choose the files again." in again.text


async def test_a_plan_is_rejected_edited_and_approved(open_viewer: Open, scripted: Scripted) -> None:
    scripted()
    async with open_viewer() as browser:
        begun = await browser.post("/new", {"task": "What is 40 + 2?", "approve_plan": "true"})
        thread = thread_of(begun)
        assert "Approve plan version 1?" in await browser.settled(thread)
        (key,) = await asked(browser, thread)
        wrong = await browser.post(
            f"/threads/{thread}/reply", {f"decision:{key}": "edit", f"value:{key}": "[{"}
        )
        assert (wrong.status_code, "not JSON" in wrong.text, "[{" in unescape(wrong.text)) == (
            422,
            True,
            True,
        )
        nothing = await browser.post(f"/threads/{thread}/reply", {f"value:{key}": "[]"})
        assert "Choose or write a reply." in nothing.text
        await browser.post(
            f"/threads/{thread}/reply", {f"decision:{key}": "reject", f"reason:{key}": "too long"}
        )
        assert "Approve plan version 2?" in await browser.settled(thread)
        stale = await browser.post(f"/threads/{thread}/reply", {f"decision:{key}": "approve"})
        if (now := (await asked(browser, thread))[0]) != key:
            assert "no longer needs" in stale.text
        state = (await browser.runs.snapshot(thread)).values
        subtasks = [{**one, "description": one["description"] + "!"} for one in state["plan"]["subtasks"]]
        edited = {f"decision:{now}": "edit", f"value:{now}": json.dumps(subtasks)}
        await browser.post(f"/threads/{thread}/reply", edited)
        await browser.settled(thread)
        for key in await asked(browser, thread):
            await browser.post(f"/threads/{thread}/reply", {f"decision:{key}": "approve"})
        assert 'class="status answered"' in await browser.settled(thread)


async def test_a_question_is_answered(open_viewer: Open, scripted: Scripted) -> None:
    scripted(question="Which colour <b>now</b>?")
    async with open_viewer() as browser:
        thread = thread_of(await browser.post("/new", {"task": "Find out the colour"}))
        page = await browser.settled(thread)
        assert "Which colour <b>now</b>?" in page
        assert "<b>now" not in (await browser.get(f"/threads/{thread}")).text
        (key,) = await asked(browser, thread)
        await browser.post(f"/threads/{thread}/reply", {f"value:{key}": "blue"})
        await browser.settled(thread)
        steps = (await browser.runs.snapshot(thread)).values["trajectory"]
        assert any("blue" in step["observation"] for step in steps)


async def test_a_step_is_forked_with_guidance(open_viewer: Open, scripted: Scripted) -> None:
    scripted()
    async with open_viewer() as browser:
        thread = thread_of(await browser.post("/new", {"task": "What is 40 + 2?"}))
        assert "Fork" in await browser.settled(thread)
        wrong = await browser.post(f"/threads/{thread}/fork", {"before": "99", "guidance": "be careful"})
        assert (wrong.status_code, "has no step 99" in wrong.text, "be careful" in wrong.text) == (
            422,
            True,
            True,
        )
        await browser.post(f"/threads/{thread}/fork", {"before": "3", "guidance": "be careful"})
        await browser.settled(thread)
        tree = await browser.runs.tree(thread)
        assert len(set(tree.values())) < len(tree), "a checkpoint has two children"


async def test_a_run_is_stopped_and_resumed(open_viewer: Open, scripted: Scripted) -> None:
    script, server = scripted()
    script.fault = lambda seen: Fault("hang") if seen.reply_name == "ToolChoice" else None
    async with open_viewer() as browser:
        thread = thread_of(await browser.post("/new", {"task": "What is 40 + 2?"}))
        while "ToolChoice" not in server.names:
            assert await browser.runs.is_running(thread)
            await asyncio.sleep(0.01)
        assert "The agent is working on " in (await browser.get(f"/threads/{thread}")).text
        refused = await browser.post(f"/threads/{thread}/task", {"task": "another"})
        assert "is running" in refused.text
        page = await browser.post(f"/threads/{thread}/stop")
        assert 'class="status stopped"' in page.text
        assert "Resume" in page.text
        script.fault = lambda seen: None
        await browser.post(f"/threads/{thread}/resume")
        assert 'class="status answered"' in await browser.settled(thread)
        assert "is not running" in (await browser.post(f"/threads/{thread}/stop")).text


async def asked(browser: Any, thread: str) -> list[str]:
    """Ids of the questions that wait."""
    return [item.id for item in (await browser.runs.snapshot(thread)).interrupts]
