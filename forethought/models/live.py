"""Asking a provider over the network, by the best method that it takes, with retries."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from forethought import own_loop
from forethought.models import providers
from forethought.models.chat_objects import identity
from forethought.models.dead_ends import dead_end
from forethought.models.errors import describe, is_filtered, is_unknown_model, status_of, words
from forethought.models.forms import SMALL_WINDOW, Form, methods_for, next_form
from forethought.models.http_client import http_client
from forethought.models.known_forms import KnownForms, Passed
from forethought.models.limits import with_room
from forethought.models.methods import bind_request
from forethought.models.pricing import price
from forethought.models.provider_reply import model_reply
from forethought.models.retry import Backoff, with_retries
from forethought.models.servers import is_slow, server_of
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

_OTHER_FORM_MAY_SERVE = (None, 400, 404, 422, 500, 501)
"""Statuses (None: the provider's package has no such method) after which another form is tried."""
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
        self.forms = KnownForms(settings.data_dir / "servers.json")
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
        # Behind a base URL a model's name, by which the profile is found, says nothing about who serves it.
        elsewhere, profile = self._is_elsewhere(request.model), chat.profile or {}
        if _has_images(request) and not elsewhere and profile.get("image_inputs") is False:
            raise _image_refusal(request.model, "its profile says so")
        own_limit = request.model in self._given and getattr(chat, "max_tokens", None)
        limit = (
            0
            if own_limit or not request.limit
            else with_room(request.limit, request.window, request.model, {} if elsewhere else profile)
        )
        return await self._in_some_form(replace(request, limit=limit), chat, profile)

    async def _in_some_form(self, request: ModelRequest, chat: BaseChatModel, profile: Any) -> ModelReply:
        """The reply in the first form that is taken."""
        from langchain_openai.chat_models.base import BaseChatOpenAI

        place = self._place(request.model)
        note = self.forms.note(place)
        found = methods_for(request, profile, isinstance(chat, BaseChatOpenAI))
        methods = self.forms.fit(found, request, place)
        wanted = request.listener is not None or note.slow or 0 < request.window <= SMALL_WINDOW
        streams = wanted and note.streams
        form = Form(methods[0], streams, frozenset(note.without))
        passed: list[Passed] = []
        while True:
            try:
                raw = await self._ask(request, form, chat)
            except ModelError as error:
                following = None
                if _may_be_form(error):
                    following = next_form(form, words(error), methods, request, streams)
                if following is None:
                    refused = status_of(error) in _NO_IMAGES and not isinstance(error, ReplyError)
                    if refused and _has_images(request):
                        raise _image_refusal(request.model, str(error)) from error
                    raise
                passed.append((form, following, error))
                form = following
                continue
            self.forms.learn(request, place, form, passed)
            reply = replace(model_reply(raw, request, *self._identity(request.model)), method=form.method)
            self.forms.judge(request, place, form, reply)
            return reply

    def _place(self, model: str) -> tuple[str, str]:
        """The server and the name of a model, by which its note is kept."""
        provider, name, address = self._identity(model)
        return server_of(provider, address), name

    async def try_once(self, request: ModelRequest, form: Form, patience_s: float) -> ModelReply:
        """The reply in one form, without retries. Raises what the provider's package raises."""
        chat = await self._chat(request.model)
        raw = await bind_request(request, form, chat, patience_s=patience_s)()
        return model_reply(raw, request, *self._identity(request.model))

    def remember(self, model: str, **changes: Any) -> None:
        """Change the note on the server of `model` (see `servers.Note`)."""
        self.forms.change(self._place(model), **changes)

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

    async def _ask(self, request: ModelRequest, form: Form, chat: BaseChatModel) -> AIMessage:
        """The reply in one form, with retries."""
        return await with_retries(
            partial(self._once, request, form, chat),
            model=request.model,
            retries=self.settings.request_retries,
            backoff=self.backoff,
            deadline=request.deadline,
            sleep=sleep_unless_stopping,
        )

    async def _once(self, request: ModelRequest, form: Form, chat: BaseChatModel) -> AIMessage:
        """One try. An error of the provider's package goes on to the retries. A reply for which the time did
        not suffice is streamed the next time."""
        place = self._place(request.model)
        if self.forms.note(place).slow:
            form = replace(form, streams=self.forms.note(place).streams)
        patience, started = self.settings.request_timeout_s, time.monotonic()
        try:
            in_thread = request.model in self._given and own_loop.is_here()
            ask = bind_request(request, form, chat, patience_s=patience, in_thread=in_thread)
        except (NotImplementedError, ValueError, TypeError) as error:
            raise ConfigurationError(f"model {request.model} cannot be called: {error}") from error
        try:
            reply = await ask()
            tokens = (getattr(reply, "usage_metadata", None) or {}).get("output_tokens") or 0
            if not form.streams and tokens and is_slow(tokens, time.monotonic() - started):
                self.forms.change(place, slow=True)
            self._absent_since[request.model] = math.inf
            if reply.type not in ("ai", "AIMessageChunk"):
                raise ReplyError(
                    f"model {request.model} returned a {type(reply).__name__}, which is not a reply"
                )
            return reply
        except Exception as error:
            if isinstance(error, TimeoutError) and not form.streams:
                self.forms.change(place, slow=True)
            # Before its words are cut: half a key would not be found.
            redact_error(error, redactor(self.settings))
            if is_filtered(error):
                problem = f"refused: the provider's content filter stopped it: {describe(error)}"
                raise ReplyError(f"{request.reply}: {problem}", problem=problem) from error
            if status_of(error) == 500 and _has_images(request):
                raise _image_refusal(request.model, describe(error)) from error
            if status_of(error) == 500 and self.forms.fails_on(request, place, form, error):
                reason = f"model {request.model} refused the request (HTTP 500): {describe(error)}"
                raise ConfigurationError(reason) from error
            end, now = dead_end(error, self.settings.base_url), time.monotonic()
            since = self._absent_since.setdefault(request.model, now if end else math.inf)
            if end and since < now - end.patience_s:
                raise TransportError(f"model {request.model}: {end.line} ({describe(error)})") from error
            raise


def _may_be_form(error: ModelError) -> bool:
    """Whether the form of the request may be what is refused."""
    if not isinstance(error, ConfigurationError) or is_unknown_model(error):
        return False
    return status_of(error) in _OTHER_FORM_MAY_SERVE


def _has_images(request: ModelRequest) -> bool:
    return any(message.images for message in request.messages)


def _image_refusal(model: str, reason: str) -> ReplyError:
    message = (
        f"model {model} took no image ({reason}); if it cannot see, set vision_model "
        "(--set vision_model=provider:name) to a model that can"
    )
    return ReplyError(message, problem=message)
