"""One question, one validated reply.

Secrets are redacted from every prompt, reply and error here. A reply is parsed, validated and cross-checked;
a bad one is sent back with what is wrong, at most twice. What was spent is counted for every attempt, failed
ones too, and travels on the error when there is no reply.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import ValidationError

from forethought.models import pricing, providers
from forethought.models.allowance import Allowance, count
from forethought.models.extract import NoObject, find_object
from forethought.models.fallback import Fallbacks
from forethought.models.fit import fit, told_window
from forethought.models.forms import SMALL_WINDOW
from forethought.models.limits import RAISED, reply_limit
from forethought.models.types import (
    ConfigurationError,
    Listener,
    Message,
    ModelError,
    ModelReply,
    ModelRequest,
    OutOfTime,
    Provider,
    ReplyError,
    ReplyResult,
    ReplySpec,
    SmallerWindow,
    Transport,
    Usage,
)
from forethought.redaction import redact_error, redactor, settled_end
from forethought.settings import Settings
from forethought.sizes import LEAST_WINDOW_TOKENS, WINDOW_TOKENS
from forethought.telemetry import operation
from forethought.text import fence, sanitize_text

T = TypeVar("T")
_WARY = 0.7
"""The share of the window that is used after the server found a prompt too long: it counts other tokens."""
_log = logging.getLogger(__name__)
_SHOWN = 4_000
"""Characters of a bad reply that are shown to the model again."""


class Models:
    """The models of a run, behind one transport (the providers, unless another is given)."""

    def __init__(self, settings: Settings, transport: Transport | None = None) -> None:
        if transport is None:
            from forethought.models.live import LiveTransport

            transport = LiveTransport(settings)
        self.settings, self.transport = settings, transport
        self._fallbacks = Fallbacks()
        self._told: dict[str, int] = {}
        """Windows that servers named when they refused a prompt, by model."""

    def verify(self, models: Iterable[str]) -> None:
        """Before the first call: each model is allowed, its provider known and installed, its key set.

        Raises ConfigurationError, one line that says what to do.
        """
        for model in dict.fromkeys(models):
            self._allow(model)
            if isinstance(self.transport, Provider):
                self.transport.verify(model)

    def priced(self, model: str) -> bool:
        """Whether calls of `model` can be counted in dollars, as a dollar budget needs."""
        return self.transport.priced(model) if isinstance(self.transport, Provider) else True

    def price(self, model: str, input_tokens: int, output_tokens: int) -> float | None:
        """Dollars of calls of `model` with so many tokens, none of them cached; None where nobody knows."""
        try:
            provider, name = providers.split(model, self.settings.base_url)
        except ConfigurationError:
            return None
        return pricing.price(name, provider, self.settings.base_url, input_tokens, output_tokens, 0)

    def window(self, models: Iterable[str], stated: int | None = None) -> int:
        """Tokens of context that all of these models take.

        That is the number `stated` by the run or the operator, or else the known one of the smallest model,
        at most `WINDOW_TOKENS`; and no more than a server named when it refused a prompt.
        """
        models = list(models)
        known = [self._told.get(model) for model in models]
        stated = stated or self.settings.context_tokens
        if stated is None and isinstance(self.transport, Provider):
            known += [self.transport.window(model) for model in models]
        tokens = [max(number, LEAST_WINDOW_TOKENS) for number in known if number]
        return min([stated or WINDOW_TOKENS, *tokens])

    def _allow(self, model: str) -> None:
        allowed = self.settings.allowed_models
        if allowed and model not in allowed:
            raise ConfigurationError(f"model {model} is not allowed here; allowed: {', '.join(allowed)}")

    async def ask(
        self,
        *,
        role: str,
        model: str,
        messages: Sequence[Message],
        reply: ReplySpec[T],
        check: Callable[[T], str | None] | None = None,
        fallback: str | None = None,
        allowance: Allowance | None = None,
        listener: Listener | None = None,
        window: int | None = None,
    ) -> ReplyResult[T]:
        """The validated reply of `model` to `messages`; `check` names what is wrong with it beyond its own
        fields. `fallback` is asked where `model` gives none (see `forethought.models.fallback`). `listener`
        is told each reply while it comes, unchecked, but without secrets. `window` is what the run knows of
        the model's context; by it and by the role the reply is limited.

        What it costs is booked in `allowance` as it comes, also where the question is cancelled; when it is
        spent, neither a repair is asked for nor a retry waited for.

        Raises ReplyError after two repairs, a refusal or when the allowance is spent, TransportError after
        the retries, ConfigurationError.
        """
        for named in (model, fallback):
            if named is not None:
                self._allow(named)
        allowance = allowance or Allowance()
        usage = allowance.new_record()
        shape = reply.name, reply.schema, reply.functions, reply.strict
        window = window or self.window([model])
        limit = reply_limit(role, window)
        request = ModelRequest(
            role, model, tuple(messages), *shape, allowance.deadline, listener, limit=limit, window=window
        )
        problem, repairs = "", 0
        while True:
            got = await self._send(request, fallback, usage, allowance.whole_seconds)
            if got.finish_reason == "refusal":
                reason = got.text.strip()[:200] or "no reason given"
                raise ReplyError(f"{reply.name}: the model refused: {reason}", usage, f"refused: {reason}")
            if got.finish_reason in ("length", "runaway"):
                usage["cut"] = usage.get("cut", 0) + 1
                if request.limit == limit and _needs_more(got, request) and not allowance.spent():
                    request = replace(request, limit=limit * RAISED)
                    continue
            try:
                value, text = _accept(got, reply, check)
            except ValueError as error:
                problem = describe(error)
                spent = allowance.spent()
                if repairs == reply.repairs or spent:
                    reason = f"{problem}; the budget of {spent} is spent" if spent else problem
                    message = f"{reply.name}: no valid reply after {repairs} repairs: {reason}"
                    raise ReplyError(message, usage, problem) from error
                repair = _repair(got, reply, problem)
                avoid = request.avoid | ({got.method} if isinstance(error, NoObject) else set())
                request = replace(request, messages=(*request.messages, *repair), avoid=avoid)
                repairs += 1
                continue
            return ReplyResult(value, text, usage, repairs, got.model or model)

    async def _send(
        self, request: ModelRequest, fallback: str | None, usage: Usage, whole_seconds: float
    ) -> ModelReply:
        """Send and count, into `usage`; an error carries all that was counted so far."""
        started = time.monotonic()
        redact = redactor(self.settings)
        messages = tuple(
            replace(message, text=redact(sanitize_text(message.text))) for message in request.messages
        )

        async def hear(text: str) -> None:
            assert request.listener is not None
            await request.listener(redact(text[: settled_end(text, self.settings)]))

        heard = hear if request.listener else None

        def send_to(model: str) -> Awaitable[ModelReply]:
            sent = replace(request, messages=messages, model=model, listener=heard)
            return self._send_once(sent, redact)

        try:
            got = await self._fallbacks.ask(request.model, fallback, send_to, request.deadline)
        except BaseException as error:
            usage["calls"] += 1
            usage["seconds"] += time.monotonic() - started
            if not isinstance(error, ModelError):
                raise
            error.usage = usage
            if isinstance(error, OutOfTime):
                usage["out_of_time"] = whole_seconds
                raise ReplyError(str(error), usage, str(error)) from error
            raise
        count(usage, got, time.monotonic() - started)
        if fallback not in (None, request.model) and got.model == fallback:
            usage["fallbacks"] = usage.get("fallbacks", 0) + 1
        return got

    async def _send_once(self, request: ModelRequest, redact: Callable[[str], str]) -> ModelReply:
        """The reply to the request as it fits the window; once more if the server finds it too long."""
        try:
            return await self._transfer(_fitted(request, request.window), redact)
        except ConfigurationError as error:
            if not (told := told_window(str(error), request.window)):
                raise
            self._told[request.model] = told
            if told < request.window:
                window = f"{told:,} tokens: set context_tokens={told}"
                raise SmallerWindow(f"model {request.model} has a window of {window}") from error
            return await self._transfer(_fitted(request, int(told * _WARY)), redact)

    async def _transfer(self, request: ModelRequest, redact: Callable[[str], str]) -> ModelReply:
        """The transport's reply, as one operation of the trace."""
        attributes = {"gen_ai__request__model": request.model, "forethought__role": request.role}
        with operation("chat", request.model, **attributes, forethought__reply=request.reply) as done:
            try:
                got = await self.transport.send(request)
            except BaseException as error:
                redact_error(error, redact)  # of whatever kind: it is shown, and stored with the thread
                raise
            done.set(
                gen_ai__response__model=got.model or None,
                gen_ai__response__finish_reasons=got.finish_reason,
                gen_ai__usage__input_tokens=got.input_tokens,
                gen_ai__usage__output_tokens=got.output_tokens,
                forethought__cached_tokens=got.cached_tokens,
                forethought__usd=got.usd,
            )
        calls = tuple(replace(call, arguments=redact(call.arguments)) for call in got.calls)
        return replace(got, text=redact(got.text), calls=calls)


