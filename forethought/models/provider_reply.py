"""From a provider's message to a ModelReply: text, calls, how it ended, tokens, price."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from forethought.models.pricing import price
from forethought.models.tokens import reply_tokens, request_tokens
from forethought.models.types import Call, Finish, ModelReply, ModelRequest

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

_REASON_FIELDS = ("finish_reason", "stop_reason", "stopReason", "done_reason")
"""Where LangChain's packages leave the reason; stopReason is Bedrock's."""
_WHOLE = frozenset(
    {
        "",
        "none",
        "finish_reason_unspecified",
        "stop",
        "stop_sequence",
        "end_turn",
        "complete",
        "completed",
        "eos",
    }
    | {"eos_token", "eosfound", "tool_calls", "tool_call", "tool_use", "function_call", "finish", "finished"}
)
_CUT = ("length", "max_tokens", "max_output_tokens", "token_limit", "context_window", "maxpredictedtokens")
_REFUSED = (
    "refusal",
    "content_filter",
    "guardrail",
    "safety",
    "prohibited",
    "blocklist",
    "recitation",
    "spii",
)


def model_reply(
    raw: AIMessage, request: ModelRequest, provider: str, name: str, base_url: str | None
) -> ModelReply:
    """What `raw` says and what it cost. Tokens that the provider does not report are estimated."""
    calls = tuple(_calls(raw))
    text = raw.text or str(raw.additional_kwargs.get("refusal") or "")
    if reason := block_reason(raw):
        text = f"the prompt was blocked: {reason}"
    finish, word = finish_reason(raw)
    if calls and not request.functions:
        text, calls = calls[0].arguments, ()
    usage: Any = raw.usage_metadata or {}
    reported = int(usage.get("input_tokens") or 0), int(usage.get("output_tokens") or 0)
    # Reported as 0 is not reported: no prompt has no tokens, nor has a reply that says something.
    tokens = reported[0] or request_tokens(request), reported[1] or reply_tokens(text, calls)
    cached = min(int((usage.get("input_token_details") or {}).get("cache_read") or 0), tokens[0])
    return ModelReply(
        text=text,
        calls=calls,
        finish_reason=finish,
        ended=word,
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        cached_tokens=cached,
        model=request.model,
        usd=price(name, provider, base_url, *tokens, cached),
        estimated=tokens != reported,
    )


def finish_reason(raw: AIMessage) -> tuple[Finish, str]:
    """How the reply ended, and the provider's word where that is no known end."""
    if raw.additional_kwargs.get("refusal") or block_reason(raw):
        return "refusal", ""
    word = _word(next((found for name in _REASON_FIELDS if (found := raw.response_metadata.get(name))), ""))
    if word in _WHOLE:
        return "stop", ""
    if any(part in word for part in _CUT):
        return "length", ""
    if any(part in word for part in _REFUSED):
        return "refusal", ""
    return "broken", word[:60]


def block_reason(raw: AIMessage) -> str:
    """Why Gemini did not show the model the prompt, as one word; '' where it did."""
    feedback = raw.response_metadata.get("prompt_feedback") or {}
    word = _word(feedback.get("block_reason") or "")
    return "" if word in ("", "none", "0") or word.endswith("unspecified") else word


def _word(value: object) -> str:
    """The name, also of an enumeration's member."""
    return str(value).rsplit(".", 1)[-1].strip().lower()


def _calls(raw: AIMessage) -> list[Call]:
    """Function calls, those with broken arguments too."""
    valid = [Call(call["name"], json.dumps(call["args"], ensure_ascii=False)) for call in raw.tool_calls]
    broken = [Call(call.get("name") or "", call.get("args") or "") for call in raw.invalid_tool_calls]
    return valid + broken
