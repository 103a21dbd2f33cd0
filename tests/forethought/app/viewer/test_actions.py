"""What a person does in the viewer, by the forms of its pages, with a real graph behind them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from bs4 import BeautifulSoup
from starlette.datastructures import FormData
from starlette.testclient import TestClient

from forethought.app.viewer.actions import read_reply
from forethought.app.viewer.runs import Json, Refused
from tests.forethought.app.conftest import Cli
from tests.forethought.app.viewer.conftest import Open, Page, thread_of
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


async def test_a_correction_is_kept_and_the_task_is_answered_again(
    cli: Cli, open_viewer: Open, scripted: Scripted
) -> None:
    _, server = scripted()
    async with open_viewer() as browser:
        thread = thread_of(await browser.post("/new", {"task": "What is 40 + 2?"}))
        assert "This is wrong" in await browser.settled(thread)
        assert "Say what is wrong." in (await browser.post(f"/threads/{thread}/wrong", {"why": " "})).text
        await browser.post(f"/threads/{thread}/wrong", {"why": "Round <up> to tens."})
        await browser.settled(thread)
        state = (await browser.runs.snapshot(thread)).values
        assert state["progress"]["task"] == 2
        (advice,) = (await browser.runs.experience())["default"]
        assert (advice.instead, advice.number, advice.state) == ("Round <up> to tens.", 1, "adopted")
    assert any("The person says: Round" in seen.text for seen in server.requests)


@pytest.mark.parametrize(
    ("form", "line"),
    [
        ({"task": "  "}, "Write the task."),
        ({"task": "keep me", "model": "openai:dear"}, "openai:dear"),
        ({"task": "keep me", "effort": "much"}, "Settings, Effort: must be 'paper'"),
        ({"task": "long " * 300_000}, "The task is too long"),
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


ARGUMENTS = {"url": "https://shop.example", "part": 1}
CALL = {"id": "q", "kind": "tool", "tool": "visit_webpage", "arguments": ARGUMENTS}
PLAN = {"id": "q", "kind": "plan", "plan": {"subtasks": [ARGUMENTS]}}
ASK = {"id": "q", "kind": "question", "question": "Which colour?"}
SAME, CHANGED = '{"url":"https://shop.example",\r\n "part": 1}', '{"url": "https://else.example"}'


def reply_of(question: Json, **fields: str) -> Json | None:
    """What a form with these fields replies to the question."""
    return read_reply(question, FormData({f"{name}:q": text for name, text in fields.items()}))


@pytest.mark.parametrize(
    ("question", "fields", "reply"),
    [
        (ASK, {"value": " blue "}, ("answer", "blue")),
        (ASK, {"decision": "red", "value": " "}, ("answer", "red")),
        (ASK, {"value": " "}, None),
        (CALL, {"value": SAME}, None),
        (CALL, {"decision": "approve", "value": SAME}, ("approve", None)),
        (CALL, {"decision": "reject", "value": " "}, ("reject", None)),
        (CALL, {"decision": "edit", "value": CHANGED}, ("edit", {"url": "https://else.example"})),
        (PLAN, {"decision": "approve", "value": f"[{SAME}]"}, ("approve", None)),
    ],
)
def test_what_a_form_replies(question: Json, fields: dict[str, str], reply: tuple[str, Any] | None) -> None:
    found = reply_of(question, **fields)
    assert (found and (found["decision"], found["value"])) == reply


@pytest.mark.parametrize("decision", ["", "approve", "approve all", "reject"])
@pytest.mark.parametrize(
    ("question", "value", "what"),
    [(CALL, CHANGED, "arguments"), (CALL, "{", "arguments"), (PLAN, "[]", "subtasks")],
)
def test_a_change_is_not_dropped(question: Json, value: str, what: str, decision: str) -> None:
    with pytest.raises(Refused, match=f"You changed the {what}: choose Edit, or undo the change."):
        reply_of(question, decision=decision, value=value)


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
        await browser.post(
            f"/threads/{thread}/reply", {f"decision:{key}": "reject", f"reason:{key}": "too long"}
        )
        assert "Approve plan version 2?" in await browser.settled(thread)
        stale = await browser.post(f"/threads/{thread}/reply", {f"decision:{key}": "approve"})
        assert "no longer needs" in stale.text
        (now,) = await asked(browser, thread)
        state = (await browser.runs.snapshot(thread)).values
        subtasks = [{**one, "description": one["description"] + "!"} for one in state["plan"]["subtasks"]]
        edited = {f"decision:{now}": "edit", f"value:{now}": json.dumps(subtasks)}
        await browser.post(f"/threads/{thread}/reply", edited)
        await browser.settled(thread)
        for key in await asked(browser, thread):
            await browser.post(f"/threads/{thread}/reply", {f"decision:{key}": "approve"})
        assert 'class="status answered"' in await browser.settled(thread)


async def test_an_edit_that_the_run_refuses_comes_back_as_typed(
    open_viewer: Open, scripted: Scripted
) -> None:
    scripted()
    async with open_viewer() as browser:
        thread = thread_of(await browser.post("/new", {"task": "What is 40 + 2?", "approve_plan": "true"}))
        await browser.settled(thread)
        (key,) = await asked(browser, thread)
        edited = {f"decision:{key}": "edit", f"value:{key}": '[{"id": "typed"}]', f"reason:{key}": "shorter"}
        await browser.post(f"/threads/{thread}/reply", edited)
        again = await browser.settled(thread)
        assert "description: Field required" in again
        (now,) = await asked(browser, thread)
        page = BeautifulSoup(again, "html.parser")
        assert json.loads(page.select(f"[name='value:{now}']")[0].text) == [{"id": "typed"}]
        assert [one["value"] for one in page.select(f"[name='decision:{now}'][checked]")] == ["edit"]
        assert page.select(f"[name='reason:{now}']")[0]["value"] == "shorter"


@pytest.fixture
def finished(cli: Cli, scripted: Scripted) -> str:
    """The path of a thread whose task is answered."""
    scripted()
    assert cli("run", "What is 40 + 2?", "--thread", "finished").code == 0
    return "/threads/finished"


def test_a_fork_from_no_step_brings_the_form_again(finished: str, viewer: TestClient) -> None:
    lines = {"99": "has no step 99", "9" * 5_000: "Give the number of the step", "x": "Give the number"}
    for before, line in lines.items():
        again = viewer.post(f"/view{finished}/fork", data={"before": before, "guidance": "be careful"})
        assert (again.status_code, line in again.text, "be careful" in again.text) == (422, True, True)


def test_a_step_leads_to_the_form_that_forks_it(finished: str, page: Page) -> None:
    link = page(finished).select("#step-3 a")[-1]
    assert (link.text, link["href"]) == ("Fork from here", "?before=3#fork")
    (number,) = page(f"{finished}?before=3").select("form[action$=fork] [name=before]")
    assert number["value"] == "3"
    assert "Fork from here" not in page(f"{finished}/export.html").text


async def test_a_run_that_is_going_takes_no_other_task_and_is_stopped(
    open_viewer: Open, scripted: Scripted
) -> None:
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
        assert "is not running" in (await browser.post(f"/threads/{thread}/stop")).text


@pytest.mark.parametrize(
    ("method", "path", "status", "title"),
    [("GET", "/nowhere", 404, "Not found"), ("POST", "/experience", 405, "Method not allowed")],
)
async def test_an_error_is_titled_by_its_status(
    open_viewer: Open, method: str, path: str, status: int, title: str
) -> None:
    async with open_viewer() as browser:
        reply = await browser.client.request(method, f"/view{path}")
        assert (reply.status_code, f"<h1>{title}</h1>" in reply.text) == (status, True)


async def asked(browser: Any, thread: str) -> list[str]:
    """Ids of the questions that wait."""
    return [item.id for item in (await browser.runs.snapshot(thread)).interrupts]
