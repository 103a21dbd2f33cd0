"""Asking a provider over the network, by the best method that it takes, with retries.

A method that the provider refuses is not tried again for that model. The raw message is taken, not a parsed
one, so that the cost of a bad reply is counted too.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from forethought.models import providers
from forethought.models.backends import Backends
from forethought.models.errors import describe, is_filtered
from forethought.models.http_client import http_client
from forethought.models.methods import Method, Way, bound, refuses_method, speaks_openai
from forethought.models.pricing import price
from forethought.models.provider_reply import model_reply
from forethought.models.retry import Backoff, with_retries
from forethought.models.types import ConfigurationError, ModelReply, ModelRequest, ReplyError
from forethought.models.vision import check_vision, has_images, image_refusal
from forethought.redaction import redact_error, redactor
from forethought.settings import Settings
from forethought.shutdown import sleep_unless_stopping
from forethought.telemetry import write_event

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage


@dataclass(frozen=True)
class _Refused:
    """The provider does not take this way of asking for a shape: never, or not with this schema."""

    this_schema_only: bool


class LiveTransport:
    """The providers, through LangChain's chat models (built once per model and event loop), and the models on
    this machine.
    """

    def __init__(self, settings: Settings, backoff: Backoff | None = None) -> None:
        self.settings, self.backoff = settings, backoff or Backoff()
        self._backends = Backends(settings)
        self._chats: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, BaseChatModel]] = (
            WeakKeyDictionary()
        )
        self._refused: set[tuple[str, str, Method]] = set()

    def verify(self, model: str) -> None:
        """Raises ConfigurationError when the provider is unknown or not installed, or its key is not set."""
        if backend := self._backends.of(model):
            backend.verify(model)
            return
        providers.check_key(model, self.settings)
        providers.build(model, self.settings)

    def priced(self, model: str) -> bool:
        """Whether calls of `model` can be counted in dollars."""
        if self._backends.of(model):
            return True
        provider, name = providers.split(model, self.settings.base_url)
        return price(name, provider, self.settings.base_url, 1, 1, 0) is not None

    async def send(self, request: ModelRequest) -> ModelReply:
        """The provider's reply.

        Raises TransportError when the retries are used up, ConfigurationError, and ReplyError when a content
        filter stops it or the model cannot see the images that it is shown.
        """
        if backend := self._backends.of(request.model):
            return await backend.send(request)
        chat = await self._chat(request.model)
        check_vision(request, chat.profile, self.settings.base_url)
        for method in self._methods(request, chat):
            way = Way(method, chat, speaks_openai(chat))
            got = await with_retries(
                partial(self._once, request, way),
                model=request.model,
                retries=self.settings.request_retries,
                backoff=self.backoff,
                on_wait=partial(_announce_wait, request.model, self.settings.request_retries),
                deadline=request.deadline,
                sleep=sleep_unless_stopping,
            )
            if not isinstance(got, _Refused):
                provider, name = providers.split(request.model, self.settings.base_url)
                return model_reply(got, request, provider, name, self.settings.base_url)
            self._refused.add((request.model, request.reply if got.this_schema_only else "", method))
        raise AssertionError("the schema in the prompt is always tried, and never refused")

    async def _chat(self, model: str) -> BaseChatModel:
        """The chat model for this event loop."""
        chats = self._chats.setdefault(asyncio.get_running_loop(), {})
        if model not in chats:
            providers.check_key(model, self.settings)
            chats[model] = providers.build(model, self.settings, await http_client())
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

    async def _once(self, request: ModelRequest, way: Way) -> AIMessage | _Refused:
        """One try; what the provider's package raises goes on to the retries."""
        try:
            ask = bound(request, way)
        except (NotImplementedError, ValueError, TypeError) as error:
            if way.method == "prompt":
                raise ConfigurationError(f"model {request.model} cannot be asked: {error}") from error
            return _Refused(this_schema_only=True)
        try:
            async with asyncio.timeout(self.settings.request_timeout_s):
                return await ask()
        except Exception as error:
            # Before its words are cut: half a key would not be found.
            redact_error(error, redactor(self.settings))
            if way.method != "prompt" and refuses_method(error):
                # With an image, the words may be about the two together: text alone keeps the method.
                return _Refused("invalid schema" in str(error).lower() or has_images(request))
            if is_filtered(error):
                problem = f"refused: the provider's content filter stopped it: {describe(error)}"
                raise ReplyError(f"{request.reply}: {problem}", problem=problem) from error
            if refusal := image_refusal(error, request):
                raise refusal from error
            raise


def _announce_wait(model: str, retries: int, reason: str, seconds: float, number: int) -> None:
    event = {"event": "waiting", "model": model, "why": reason, "seconds": round(seconds, 1)}
    write_event({**event, "retry": number, "retries": retries})
