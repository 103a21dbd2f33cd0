"""From a provider's message to a ModelReply: text, calls, how it ended, tokens, price."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from forethought.models.listening import RUNAWAY
from forethought.models.pricing import estimate_tokens, price, saved_tokens
from forethought.models.types import Call, Finish, ModelReply, ModelRequest

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

_REASON_FIELDS = ("finish_reason", "stop_reason", "stopReason", "done_reason")
"""Where LangChain's packages leave the reason; stopReason is Bedrock's."""
_CUT = ("length", "max_tokens", "max_output_tokens", "token_limit", "context_window")
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
    if calls and not request.functions:
        text, calls = calls[0].arguments, ()
    usage: Any = raw.usage_metadata or {}
    reported = int(usage.get("input_tokens") or 0), int(usage.get("output_tokens") or 0)
    # Reported as 0 is not reported: no prompt has no tokens, nor has a reply that says something.
    tokens = reported[0] or _prompt_tokens(request), reported[1] or estimate_tokens(f"{text}{calls or ''}")
    cached = min(int((usage.get("input_token_details") or {}).get("cache_read") or 0), tokens[0])
    return ModelReply(
        text=text,
        calls=calls,
        finish_reason=finish_reason(raw),
        input_tokens=tokens[0],
        output_tokens=tokens[1],
        cached_tokens=cached,
        saved_tokens=saved_tokens(name, provider, base_url, tokens[0], cached),
        model=request.model,
        usd=price(name, provider, base_url, *tokens, cached),
        estimated=tokens != reported,
    )


def _prompt_tokens(request: ModelRequest) -> int:
    texts = [message.text for message in request.messages]
    return estimate_tokens(f"{texts}{request.functions or request.schema}")


def finish_reason(raw: AIMessage) -> Finish:
    """How the reply ended. One that broke off in another way shows it by its text, which is no reply."""
    if raw.additional_kwargs.get("refusal") or block_reason(raw):
        return "refusal"
    if (raw.response_metadata.get("incomplete_details") or {}).get("reason") == "max_output_tokens":
        return "length"  # OpenAI's responses
    word = _word(next((reason for name in _REASON_FIELDS if (reason := raw.response_metadata.get(name))), ""))
    if word.endswith(RUNAWAY):  # a provider's own reason may stand before it
        return "runaway"
    if any(part in word for part in _CUT):
        return "length"
    return "refusal" if any(part in word for part in _REFUSED) else "stop"


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
