"""What a call may use: questions to a model, and calls of programs."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from forethought.models.live import LiveTransport
from forethought.models.types import ModelReply, ModelRequest, ReplayError, TransportError
from forethought.settings import Settings
from forethought.tools.base import Observation, make_tool
from forethought.tools.sandbox.sandlock import why_not
from tests.support.agent import Drive, Script, World, broken
from tests.support.replies import Json, call, finish, plan, sub

NOTES = {"name": "notes.txt", "data": base64.b64encode(b"the sum is 12").decode()}
TASK = {"task": "the sum?", "files": [NOTES]}
ASKED = call(tool="read_file", path="notes.txt", part=None, question="What is the sum?", finishes=False)


class Failing(LiveTransport):
    """Fails whenever a document is asked about."""

    error: Exception

    async def send(self, request: ModelRequest) -> ModelReply:
        if request.role == "inspector":
            raise self.error
        return await super().send(request)


def failing(error: Exception) -> Any:
    """Makes the transport of a run."""

    def make(settings: Settings) -> Failing:
        made = Failing(settings)
        made.error = error
        return made

    return make


async def test_a_recording_that_lacks_the_answer_stops_the_run(drive: Drive, tmp_path: Path) -> None:
    script = Script(plans=[plan(sub("a"))], moves={"a": [ASKED, finish("12")]})
    missing = ReplayError("the recording has no reply to call 4")
    out = await drive(script, task=None, transport=failing(missing))
    with pytest.raises(ReplayError, match="no reply to call 4"):
        await out.go(TASK)
    assert out.steps == []


async def test_a_model_that_cannot_be_reached_is_a_failed_step_whose_call_is_counted(drive: Drive) -> None:
    script = Script(plans=[plan(sub("a"))], moves={"a": [ASKED, finish("12")]})
    gone = TransportError("no reply in 3 tries")
    out = await drive(script, task=TASK, transport=failing(gone))
    assert (out.steps[0]["ok"], out.steps[0]["cause"]) == (False, "transport")
    assert "no reply in 3 tries" in out.steps[0]["observation"]
    assert out.state["usage"]["inspector"]["calls"] == 1
    assert out.status == "answered"


SERVER = Path(__file__).parents[2] / "support" / "mcp_server.py"
BACKENDS = [
    "monty",
    pytest.param("sandlock", marks=pytest.mark.skipif(why_not() is not None, reason=str(why_not()))),
]


def program(code: str, **changes: Any) -> Json:
    """A move that runs a program."""
    return {**call(tool="python", **changes), "arguments": {"code": code}}


async def shred(key: str) -> str:
    """Change something.

    Args:
        key: What.
    """
    return key


@pytest.mark.parametrize("backend", BACKENDS)
async def test_several_calls_in_one_program_are_sub_steps_of_one_step(drive: Drive, backend: str) -> None:
    world = World({"x": [Observation("12", origin="web:a.example")], "y": ["30"]})
    code = "a = int(lookup(key='x'))\nb = int(lookup('y', note='n'))\nprint(a + b)"
    out = await drive(Script(moves={"a": [program(code)]}), world, setting={"python_backend": backend})
    assert (world.calls, world.notes) == (["x", "y"], [None, "n"])
    (step,) = out.steps
    assert (step["observation"], step["ok"]) == ("42", True)
    assert [(item["tool"], item["arguments"], item["ok"]) for item in step["sub_steps"]] == [
        ("lookup", {"key": "x"}, True),
        ("lookup", {"key": "y", "note": "n"}, True),
    ]
    first = step["sub_steps"][0]
    assert set(first) == {"tool", "arguments", "ok", "cause", "observation", "origin", "seconds"}
    assert (first["observation"], first["origin"]) == ("12", "web:a.example")
    assert set(step["origin"].split(", ")) >= {"web:a.example", "tool:lookup"}
    assert out.state["results"]["a"]["origin"] == step["origin"]
    json.dumps(step, allow_nan=False)


@pytest.mark.parametrize("backend", BACKENDS)
async def test_a_failed_call_is_an_exception_with_cause_and_hint(drive: Drive, backend: str) -> None:
    world = World({"x": [broken("gone", cause="not_found", hint="ask")]})
    code = "try:\n  lookup(key='x')\nexcept RuntimeError as e:\n  print('seen', e)"
    out = await drive(Script(moves={"a": [program(code)]}), world, setting={"python_backend": backend})
    assert out.steps[0]["observation"] == "seen not_found: gone Hint: ask"
    (item,) = out.steps[0]["sub_steps"]
    assert (item["ok"], item["cause"], item["observation"]) == (False, "not_found", "gone\nHint: ask")


async def test_wrong_arguments_and_what_is_not_offered_are_refused(drive: Drive) -> None:
    codes = [
        "lookup(kye='x')", "lookup('a', 'b', 'c')", "lookup('a', key='b')", "lookup(key=max)",
        "shred(key='x')", "visit_webpage(url='https://a.example')", "ask_user(question='?')",
        "python(code='1')",
    ]  # fmt: skip
    world = World()
    moves = [program(code) for code in codes]
    out = await drive(
        Script(moves={"a": [*moves, call("done")]}),
        world,
        tools=[make_tool(shred, effect="write")],
        max_attempts=10,
    )
    assert world.calls == ["done"]
    said = [step["observation"] for step in out.steps]
    assert "kye is not an argument" in said[0]
    assert "takes key, note" in said[1]
    assert "was given key twice" in said[2]
    assert all("is not defined" in text for text in said[4:8])


async def test_a_call_that_failed_is_made_again_by_no_program_and_by_no_move(drive: Drive) -> None:
    world = World({"x": [broken("locked"), "open"], "y": [broken("shut"), "open"]})
    twice = "for _ in range(2):\n  try:\n    lookup(key='y')\n  except RuntimeError as e:\n    print(e)"
    script = Script(
        plans=[plan(sub("a"))],
        moves={
            "a": [call("x"), program("print(lookup(key='x'))"), program(twice, finishes=False), call("y")]
        },
    )
    out = await drive(script, world, max_attempts=9, replanning=False)
    assert world.calls[:2] == ["x", "y"]
    assert "the same call failed at step 1 (tool): locked" in out.steps[1]["observation"]
    assert [item["cause"] for item in out.steps[2]["sub_steps"]] == ["tool", "repeat"]
    assert "failed at step 3 (tool): shut" in out.steps[2]["observation"]
    assert (out.steps[3]["cause"], "failed at step 3" in out.steps[3]["observation"]) == ("repeat", True)


async def test_a_call_that_may_be_tried_again_may_be_tried_again_in_a_program(drive: Drive) -> None:
    failed = broken("no line", cause="transport", retryable=True)
    world = World({"x": [failed, failed, "there"]}, retryable=True)
    code = "try:\n  lookup(key='x')\nexcept RuntimeError:\n  print(lookup(key='x'))"
    out = await drive(Script(moves={"a": [program(code)]}), world)
    assert (world.calls, out.steps[0]["observation"]) == (["x"] * 3, "there")


@pytest.mark.parametrize("backend", BACKENDS)
async def test_a_program_makes_at_most_twenty_calls(drive: Drive, backend: str) -> None:
    world = World()
    code = (
        "n = 0\nfor i in range(50):\n  try:\n    lookup(key=str(i))\n    n += 1\n"
        "  except RuntimeError as e:\n    print(n, e)\n    break"
    )
    out = await drive(Script(moves={"a": [program(code)]}), world, setting={"python_backend": backend})
    assert out.steps[0]["observation"].startswith("20 limit: a program may make at most 20 calls")
    assert len(out.steps[0]["sub_steps"]) == len(world.calls) == 20


async def test_a_sub_step_keeps_the_head_of_a_long_text_and_the_program_has_it_whole(drive: Drive) -> None:
    world = World({"x": ["a" * 9000]})
    out = await drive(Script(moves={"a": [program("print(len(lookup(key='x')))")]}), world)
    assert out.steps[0]["observation"] == "9000"
    assert len(out.steps[0]["sub_steps"][0]["observation"]) == 2000


@pytest.mark.parametrize("backend", BACKENDS)
async def test_waiting_for_a_tool_is_not_the_programs_time(drive: Drive, backend: str) -> None:
    world = World(seconds=1.2)
    out = await drive(
        Script(moves={"a": [program("print(lookup(key='x'))")]}),
        world,
        setting={"python_backend": backend, "python_seconds": 0.8},
    )
    assert out.steps[0]["observation"] == "value of x"


@pytest.mark.parametrize("backend", BACKENDS)
async def test_what_was_read_before_a_program_failed_is_not_forgotten(drive: Drive, backend: str) -> None:
    world = World({"x": [Observation("page", origin="web:a.example")]})
    moves = [program("raise ValueError(lookup(key='x'))"), call("y")]
    out = await drive(Script(moves={"a": moves}), world, setting={"python_backend": backend})
    assert (out.steps[0]["ok"], "web:a.example" in out.steps[0]["origin"]) == (False, True)


async def test_the_prompt_says_which_tools_code_may_call(drive: Drive) -> None:
    out = await drive(tools=[make_tool(shred, effect="write")])
    text = out.asked("ToolChoice")[0].text
    offered = text.split("with keyword arguments: ")[1].split(". Each")[0].split(", ")
    assert {"web_search", "lookup"} <= set(offered)
    assert not {"shred", "read_file", "visit_webpage", "ask_user", "python"} & set(offered)


async def test_a_run_uses_an_mcp_server_and_its_code_may_call_what_reads(
    drive: Drive, tmp_path: Path
) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"rooms": {"command": sys.executable, "args": [str(SERVER)]}}}))
    moves: dict[str, Any] = {
        "a": [{**call(tool="free"), "arguments": {"day": "Sunday"}}],
        "b": [program("print(free(day='Monday', floor=3))")],
        "c": [{**call(tool="rooms__lookup"), "arguments": {"key": "k"}}],
    }
    script = Script(plans=[plan(sub("a"), sub("b"), sub("c"))], moves=moves)
    out = await drive(script, setting={"mcp_file": file})
    assert {step["subtask"]: step["observation"] for step in out.steps} == {
        "a": "on Sunday, floor 1: A, B",
        "b": "on Monday, floor 3: A, B",
        "c": "from the server: k",
    }
    (step,) = [step for step in out.steps if step["subtask"] == "b"]
    assert [item["tool"] for item in step["sub_steps"]] == ["free"]
    assert "tool:free" in step["origin"]
    assert (
        "book" not in out.asked("ToolChoice")[0].text.split("with keyword arguments: ")[1].split(". Each")[0]
    )
