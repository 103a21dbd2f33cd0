"""How a reply ended, by the finish reasons of the providers."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from forethought.models.provider_reply import finish_reason


@pytest.mark.parametrize(
    ("finish", "metadata"),
    [
        ("stop", {}),
        ("stop", {"finish_reason": "FinishReason.STOP"}),
        ("stop", {"finish_reason": "tool_calls"}),
        ("stop", {"stop_reason": "end_turn"}),
        ("stop", {"prompt_feedback": {"block_reason": "BLOCKED_REASON_UNSPECIFIED"}}),
        ("length", {"finish_reason": "length"}),
        ("length", {"finish_reason": "MAX_TOKENS"}),
        ("length", {"stop_reason": "model_context_window_exceeded"}),
        ("refusal", {"stop_reason": "refusal"}),
        ("refusal", {"finish_reason": "content_filter"}),
        ("refusal", {"finish_reason": "IMAGE_SAFETY"}),
        ("refusal", {"stopReason": "guardrail_intervened"}),
        ("refusal", {"prompt_feedback": {"block_reason": "OTHER"}}),
    ],
)
def test_finish_reasons_of_the_providers(metadata: dict[str, Any], finish: str) -> None:
    assert finish_reason(AIMessage("x", response_metadata=metadata)) == finish