def _fitted(request: ModelRequest, window: int) -> ModelRequest:
    """The request within so many tokens; the log says how much was cut. Raises ConfigurationError."""
    reply = min(request.limit, window // 8)
    try:
        messages, missing = fit(request.messages, request.schema, window, reply)
    except ValueError as error:
        raise ConfigurationError(
            f"model {request.model}: {error}; offer fewer tools, or choose a model with a larger window"
        ) from error
    if missing:
        _log.warning(
            "%s: %s characters did not fit the window of %s and were left out of a prompt",
            request.role, f"{missing:,}", request.model,
        )  # fmt: skip
    return replace(request, messages=messages)


def _needs_more(got: ModelReply, request: ModelRequest) -> bool:
    """Whether our own limit cut the reply off, and the window has room for a longer one."""
    ours = got.finish_reason == "length" and got.output_tokens >= request.limit * 0.9
    return ours and request.window > SMALL_WINDOW


def _accept(got: ModelReply, spec: ReplySpec[T], check: Callable[[T], str | None] | None) -> tuple[T, str]:
    """The reply and its JSON text. Raises ValueError that says what is wrong with it."""
    if got.finish_reason == "length":
        raise ValueError("the reply was cut off at the length limit: write a shorter one")
    if got.finish_reason == "runaway":
        raise ValueError("the reply repeated itself or did not end: write a short one")
    value = _called(got, spec) if spec.functions else find_object(got.text)
    parsed = spec.parse(value)
    wrong = check(parsed) if check else None
    if wrong:
        raise ValueError(wrong)
    return parsed, json.dumps(value, ensure_ascii=False)


def _called(got: ModelReply, spec: ReplySpec[Any]) -> dict[str, Any]:
    """{"function", "arguments"} of the one call, native or written as JSON."""
    if got.calls:
        value = {"function": got.calls[0].name, "arguments": find_object(got.calls[0].arguments or "{}")}
    else:
        value = find_object(got.text)
    names = [function.name for function in spec.functions]
    if value.get("function") not in names:
        raise ValueError(f"unknown function {value.get('function')!r}: call one of {', '.join(names)}")
    if not isinstance(value.setdefault("arguments", {}), dict):
        raise ValueError("arguments must be an object")
    return value


def _repair(got: ModelReply, spec: ReplySpec[Any], problem: str) -> tuple[Message, Message]:
    """The bad reply and what is wrong with it, as the next two messages."""
    text = got.text.strip()
    if got.calls:
        text = "\n".join(f"{call.name}({call.arguments})" for call in got.calls)
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + " [...]"
    again = (
        f"Call one of the functions again ({spec.name})"
        if spec.functions
        else f"Write the whole {spec.name} again as one JSON object"
    )
    # The problem quotes the reply, and the reply may quote a page.
    request = f"That reply cannot be used:\n{fence(problem, 'problem')}\n{again}."
    if not spec.functions and "no JSON object" in problem:
        request += f" It must fit this schema:\n{json.dumps(spec.schema, ensure_ascii=False)}"
    return Message("assistant", shown or "(empty reply)"), Message("user", request)


def describe(error: ValueError) -> str:
    """What is wrong, for the model: field paths and reasons, without pydantic's addresses."""
    if not isinstance(error, ValidationError):
        return str(error) or type(error).__name__
    parts = []
    for item in error.errors(include_url=False, include_context=False)[:8]:
        path = ".".join(str(part) for part in item["loc"])
        value = repr(item["input"])
        got = f" (got {value})" if item["type"] != "missing" and len(value) <= 80 else ""
        parts.append(f"{path}: {item['msg']}{got}" if path else f"{item['msg']}{got}")
    return "; ".join(parts)
