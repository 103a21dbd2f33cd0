"""Trials of the forms that a server takes, before a run needs them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

from forethought.models.errors import describe, status_of
from forethought.models.extract import find_object
from forethought.models.forms import Form
from forethought.models.live import LiveTransport
from forethought.models.types import ConfigurationError, Function, Message, ModelReply, ModelRequest
from forethought.text import one_line

LIMIT = 48
"""Tokens of each reply."""
PATIENCE_S = 20.0
"""Seconds to wait for one reply, or for the next piece of it."""
_SCHEMA = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}},
    "required": ["colour"],
    "additionalProperties": False,
}
_QUESTION = Message("user", "Name a colour: red or blue.")
_STORY = Message("user", "Tell a long story about a river, from its spring to the sea.")
_COLOURS = ("red", "blue")
_FUNCTIONS = tuple(Function(name, f"Set the {name}.", _SCHEMA) for name in ("wall", "door"))


@dataclass(frozen=True)
class Found:
    """The result of one trial."""

    what: str
    works: bool
    detail: str
    seconds: float


_TRIALS: tuple[tuple[str, Form, str], ...] = (
    ("limit on tokens", Form("text"), ""),
    ("system message", Form("text"), ""),
    ("streaming", Form("text", streams=True), ""),
    ("JSON schema", Form("schema"), "schema"),
    ("forced function", Form("function"), "function"),
    ("choice of functions", Form("function"), "functions"),
    ("JSON object", Form("object"), "object"),
    ("schema in the prompt", Form("prompt"), ""),
)
"""Each trial: its name, its form, and the method that is remembered."""

SHAPES = tuple(what for what, form, _ in _TRIALS if form.method != "text")
"""Those of a reply's shape."""


async def probe(transport: LiveTransport, model: str) -> AsyncIterator[Found]:
    """Ask `model` in each form, one short reply each, and keep which methods its server refuses.

    A form works if its reply is what was asked for. If a method sends the schema beside the prompt, a reply
    that fits was decoded against the schema, or the model has read it.

    Raises:
        ModelError: The model cannot be asked at all.
    """
    refused: set[str] = set()
    for what, form, method in _TRIALS:
        found, status = await _try(transport, model, what, form)
        if what == _TRIALS[0][0] and status in (None, 401, 403) and not found.works:
            raise ConfigurationError(f"model {model} gives no reply: {found.detail}")
        if method and not found.works:
            refused.add(method)
        yield found
    transport.remember(model, refused=tuple(sorted(refused)), without=())


async def _try(transport: LiveTransport, model: str, what: str, form: Form) -> tuple[Found, int | None]:
    """The result of one trial, and its HTTP status (200 for a reply, None for none)."""
    rules = (Message("system", "You answer in few words."),) if what == "system message" else ()
    messages = (*rules, _STORY if what == "limit on tokens" else _QUESTION)
    functions = _FUNCTIONS if what == "choice of functions" else ()
    request = ModelRequest("tool", model, messages, "Colour", _SCHEMA, functions, limit=LIMIT)
    started = time.monotonic()
    try:
        reply = await transport.try_once(request, form, PATIENCE_S)
    except Exception as error:
        return Found(what, False, one_line(describe(error), 120), time.monotonic() - started), status_of(
            error
        )
    problem = _problem(what, form, reply)
    tokens = f"{reply.output_tokens} tokens"
    return Found(what, not problem, problem or tokens, time.monotonic() - started), 200


def _problem(what: str, form: Form, reply: ModelReply) -> str:
    """The fault of a reply; '' if there is none."""
    if form.method == "text":
        over = what == "limit on tokens" and reply.output_tokens > LIMIT * 1.1
        return "not kept" if over else "" if reply.text.strip() else "an empty reply"
    if what == "choice of functions":
        names = {function.name for function in _FUNCTIONS}
        return "" if any(call.name in names for call in reply.calls) else "no call came"
    try:
        fits = find_object(reply.text).get("colour") in _COLOURS
    except ValueError as error:
        return str(error)
    return "" if fits else "the reply does not fit the schema"
