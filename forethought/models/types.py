"""What is asked of a model and what comes back: plain frozen records, and the errors."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Generic, Literal, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel
from typing_extensions import TypedDict

from forethought.models.schema import NotStrict, drop_nulls, json_schema, strict_schema
from forethought.settings import Settings

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
Json = dict[str, Any]
Listener = Callable[[str], Awaitable[None]]
"""Is told the text of a reply so far, each time that more of it has come; another try begins anew."""

Role = str
"""planner, reflector, tool, answer, retrospective, inspector: under which the cost is booked."""


class Usage(TypedDict, total=False):
    """What model calls cost. `usd` sums the priced calls; `unpriced` counts those whose model has no known
    price.
    """

    calls: int
    input_tokens: int
    """All input, cached included."""
    output_tokens: int
    cached_tokens: int
    saved_tokens: int
    """Input tokens that the lower price of cached ones saves: budgets do not count them; absent: none."""
    usd: float
    unpriced: int
    seconds: float
    fallbacks: int
    """Calls that were put to the fallback model; absent: none."""
    out_of_time: float
    """The task's whole time (`max_seconds`) that would have passed before a question's next try, so that it
    was given up; of several the most; absent: none was."""
    estimated: int
    """Calls of which the provider did not tell all tokens, so that they are estimated; absent: none."""
    cut: int
    """Replies that were cut off at their limit or stopped; absent: none."""
    changed: int
    """How often what they were made for changed the run; absent: never, or no call can tell."""


def no_usage() -> Usage:
    """Nothing spent yet."""
    return Usage(calls=0, input_tokens=0, output_tokens=0, cached_tokens=0, usd=0.0, unpriced=0, seconds=0.0)


@dataclass(frozen=True)
class Image:
    """A picture as a model is shown it."""

    mime: str
    """Such as image/png."""
    data: bytes = field(repr=False)
    source: str = ""
    """SHA-256 of the file that it was made from, '' if it is that file. Recordings know an image by it, since
    what an imaging library makes of a file differs from one release to the next.
    """

    @property
    def sha256(self) -> str:
        """The hash by which a recording knows the image."""
        return self.source or hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True)
class Message:
    """One message of a conversation. Images belong to user messages and stand after the text."""

    role: Literal["system", "user", "assistant"]
    text: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True)
class Function:
    """A function that the model may call; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Json


@dataclass(frozen=True)
class ReplySpec(Generic[T]):
    """What a reply must look like."""

    name: str
    """The schema's name, such as Plan."""
    schema: Json
    """The JSON schema that is sent."""
    parse: Callable[[Any], T]
    """From the reply's JSON object to the validated reply; raises ValueError (pydantic's ValidationError is
    one).
    """
    functions: tuple[Function, ...] = ()
    """If any: they are offered natively, one must be called, and `parse` gets {"function": name, "arguments":
    {...}}.
    """
    strict: bool = True
    """False: the schema does not fit the strict subset; it is sent without strictness and checked here."""
    repairs: int = 2
    """How often a bad reply is sent back."""


def reply_spec(model: type[M], name: str | None = None) -> ReplySpec[M]:
    """The spec of a pydantic model, sent under `name` or its class's name; the schema is made strict where
    that can be.
    """
    raw, strict = _schemas(model)

    def parse(value: Any) -> M:
        return model.model_validate(drop_nulls(value, raw))

    return ReplySpec(name or model.__name__, strict or raw, parse, strict=strict is not None)


@lru_cache(maxsize=128)
def _schemas(model: type[BaseModel]) -> tuple[Json, Json | None]:
    """The schema of a reply as pydantic makes it, and its strict form, if there is one."""
    raw = _undocumented(json_schema(model))
    try:
        return raw, strict_schema(raw)
    except NotStrict:
        return raw, None


def without(spec: ReplySpec[T], *names: str) -> ReplySpec[T]:
    """The spec of a reply that is not asked for the fields `names`, all of which have defaults."""
    schema = {
        **spec.schema,
        "properties": {key: value for key, value in spec.schema["properties"].items() if key not in names},
        "required": [key for key in spec.schema["required"] if key not in names],
    }

    def parse(value: Any) -> T:
        asked = isinstance(value, dict)
        return spec.parse({key: item for key, item in value.items() if key not in names} if asked else value)

    return replace(spec, schema=schema, parse=parse)


def _undocumented(raw: Json) -> Json:
    """The schema without the classes' docstrings: those speak to programmers, the fields' descriptions to the
    model.
    """
    raw = {key: value for key, value in raw.items() if key != "description"}
    if "$defs" in raw:
        raw["$defs"] = {
            name: {k: v for k, v in d.items() if k != "description"} for name, d in raw["$defs"].items()
        }
    return raw


