"""Asking a provider over the network, by the best method that it takes, with retries.

A method that the provider refuses is not tried again for that model. The raw message is taken, not a parsed
one, so that the cost of a bad reply is counted too.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from langgraph.errors import GraphBubbleUp

from forethought.draining import pause
from forethought.models import providers
from forethought.models.ends import blocked, end_of
from forethought.models.local import LocalModels, is_local
from forethought.models.methods import Method, Way, bound, refuses_method, speaks_openai
from forethought.models.pricing import price
from forethought.models.retry import Backoff, is_filtered, one_line, with_retries
from forethought.models.sight import check_sight, shows_images, sight_error
from forethought.models.tokens import reply_tokens, request_tokens
from forethought.models.types import Call, ConfigurationError, HeldUp, ModelReply, ModelRequest, ReplyError
from forethought.secrecy import scrub_error, scrubber
from forethought.settings import Settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage

Before = Callable[[ModelRequest], Awaitable[None]]
"""Waited for before each request to a provider, retries too."""


@dataclass(frozen=True)
class _Refused:
    """The provider does not take this way of asking for a shape: never, or not with this schema."""

    this_schema_only: bool


class LiveTransport:
    """The providers, through LangChain's chat models (built once per model and event loop), and the models on
    this machine.
    """

    def __init__(
        self, settings: Settings, backoff: Backoff | None = None, before: Before | None = None
    ) -> None:
        self.settings, self.backoff, self._before = settings, backoff or Backoff(), before
        self._local = LocalModels(settings)
        self._chats: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, BaseChatModel]] = (
            WeakKeyDictionary()
        )
        self._refused: set[tuple[str, str, Method]] = set()

    def verify(self, model: str) -> None:
        """Raises ConfigurationError when the provider is unknown or not installed, or its key is not set."""
        if is_local(model):
            self._local.verify(model)
            return
        providers.check_key(model, self.settings)
        providers.build(model, self.settings)

    def priced(self, model: str) -> bool:
        """Whether calls of `model` can be counted in dollars."""
        if is_local(model):
            return True
        provider, name = providers.split(model, self.settings.base_url)
        return price(name, provider, self.settings.base_url, 1, 1, 0) is not None

    async def send(self, request: ModelRequest) -> ModelReply:
        """The provider's reply.

        Raises TransportError when the retries are used up, ConfigurationError, and ReplyError when a content
        filter stops it or the model cannot see the images that it is shown.
        """
        if is_local(request.model):
            return await self._local.send(request)
        chat = self._chat(request.model)
        check_sight(request, chat.profile, self.settings.base_url)
        for method in self._methods(request, chat):
            way = Way(method, chat, speaks_openai(chat))
            got = await with_retries(
                partial(self._once, request, way),
                model=request.model,
                retries=self.settings.request_retries,
                backoff=self.backoff,
                waiting=partial(_tell_waiting, request.model, self.settings.request_retries),
                deadline=request.deadline,
                pause=pause,
            )
            if not isinstance(got, _Refused):
                return self._reply(got, request)
            self._refused.add((request.model, request.reply if got.this_schema_only else "", method))
        raise AssertionError("the schema in the prompt is always tried, and never refused")

    def _chat(self, model: str) -> BaseChatModel:
        chats = self._chats.setdefault(asyncio.get_running_loop(), {})
        if model not in chats:
            providers.check_key(model, self.settings)
            chats[model] = providers.build(model, self.settings)
        return chats[model]

    def _methods(self, request: ModelRequest, chat: BaseChatModel) -> list[Method]:
        """What is worth trying, best first; the prompt always is."""
        profile: Any = chat.profile or {}
        methods: list[Method] = []
        if request.strict and not request.functions and profile.get("structured_output") is not False:
            methods.append("schema")
        if profile.get("tool_calling") is not False:
            methods.append("function")
        known = self._refused
        model, reply = request.model, request.reply
        return [m for m in methods if not {(model, "", m), (model, reply, m)} & known] + ["prompt"]

    async def _free_to_send(self, request: ModelRequest) -> None:
        assert self._before is not None
        try:
            await self._before(request)
        except GraphBubbleUp:
            raise
        except Exception as error:  # nothing that another try with the model could mend
            raise HeldUp from error

    async def _once(self, request: ModelRequest, way: Way) -> AIMessage | _Refused:
        """One try; what the provider's package raises goes on to the retries."""
        try:
            ask = bound(request, way)
        except (NotImplementedError, ValueError, TypeError) as error:
            if way.method == "prompt":
                raise ConfigurationError(f"model {request.model} cannot be asked: {error}") from error
            return _Refused(this_schema_only=True)
        if self._before is not None:
            await self._free_to_send(request)
        try:
            async with asyncio.timeout(self.settings.request_timeout_s):
                return await ask()
        except Exception as error:
            # Here, since its words are told and cut from now on, and half a key is hardly found.
            scrub_error(error, scrubber(self.settings))
            if way.method != "prompt" and refuses_method(error):
                # With an image, the words may be about the two together: text alone keeps the method.
                return _Refused("invalid schema" in str(error).lower() or shows_images(request))
            if is_filtered(error):
                said = f"refused: the provider's content filter stopped it: {one_line(error)}"
                raise ReplyError(f"{request.reply}: {said}", problem=said) from error
            refused = sight_error(error, request)
            if refused is not None:
                raise refused from error
            raise

    def _reply(self, raw: AIMessage, request: ModelRequest) -> ModelReply:
        provider, name = providers.split(request.model, self.settings.base_url)
        calls = tuple(_calls(raw))
        text = raw.text or str(raw.additional_kwargs.get("refusal") or "")
        if reason := blocked(raw):
            text = f"the prompt was blocked: {reason}"
        end, ended = end_of(raw)
        if calls and not request.functions:
            text, calls = calls[0].arguments, ()
        usage: Any = raw.usage_metadata or {}
        told = int(usage.get("input_tokens") or 0), int(usage.get("output_tokens") or 0)
        # Not told, or told as 0: no prompt has no tokens, nor has a reply that says something.
        tokens = told[0] or request_tokens(request), told[1] or reply_tokens(text, calls)
        cached = min(int((usage.get("input_token_details") or {}).get("cache_read") or 0), tokens[0])
        return ModelReply(
            text=text,
            calls=calls,
            finish_reason=end,
            ended=ended,
            input_tokens=tokens[0],
            output_tokens=tokens[1],
            cached_tokens=cached,
            model=request.model,
            usd=price(name, provider, self.settings.base_url, *tokens, cached),
            estimated=tokens != told,
        )


def _tell_waiting(model: str, retries: int, why: str, seconds: float, number: int) -> None:
    """Put a retry into the run's stream, so that whoever watches knows what is waited for."""
    from langgraph.config import get_stream_writer

    try:
        write = get_stream_writer()
    except (RuntimeError, KeyError):  # asked outside of a graph
        return
    event = {"event": "waiting", "model": model, "why": why, "seconds": round(seconds, 1)}
    write({**event, "retry": number, "retries": retries})


def _calls(raw: AIMessage) -> list[Call]:
    """Function calls, those with broken arguments too."""
    good = [Call(call["name"], json.dumps(call["args"], ensure_ascii=False)) for call in raw.tool_calls]
    bad = [Call(call.get("name") or "", call.get("args") or "") for call in raw.invalid_tool_calls]
    return good + bad
