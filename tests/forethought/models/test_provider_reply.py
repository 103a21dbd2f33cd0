"""How a reply ended, by the finish reasons of the providers."""

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
from forethought.models.provider_reply import finish_reason
from forethought.settings import Settings
from tests.support.model_server import Reply, script


class Sum(BaseModel):
    total: int


@pytest.mark.parametrize(
    ("metadata", "finish"),
    [
        ({}, ("stop", "")),
        ({"finish_reason": ""}, ("stop", "")),
        ({"finish_reason": "stop"}, ("stop", "")),
        ({"finish_reason": "FinishReason.STOP"}, ("stop", "")),
        ({"finish_reason": "FINISH_REASON_UNSPECIFIED"}, ("stop", "")),
        ({"finish_reason": "tool_calls"}, ("stop", "")),
        ({"stop_reason": "end_turn"}, ("stop", "")),
        ({"stop_reason": "tool_use"}, ("stop", "")),
        ({"stopReason": "end_turn"}, ("stop", "")),
        ({"done_reason": "stop"}, ("stop", "")),
        ({"prompt_feedback": {"block_reason": "BLOCKED_REASON_UNSPECIFIED"}}, ("stop", "")),
        ({"finish_reason": "length"}, ("length", "")),
        ({"finish_reason": "MAX_TOKENS"}, ("length", "")),
        ({"stop_reason": "model_context_window_exceeded"}, ("length", "")),
        ({"stop_reason": "refusal"}, ("refusal", "")),
        ({"finish_reason": "content_filter"}, ("refusal", "")),
        ({"finish_reason": "IMAGE_SAFETY"}, ("refusal", "")),
        ({"stopReason": "guardrail_intervened"}, ("refusal", "")),
        ({"prompt_feedback": {"block_reason": "OTHER"}}, ("refusal", "")),
        ({"finish_reason": "error"}, ("broken", "error")),
        ({"finish_reason": "MALFORMED_FUNCTION_CALL"}, ("broken", "malformed_function_call")),
        ({"finish_reason": "UNKNOWN_15"}, ("broken", "unknown_15")),
    ],
)
def test_finish_reasons_of_the_providers(metadata: dict[str, Any], finish: tuple[str, str]) -> None:
    assert finish_reason(AIMessage("x", response_metadata=metadata)) == finish


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
