"""A tool's questions to the model: what fails in them, and what they cost."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from forethought.models.live import LiveTransport
from forethought.models.types import ModelReply, ModelRequest, ReplayError, TransportError
from forethought.settings import Settings
from tests.support.agent import Drive, Script
from tests.support.replies import call, finish, plan, sub

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
    missing = ReplayError("the recording has no reply to call 4", "it differs at line 3")
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
