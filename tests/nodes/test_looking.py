"""A tool's questions to the run's models, in a run: what is asked, of whom, and what it costs."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from pathlib import Path

from PIL import Image as PIL

from forethought.models import RecordingTransport, ReplayTransport
from forethought.models.live import LiveTransport
from forethought.settings import Settings
from tests.support.agent import Drive, Script
from tests.support.model_server import Answer, Fault, Reply, SeenRequest
from tests.support.replies import Json, call, plan, sub

ANSWER = {"brief": "A red square.", "details": "", "context": "All of it."}


def given_picture() -> Json:
    out = io.BytesIO()
    PIL.new("RGB", (64, 48), "red").save(out, "PNG")
    return {
        "task": "which colour?",
        "files": [{"name": "square.png", "data": base64.b64encode(out.getvalue()).decode()}],
    }


def looking(answer: Answer) -> Callable[[SeenRequest], Answer]:
    """A script whose only subtask looks at the picture; the vision model says `answer`."""
    look = {
        **call(tool="inspect_image", expected="a colour"),
        "arguments": {"path": "square.png", "question": "Colour?"},
    }
    rest = Script(plans=[plan(sub("a"))], moves={"a": [look]})
    return lambda seen: answer if seen.reply_name == "DocumentAnswer" else rest(seen)


async def test_a_picture_is_shown_to_the_vision_model_and_paid_for_by_the_step(drive: Drive) -> None:
    policy = looking(Reply(ANSWER, prompt_tokens=777, completion_tokens=11))
    out = await drive(policy, task=given_picture(), vision_model="openai:eyes", tool_model="openai:hands")
    (step,) = out.steps
    assert step["ok"]
    assert "file:square.png" in step["origin"]
    assert step["observation"].endswith(
        "square.png, a picture of 64 x 48 pixels.\nBrief: A red square.\nContext: All of it."
    )
    (asked,) = [seen for seen in out.requests if seen.reply_name == "DocumentAnswer"]
    assert asked.body["model"] == "eyes"
    text, image = asked.body["messages"][1]["content"]
    assert "Colour?" in text["text"]
    data = base64.b64decode(image["image_url"]["url"].partition(",")[2])
    assert PIL.open(io.BytesIO(data)).size == (64, 48)
    spent = out.state["usage"]["inspector"]
    assert (spent["calls"], spent["input_tokens"], spent["output_tokens"]) == (1, 777, 11)
    assert step["usage"]["input_tokens"] >= 777
    assert "base64" not in str(out.state["trajectory"])


async def test_without_a_vision_model_the_tool_model_looks(drive: Drive) -> None:
    out = await drive(looking(ANSWER), task=given_picture(), tool_model="openai:hands")
    assert {seen.body["model"] for seen in out.requests if seen.reply_name == "DocumentAnswer"} == {"hands"}


async def test_a_model_without_eyes_is_a_failed_step_that_says_what_to_set(drive: Drive) -> None:
    out = await drive(
        looking(Fault("400", message="image_url is not supported")), task=given_picture(), replanning=False
    )
    step = out.steps[0]
    assert (step["ok"], step["cause"]) == (False, "tool")
    assert "vision_model=provider:name" in step["observation"]
    assert "ask the user what it shows" in step["observation"]


async def test_a_run_with_a_picture_is_replayed(drive: Drive, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"

    def recording(settings: Settings) -> RecordingTransport:
        return RecordingTransport(LiveTransport(settings), path, {"task": "which colour?"})

    first = await drive(looking(ANSWER), task=given_picture(), transport=recording)
    again = await drive(
        looking(Fault("503")), task=given_picture(), transport=lambda settings: ReplayTransport(path)
    )
    assert again.requests == []
    assert again.status == first.status == "answered"
    assert again.steps[0]["observation"] == first.steps[0]["observation"]
