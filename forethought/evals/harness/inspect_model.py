"""Our model calls as inspect sees them: a provider of its own, so that each one is an event with its usage.

The agent asks through our transport: our ways of asking for a shape, retries and prices stay. The request
reaches inspect's provider in a context variable, since inspect's chat messages cannot carry all of it, and
the reply comes back the same way.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    GenerateConfig,
    ModelAPI,
    ModelCall,
    ModelOutput,
    ModelUsage,
    StopReason,
    get_model,
    modelapi,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from forethought.models.types import Call, Message, ModelReply, ModelRequest, Transport, WrappedTransport
from forethought.redaction import redact_error

PROVIDER = "forethought"
_MOST_CALLS = 10_000
"""Side by side: what bounds the calls is the number of samples at work."""
_ENDS: dict[str, StopReason] = {
    "stop": "stop",
    "length": "max_tokens",
    "refusal": "content_filter",
}


def inspect_name(model: str) -> str:
    """A model's name in inspect's logs."""
    return f"{PROVIDER}/{model}"


@dataclass
class _Exchange:
    """A request on its way through inspect, and what came of it."""

    inner: Transport
    scrub: Callable[[str], str]
    request: ModelRequest
    reply: ModelReply | None = None
    error: Exception | None = None


_EXCHANGE: ContextVar[_Exchange] = ContextVar("forethought_exchange")


@dataclass(frozen=True)
class InspectTransport(WrappedTransport):
    """Carries requests to `inner` through inspect: its log holds them, and its limits count them.

    `scrub` redacts the secrets in replies and errors: inspect writes them down before our own does.
    """

    inner: Transport
    scrub: Callable[[str], str] = lambda text: text

    async def send(self, request: ModelRequest) -> ModelReply:
        """The reply of `inner`. Raises its errors, and inspect's LimitExceededError."""
        exchange = _Exchange(self.inner, self.scrub, request)
        token = _EXCHANGE.set(exchange)
        try:
            model = get_model(inspect_name(request.model), role=request.role)
            await model.generate([_chat(message) for message in request.messages])
        except Exception:
            if exchange.error is not None:
                raise exchange.error from None
            raise
        finally:
            _EXCHANGE.reset(token)
        assert exchange.reply is not None
        return exchange.reply


@modelapi(name=PROVIDER)
class ForethoughtAPI(ModelAPI):
    """inspect's side of the exchange."""

    async def generate(
        self,
        input: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> tuple[ModelOutput, ModelCall]:
        """Have the request of the exchange answered. Raises the transport's errors."""
        exchange = _EXCHANGE.get()
        try:
            reply = exchange.reply = _scrubbed(await exchange.inner.send(exchange.request), exchange.scrub)
        except Exception as error:
            redact_error(error, exchange.scrub)
            exchange.error = error
            raise
        return _output(reply), ModelCall.create(_request_record(exchange.request), asdict(reply))

    def should_retry(self, ex: BaseException) -> bool:
        """Never: the transport has tried again already."""
        return False

    def max_connections(self) -> int:
        """No bound of inspect's own."""
        return _MOST_CALLS


def _chat(message: Message) -> ChatMessage:
    content: str | list[Content] = message.text
    if message.images:
        shown = [
            ContentImage(image=f"data:{image.mime};base64,{base64.b64encode(image.data).decode('ascii')}")
            for image in message.images
        ]
        content = [ContentText(text=message.text), *shown]
    if message.role == "system":
        return ChatMessageSystem(content=content)
    return (
        ChatMessageUser(content=content) if message.role == "user" else ChatMessageAssistant(content=content)
    )


def _request_record(request: ModelRequest) -> dict[str, Any]:
    """What the request asks for besides its messages, which inspect logs itself."""
    return {
        "role": request.role,
        "reply": request.reply,
        "schema": request.schema,
        "functions": [asdict(function) for function in request.functions],
        "strict": request.strict,
    }


def _scrubbed(reply: ModelReply, scrub: Callable[[str], str]) -> ModelReply:
    calls = tuple(replace(call, arguments=scrub(call.arguments)) for call in reply.calls)
    return replace(reply, text=scrub(reply.text), calls=calls)


def _output(reply: ModelReply) -> ModelOutput:
    message = ChatMessageAssistant(
        content=reply.text,
        source="generate",
        tool_calls=[_call(number, call) for number, call in enumerate(reply.calls, 1)] or None,
    )
    ended: StopReason = "tool_calls" if reply.calls else _ENDS[reply.finish_reason]
    return ModelOutput(
        model=reply.model,
        choices=[ChatCompletionChoice(message=message, stop_reason=ended)],
        usage=ModelUsage(
            # inspect counts cached input apart.
            input_tokens=reply.input_tokens - reply.cached_tokens,
            input_tokens_cache_read=reply.cached_tokens,
            output_tokens=reply.output_tokens,
            total_tokens=reply.input_tokens + reply.output_tokens,
            total_cost=reply.usd,
        ),
    )


def _call(number: int, call: Call) -> ToolCall:
    try:
        arguments, wrong = json.loads(call.arguments or "{}"), None
    except ValueError as error:
        arguments, wrong = {}, str(error)
    if not isinstance(arguments, dict):
        arguments, wrong = {}, "the arguments must be an object"
    return ToolCall(id=str(number), function=call.name, arguments=arguments, parse_error=wrong)
