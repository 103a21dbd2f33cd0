"""Carry out one tool call: whatever a tool does wrong is an observation; interrupts pass through."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from dataclasses import replace
from typing import Any

from langgraph.errors import GraphBubbleUp
from pydantic import BaseModel, ValidationError

from forethought.secrecy import scrubber
from tools.base import Observation, Tool, ToolEnv, ToolError

MAX_CHARACTERS = 20_000
"""Longest text of an observation; what is beyond is cut, visibly."""
_log = logging.getLogger(__name__)


async def call_tool(tool: Tool, arguments: dict[str, Any], env: ToolEnv) -> Observation:
    """Call `tool` and return what came of it.

    Causes of a failure: arguments, timeout, empty, tool (an unexpected exception), or what the tool's
    `ToolError` says. LangGraph's interrupts and cancellation pass through untouched.
    """
    observation = await _attempt(tool, arguments, env)
    text, hint = (_presentable(part, env) for part in (observation.text, observation.hint))
    if not text.strip():
        ok, cause = False, "empty" if observation.ok else observation.cause
        text = (
            f"{tool.name} returned nothing" if observation.ok else f"{tool.name} failed and did not say why"
        )
    else:
        ok, cause = observation.ok, observation.cause
    return replace(
        observation,
        text=_cut(text),
        hint=hint,
        ok=ok,
        cause="" if ok else cause or "tool",
        origin=observation.origin or f"tool:{tool.name}",
        retryable=observation.retryable and tool.retryable,
        partial=observation.partial or len(text) > MAX_CHARACTERS,
    )


async def _attempt(tool: Tool, arguments: dict[str, Any], env: ToolEnv) -> Observation:
    try:
        given = _validated(tool, arguments)
    except ToolError as error:
        return _failure(error)
    scope = asyncio.timeout(tool.timeout_s or None)
    try:
        async with scope:
            result = await tool.run(env, **dict(given))
    except GraphBubbleUp:
        raise
    except ToolError as error:
        return _failure(error)
    except (Exception, SystemExit) as error:
        if isinstance(error, TimeoutError) and scope.expired():
            message = f"{tool.name} did not finish within {tool.timeout_s:g} s"
            return Observation(message, ok=False, cause="timeout", retryable=True)
        _log.error("tool %s failed\n%s", tool.name, scrubber(env.settings)(traceback.format_exc()))
        return Observation(_one_line(error), ok=False, cause="tool")
    return result if isinstance(result, Observation) else Observation(_as_text(result))


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


def _failure(error: ToolError) -> Observation:
    return Observation(error.message, ok=False, cause=error.cause, hint=error.hint, retryable=error.retryable)


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def _as_text(result: Any) -> str:
    """The operator's own functions may return numbers or JSON."""
    if result is None or isinstance(result, str):
        return result or ""
    return json.dumps(result, ensure_ascii=False, default=str)


def _presentable(text: str, env: ToolEnv) -> str:
    """Without secrets, and without the characters that a database or an encoder would refuse."""
    text = text.replace("\x00", "").encode("utf-8", "replace").decode()
    return scrubber(env.settings)(text)


def _cut(text: str) -> str:
    left_out = len(text) - MAX_CHARACTERS
    return (
        text
        if left_out <= 0
        else f"{text[:MAX_CHARACTERS]}\n[cut here: {left_out:,} more characters left out]"
    )
