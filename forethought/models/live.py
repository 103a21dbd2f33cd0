"""Asking a provider over the network, by the best method that it takes, with retries."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from forethought import own_loop
from forethought.models import providers
from forethought.models.chat_objects import identity
from forethought.models.dead_ends import dead_end
from forethought.models.errors import describe, is_filtered, status_of
from forethought.models.http_client import http_client
from forethought.models.methods import Method, bind_request, methods_for
from forethought.models.pricing import price
from forethought.models.provider_reply import model_reply
from forethought.models.retry import Backoff, with_retries
from forethought.models.types import (
    BACKENDS,
    Backend,
    ConfigurationError,
    ModelError,
    ModelReply,
    ModelRequest,
    ReplyError,
    TransportError,
)
from forethought.redaction import redact_error, redactor
from forethought.settings import Settings
from forethought.shutdown import sleep_unless_stopping

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage

_OTHER_METHOD_MAY_SERVE = (None, 400, 404, 422, 501)
"""Statuses (None: the provider's package has no such method) after which the next method is tried."""
_NO_IMAGES = (400, 404, 415, 422, 500, 501)
"""Statuses by which servers refuse images, local ones by 500."""


class LiveTransport:
    """The providers, through LangChain's chat models (built once per model and event loop), the models on
    this machine, and `chats`, which somebody else built, by name.
    """

    def __init__(
        self,
        settings: Settings,
        backoff: Backoff | None = None,
        chats: Mapping[str, BaseChatModel] | None = None,
    ) -> None:
        self.settings, self.backoff, self._given = settings, backoff or Backoff(), chats or {}
        self._backends: dict[str, Backend] = {}
        self._chats: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, BaseChatModel]] = (
            WeakKeyDictionary()
        )
        self._windows: dict[str, int | None] = {}
        self._refused: set[tuple[str, str, Method, bool]] = set()
        """Methods that failed where a later one served, by model and reply, with and without streaming: not
        tried again."""
        self._absent_since: dict[str, float] = {}
        """When nobody answered for the first time, by model; infinity once there was an answer."""

    def verify(self, model: str) -> None:
        """Raises ConfigurationError when the provider is unknown or not installed, or its key is not set."""
        if backend := self._backend(model):
            backend.verify(model)
        elif model not in self._given:
            providers.check_key(model, self.settings)
            if self._identity(model)[0] != "openai":  # whose package is always there, and slow to load
                providers.build(model, self.settings)

    def priced(self, model: str) -> bool:
        """Whether calls of `model` can be counted in dollars."""
        if self._backend(model):
            return True
        provider, name, address = self._identity(model)
        return price(name, provider, address, 1, 1, 0) is not None

    def window(self, model: str) -> int | None:
        """What the provider's package says of `model`; None behind a base URL, where its name says nothing of
        who serves it."""
        if self._backend(model):
            return None
        if model not in self._windows:
            try:
                elsewhere, profile = self._is_elsewhere(model), self._built(model).profile or {}
            except ConfigurationError:  # told when the model is verified, or asked
                return None
            self._windows[model] = None if elsewhere else profile.get("max_input_tokens")
        return self._windows[model]

    async def send(self, request: ModelRequest) -> ModelReply:
        """The provider's reply.

        Raises TransportError when the retries are used up, ConfigurationError, and ReplyError when a content
        filter stops it or the model takes no images.
        """
        if backend := self._backend(request.model):
            return await backend.send(request)
        chat = await self._chat(request.model)
        has_images = _has_images(request)
        # Behind a base URL a model's name, by which the profile is found, says nothing about who serves it.
        elsewhere = self._is_elsewhere(request.model)
        if has_images and not elsewhere and (chat.profile or {}).get("image_inputs") is False:
            raise _image_refusal(request.model, "its profile says so")
        refused: list[tuple[str, str, Method, bool]] = []
        ways = [None] if request.listener is None else [request.listener, None]
        for method, listener in product(methods_for(request, chat.profile or {}), ways):
            attempt = request.model, request.reply, method, listener is not None
            if attempt in self._refused:
                continue
            try:
                raw = await self._ask(replace(request, listener=listener), method, chat)
            except ModelError as error:
                status = status_of(error)
                unsuitable = isinstance(error, ConfigurationError) and status in _OTHER_METHOD_MAY_SERVE
                if unsuitable and (method != "prompt" or listener):
                    refused.append(attempt)
                    continue
                if has_images and status in _NO_IMAGES and not isinstance(error, ReplyError):
                    raise _image_refusal(request.model, str(error)) from error
                raise
            self._refused.update(refused)
            return model_reply(raw, request, *self._identity(request.model))
        raise AssertionError("the schema in the prompt is always tried, and never left out")

    def _backend(self, model: str) -> Backend | None:
        """What asks `model` otherwise than over the network, made at its first use; None: a provider does."""
        for prefix, make in BACKENDS.items():
            if model.startswith(prefix):
                if prefix not in self._backends:
                    self._backends[prefix] = make(self.settings)
                return self._backends[prefix]
        return None

    def _identity(self, model: str) -> tuple[str, str, str | None]:
        """Provider, name and address (None: the provider's own) of `model`."""
        if model in self._given:
            return identity(self._given[model])
        return *providers.split(model, self.settings.base_url), self.settings.base_url

    def _is_elsewhere(self, model: str) -> bool:
        """Whether another address than the provider's own is asked."""
        return self._identity(model)[2] is not None

    def _built(self, model: str, client: Any = None) -> BaseChatModel:
        """The chat model. Raises ConfigurationError."""
        if model in self._given:
            return self._given[model]
        providers.check_key(model, self.settings)
        return providers.build(model, self.settings, client)

    async def _chat(self, model: str) -> BaseChatModel:
        """The chat model for this event loop."""
        chats = self._chats.setdefault(asyncio.get_running_loop(), {})
        if model not in chats:
            chats[model] = self._built(model, await http_client())
        return chats[model]

    async def _ask(self, request: ModelRequest, method: Method, chat: BaseChatModel) -> AIMessage:
        """The reply by one method, with retries."""
        try:
            in_thread = request.model in self._given and own_loop.is_here()
            ask = bind_request(request, method, chat, in_thread=in_thread)
        except (NotImplementedError, ValueError, TypeError) as error:
            raise ConfigurationError(f"model {request.model} cannot be called: {error}") from error
        return await with_retries(
            partial(self._once, request, ask),
            model=request.model,
            retries=self.settings.request_retries,
            backoff=self.backoff,
            deadline=request.deadline,
            sleep=sleep_unless_stopping,
        )

    async def _once(self, request: ModelRequest, ask: Callable[[], Awaitable[AIMessage]]) -> AIMessage:
        """One try; what the provider's package raises goes on to the retries."""
        try:
            async with asyncio.timeout(self.settings.request_timeout_s):
                reply = await ask()
            self._absent_since[request.model] = math.inf
            if reply.type not in ("ai", "AIMessageChunk"):
                raise ReplyError(
                    f"model {request.model} returned a {type(reply).__name__}, which is not a reply"
                )
            return reply
        except Exception as error:
            # Before its words are cut: half a key would not be found.
            redact_error(error, redactor(self.settings))
            if is_filtered(error):
                problem = f"refused: the provider's content filter stopped it: {describe(error)}"
                raise ReplyError(f"{request.reply}: {problem}", problem=problem) from error
            if status_of(error) == 500 and _has_images(request):
                raise _image_refusal(request.model, describe(error)) from error
            end, now = dead_end(error, self.settings.base_url), time.monotonic()
            since = self._absent_since.setdefault(request.model, now if end else math.inf)
            if end and since < now - end.patience_s:
                raise TransportError(f"model {request.model}: {end.line} ({describe(error)})") from error
            raise


def _has_images(request: ModelRequest) -> bool:
    return any(message.images for message in request.messages)


def _image_refusal(model: str, reason: str) -> ReplyError:
    message = (
        f"model {model} took no image ({reason}); if it cannot see, set vision_model "
        "(--set vision_model=provider:name) to a model that can"
    )
    return ReplyError(message, problem=message)