@dataclass(frozen=True)
class ReplyResult(Generic[T]):
    """A validated reply and what it took."""

    reply: T
    text: str
    """JSON text of the reply."""
    usage: Usage
    repairs: int
    """How often a bad reply was sent back (0 to 2)."""
    model: str


@dataclass(frozen=True)
class ModelRequest:
    """One request as the application means it, whatever way the provider is asked."""

    role: Role
    model: str
    messages: tuple[Message, ...]
    reply: str
    schema: Json
    functions: tuple[Function, ...] = ()
    strict: bool = True
    deadline: float = math.inf
    """No wait, for a retry or a rate limit, may end after it, on the clock of `time.monotonic`; no part of
    what is asked."""
    listener: Listener | None = None
    """Hears the reply while it comes, where the provider streams; no part of what is asked."""
    limit: int = 0
    """Tokens that the reply may have; 0: any number."""
    window: int = 0
    """Tokens of the model's context; 0: unknown."""
    avoid: frozenset[str] = frozenset()
    """Methods by which an earlier try brought no JSON object."""


@dataclass(frozen=True)
class Call:
    """A native function call; `arguments` is JSON text as the model wrote it."""

    name: str
    arguments: str


Finish = Literal["stop", "length", "runaway", "refusal"]
"""How a reply ended; runaway: it was stopped, because it repeated itself or went beyond its limit."""


@dataclass(frozen=True)
class ModelReply:
    """One reply as it came: text (or calls, when functions were offered) and its figures."""

    text: str
    calls: tuple[Call, ...] = ()
    finish_reason: Finish = "stop"
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    saved_tokens: int = 0
    """Input tokens that the lower price of cached ones saves."""
    model: str = ""
    usd: float | None = None
    """None: no price is known."""
    estimated: bool = False
    """Whether tokens are estimates, since the provider did not tell them all."""
    method: str = ""
    """The method by which it came (`forethought.models.forms`)."""


class Transport(Protocol):
    """Carries one request to a model, or to a recording."""

    async def send(self, request: ModelRequest) -> ModelReply:
        """The reply. Raises a ModelError."""
        ...


@runtime_checkable
class Provider(Protocol):
    """A transport that knows before the first call whether a model can be asked, and its price."""

    def verify(self, model: str) -> None:
        """Raises ConfigurationError when the model cannot be asked."""
        ...

    def priced(self, model: str) -> bool:
        """Whether calls of `model` can be counted in dollars."""
        ...

    def window(self, model: str) -> int | None:
        """Tokens of context that `model` takes; None where nobody knows."""
        ...


class Backend(Transport, Protocol):
    """Carries requests to the models of one prefix, such as `local:`, which cost no dollars."""

    def verify(self, model: str) -> None:
        """Raises ConfigurationError when the model cannot be asked."""
        ...


BACKENDS: dict[str, Callable[[Settings], Backend]] = {}
"""Makers of the backends of models that are asked otherwise than over the network, by their names' prefix."""


class WrappedTransport:
    """A transport around another one, which answers for the models."""

    inner: Transport

    def verify(self, model: str) -> None:
        """As `inner` does. Raises ConfigurationError."""
        if isinstance(self.inner, Provider):
            self.inner.verify(model)

    def priced(self, model: str) -> bool:
        """As `inner` says; True where it cannot tell."""
        return self.inner.priced(model) if isinstance(self.inner, Provider) else True

    def window(self, model: str) -> int | None:
        """As `inner` knows it; None where it does not."""
        return self.inner.window(model) if isinstance(self.inner, Provider) else None


class ModelError(RuntimeError):
    """A question got no usable reply. The text is one line; `usage` is what was spent on it.

    A RuntimeError, since a LangGraph server tells its clients the text of built-in errors only.
    """

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(" ".join(message.split()))
        self.usage: Usage = usage or no_usage()


class ReplyError(ModelError):
    """The model answered, but not with what was asked for: invalid after two repairs, empty, cut off or
    refused; it cannot see the images that it was shown; or the task has no time left to wait for it.
    """

    def __init__(self, message: str, usage: Usage | None = None, problem: str = "") -> None:
        super().__init__(message, usage)
        self.problem = problem


class TransportError(ModelError):
    """No reply came, and the retries are used up."""


class OutOfTime(TransportError):
    """No reply came, and the next try would be made after the request's deadline."""


class ConfigurationError(ModelError):
    """Asking again would not help: no key, an unknown model, a refused key or request, a spent quota."""


class SmallerWindow(ConfigurationError):
    """The server's window is smaller than the prompt was made for. The next prompt will fit it."""


class ModelUnavailable(ConfigurationError):
    """This model cannot be used, though another one may: it is unknown, or its quota is spent."""


class ReplayError(ModelError):
    """The recording has no reply to this request, or cannot be read."""
