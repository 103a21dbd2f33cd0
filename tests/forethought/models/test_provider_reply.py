"""How a reply ended, by the words of the providers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from pydantic import BaseModel

from forethought.models import (
    Message,
    Models,
    RecordingTransport,
    ReplayTransport,
    ReplyError,
    reply_spec,
)
from forethought.models.live import LiveTransport
from forethought.models.provider_reply import block_reason, finish_reason
from forethought.settings import Settings
from tests.support.model_server import Reply, script


class Sum(BaseModel):
    total: int


def end(**metadata: Any) -> tuple[str, str]:
    return finish_reason(AIMessage("x", response_metadata=metadata))


@pytest.mark.parametrize(
    "metadata",
    [
        {}, {"finish_reason": None}, {"finish_reason": ""}, {"finish_reason": "stop"},
        {"finish_reason": "STOP"},
        {"finish_reason": "FinishReason.STOP"}, {"finish_reason": "FINISH_REASON_UNSPECIFIED"},
        {"finish_reason": "tool_calls"}, {"finish_reason": "function_call"}, {"stop_reason": "end_turn"},
        {"stop_reason": "tool_use"}, {"stop_reason": "stop_sequence"}, {"stopReason": "end_turn"},
        {"finish_reason": "COMPLETE"}, {"finish_reason": "TOOL_CALL"}, {"finish_reason": "eos"},
        {"finish_reason": "EOS_TOKEN"}, {"finish_reason": "eosFound"}, {"done_reason": "stop"},
    ],
)  # fmt: skip
def test_whole(metadata: dict[str, Any]) -> None:
    assert end(**metadata) == ("stop", "")


@pytest.mark.parametrize(
    "metadata",
    [
        {"finish_reason": "length"}, {"finish_reason": "MAX_TOKENS"}, {"stopReason": "max_tokens"},
        {"stop_reason": "model_context_window_exceeded"}, {"finish_reason": "model_length"},
        {"done_reason": "length"},
    ],
)  # fmt: skip
def test_cut_off(metadata: dict[str, Any]) -> None:
    assert end(**metadata) == ("length", "")


@pytest.mark.parametrize(
    "metadata",
    [
        {"stopReason": "guardrail_intervened"}, {"stopReason": "content_filtered"},
        {"stop_reason": "refusal"}, {"finish_reason": "content_filter"}, {"finish_reason": "IMAGE_SAFETY"},
        {"prompt_feedback": {"block_reason": "OTHER"}},
    ],
)  # fmt: skip
def test_refused(metadata: dict[str, Any]) -> None:
    assert end(**metadata) == ("refusal", "")


@pytest.mark.parametrize(
    "word",
    [
        "error", "insufficient_system_resource", "abort", "LANGUAGE", "OTHER", "MALFORMED_FUNCTION_CALL",
        "malformed_model_output", "pause_turn", "UNKNOWN_15", "network_error", "TIMEOUT", "load",
    ],
)  # fmt: skip
def test_an_end_that_is_not_known_to_be_one_is_none(word: str) -> None:
    assert end(finish_reason=word) == ("broken", word.lower())


@pytest.mark.parametrize("reason", [None, 0, "", "BLOCKED_REASON_UNSPECIFIED", "BlockedReason.NONE"])
def test_feedback_on_a_prompt_that_was_not_blocked(reason: Any) -> None:
    feedback = {"block_reason": reason, "safety_ratings": []}
    assert block_reason(AIMessage("x", response_metadata={"prompt_feedback": feedback})) == ""


async def test_a_broken_reply_is_not_taken_even_if_it_parses_but_asked_for_again(
    tmp_path: Path, model_server: Callable[..., Any], settings: Callable[..., Settings]
) -> None:
    broken = Reply({"total": 7}, finish_reason="insufficient_system_resource")
    server = model_server(script(broken, {"total": 5}, broken))
    chosen, path = settings(server), tmp_path / "calls.jsonl"

    async def ask(models: Models) -> Any:
        question = [Message("user", "2 + 3?")]
        return await models.ask(role="tool", model="gpt-4.1", messages=question, reply=reply_spec(Sum))

    recorded = Models(chosen, RecordingTransport(LiveTransport(chosen), path, {}))
    asked = await ask(recorded)
    assert (asked.reply.total, asked.repairs, asked.usage["input_tokens"]) == (5, 1, 200)
    assert "broke off before its end (finish reason: insufficient_system_resource)" in server.requests[1].last
    replayed = await ask(Models(settings(), ReplayTransport(path)))
    assert (replayed.reply.total, replayed.repairs) == (5, 1)
    with pytest.raises(ReplyError, match="broke off"):
        await ask(recorded)
    assert len(server.requests) == 5
