"""Carry out one tool call: whatever a tool does wrong is an observation; interrupts pass through."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import traceback
from dataclasses import replace
from http.client import HTTPException
from typing import Any

import httpx
from langgraph.errors import GraphBubbleUp
from pydantic import BaseModel, ValidationError

from forethought.models.errors import chain
from forethought.redaction import redactor
from forethought.telemetry import operation
from forethought.text import cut, one_line, sanitize_text
from forethought.tools.base import Observation, Tool, ToolEnv, ToolError

DOUBT = "It may have taken effect"
"""Prefix of the text of an unfinished call that may have changed something."""
PAUSE_S = 0.5
"""Wait before the one retry after a transport failure."""
_QUICK_S = 15.0
"""A call that failed more slowly than this is not repeated."""
_BROKEN_OFF = ("timeout", "transport")
_FRAMES = 4
"""Frames of an unexpected exception that are logged."""
_LOOK = "check whether it took effect before you try anything like it"
_CONNECTION_ERRORS = (ConnectionError, TimeoutError, HTTPException, httpx.TransportError)
"""If one is among an error's causes, the remote side may have carried the call out."""
_log = logging.getLogger(__name__)


async def call_tool(tool: Tool, arguments: dict[str, Any], env: ToolEnv) -> Observation:
    """Call `tool` and return what came of it.

    A transport failure that the tool says may pass, of a tool that may be called again, is tried once more.
    Where a call of any other broke off, so that it may have taken effect all the same, the observation says
    so. Causes of a failure: arguments, timeout, empty, tool (an unexpected exception), or what the tool's
    `ToolError` says. LangGraph's interrupts and cancellation pass through untouched.
    """
    with operation("execute_tool", tool.name, gen_ai__tool__name=tool.name) as span:
        started = time.monotonic()
        observation = await _attempt(tool, arguments, env)
        passing = _may_repeat(tool) and observation.retryable and observation.cause == "transport"
        if passing and time.monotonic() - started <= _QUICK_S:
            await asyncio.sleep(PAUSE_S)
            observation = await _attempt(tool, arguments, env)
        span.set(forethought__effect=tool.effect)
        if not observation.ok:
            span.failed(observation.cause or "tool")
    redact = redactor(env.settings)
    # Without the characters that a database or an encoder would refuse.
    text, hint = (redact(sanitize_text(part)) for part in (observation.text, observation.hint))
    ok, cause, longest = observation.ok, observation.cause, env.sizes.observation
    if not text.strip():
        text = f"{tool.name} returned nothing" if ok else _silent(tool)
        ok, cause = False, "empty" if ok else cause
    return replace(
        observation,
        text=cut(text, longest),
        hint=hint,
        ok=ok,
        cause="" if ok else cause or "tool",
        origin=observation.origin or f"tool:{tool.name}",
        retryable=observation.retryable and _may_repeat(tool),
        partial=observation.partial or len(text) > longest,
    )


def _place(error: BaseException) -> str:
    """Where it was raised: the last frames, the outermost first, on one line."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    return " > ".join(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames)


def _may_repeat(tool: Tool) -> bool:
    return tool.retryable and tool.repeatable


async def _attempt(tool: Tool, arguments: dict[str, Any], env: ToolEnv) -> Observation:
    """What the tool returns or raises; where a change broke off, that it may have taken effect."""
    scope = asyncio.timeout(tool.timeout_s or None)
    broke_off = False
    try:
        valid = _validated(tool, arguments)
        async with scope:
            # What is not given is the tool's own default.
            given = {name: value for name, value in valid if name in valid.model_fields_set}
            result = await tool.run(env, **given)
        observation = result if isinstance(result, Observation) else Observation(_as_text(result))
    except (GraphBubbleUp, KeyboardInterrupt, GeneratorExit):
        raise
    except ToolError as error:
        hint, retryable = error.hint, error.retryable
        observation = Observation(error.message, ok=False, cause=error.cause, hint=hint, retryable=retryable)
    # Not only Exception: a library in Rust that panics, a task that a tool itself cancelled and exit() are
    # none, and would end the run as well.
    except BaseException as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # by somebody else: it is not the tool's fault
            raise
        if scope.expired():
            message = f"{tool.name} did not finish within {tool.timeout_s:g} s"
            observation = Observation(message, ok=False, cause="timeout", retryable=True)
        else:
            message = one_line(f"{type(error).__name__}: {error}")
            _log.error(
                "tool %s failed: %s", tool.name, redactor(env.settings)(f"{message} ({_place(error)})")
            )
            observation = Observation(message, ok=False, cause="tool")
            broke_off = any(isinstance(link, _CONNECTION_ERRORS) for link in chain(error))
    if observation.ok or tool.repeatable or not (broke_off or observation.cause in _BROKEN_OFF):
        return observation
    text = observation.text if observation.text.strip() else _silent(tool)
    hint = f"{observation.hint}; {_LOOK}" if observation.hint else _LOOK
    return replace(observation, text=f"{DOUBT}: {text}", hint=hint)


def _silent(tool: Tool) -> str:
    return f"{tool.name} failed without a message"


def check_arguments(tool: Tool, arguments: dict[str, Any]) -> str | None:
    """What is wrong with the arguments of a proposed call, in one line; None if they fit."""
    try:
        _validated(tool, arguments)
    except ToolError as error:
        return f"{error.message} ({error.hint})"
    return None


def normalise(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """The validated arguments as JSON with every default filled in, so that two spellings of one call are
    equal.

    Arguments that do not fit come back as they are: such a call has no other spelling.
    """
    try:
        return _validated(tool, arguments).model_dump(mode="json")
    except ToolError:
        return arguments


def _validated(tool: Tool, arguments: dict[str, Any]) -> BaseModel:
    try:
        return tool.arguments.model_validate(arguments)
    except ValidationError as error:
        wrong = "; ".join(_complaint(item) for item in error.errors(include_url=False, include_context=False))
    schema = tool.arguments.model_json_schema()
    names = ", ".join(
        name if name in schema.get("required", ()) else f"{name} (optional)"
        for name in schema.get("properties", {})
    )
    raise ToolError(
        f"wrong arguments for {tool.name}: {wrong}",
        cause="arguments",
        hint=f"{tool.name} takes {names}" if names else f"{tool.name} takes no arguments",
    )


def _complaint(item: Any) -> str:
    name = ".".join(str(part) for part in item["loc"]) or "arguments"
    if item["type"] == "missing":
        return f"{name} is missing"
    if item["type"] == "extra_forbidden":
        return f"{name} is not an argument"
    return f"{name}: {item['msg'][0].lower()}{item['msg'][1:]}"


def _as_text(result: Any) -> str:
    """The operator's own functions may return numbers or JSON."""
    if result is None or isinstance(result, str):
        return result or ""
    return json.dumps(result, ensure_ascii=False, default=str)
