"""A tool of LangChain's as any other tool: of `@tool`, any BaseTool, an MCP server's.

It is called as LangChain's own agents call it, with a ToolCall: so its callbacks, its handling of its own
errors, its artifacts and its injected arguments work as they do there.
"""

from __future__ import annotations

import inspect
import json
import re
import uuid
from collections.abc import Callable, Mapping
from typing import Any, get_args, get_origin, get_type_hints

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, InjectedToolArg, InjectedToolCallId, ToolException
from langchain_core.tools import Tool as TextTool
from pydantic import BaseModel
from typing_extensions import Unpack

from forethought.tools.base import Effect, Observation, Tool, ToolEnv, ToolError, ToolOptions, closed
from forethought.tools.json_arguments import arguments_model
from forethought.tools.mcp_errors import mcp_failure

LONGEST_DESCRIPTION = 6000
"""Characters: it stands in every prompt."""
_LONGEST_NAME = 64
_EFFECTS = get_args(Effect)
Fill = Callable[[str], Any]
"""Makes an injected argument from the call's id."""


def from_langchain(tool: BaseTool, server: str = "", **options: Unpack[ToolOptions]) -> Tool:
    """`tool` as the agent knows it. What `options` leave open, its metadata says: `effect`, or the
    annotations of MCP; else it counts as one that writes. `server` names the MCP server whose tool it is.

    Raises ValueError where its arguments have no schema that can be used, or one of them is injected by
    what is not here.
    """
    marks = _marks(tool)
    injected = _fills(tool, marks)
    hints = tool.metadata or {}
    foreign = bool(server) or _module(tool).startswith("langchain_mcp_adapters")
    described = (tool.description or hints.get("title") or tool.name).strip()
    arguments_schema = _arguments(tool, whole=not marks)
    aliases = {name: field.alias or name for name, field in arguments_schema.model_fields.items()}

    async def run(env: ToolEnv, /, **arguments: Any) -> Observation:
        call_id = env.call_id or str(uuid.uuid4())
        given = {aliases.get(name, name): value for name, value in arguments.items()}
        given |= {name: fill(call_id) for name, fill in injected.items()}
        call = {"type": "tool_call", "name": tool.name, "id": call_id, "args": given}
        try:
            return _observation(await tool.ainvoke(call))
        except ToolException as error:
            raise ToolError(str(error)) from error
        except Exception as error:
            if not foreign:
                raise
            raise mcp_failure(error, server) from error

    said: ToolOptions = {
        "effect": _effect(tool.name, hints),
        "retryable": bool(hints.get("readOnlyHint") or hints.get("idempotentHint")),
        **options,
    }
    return Tool(
        name=plain_name(tool.name),
        description=described[:LONGEST_DESCRIPTION],
        arguments=arguments_schema,
        run=run,
        foreign=foreign,
        **said,
    )


def plain_name(name: str) -> str:
    """A name that every provider takes for a function."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:_LONGEST_NAME]


def _effect(name: str, hints: Mapping[str, Any]) -> Effect:
    """What a tool's metadata says: without a word it may change something, and what an MCP server marks as
    reading is in an open world, which sends the arguments there (both are the protocol's own defaults)."""
    if "effect" in hints:
        if hints["effect"] not in _EFFECTS:
            raise ValueError(
                f"tool {name}: its effect must be {', '.join(_EFFECTS)}, not {hints['effect']!r}"
            )
        said: Effect = hints["effect"]
        return said
    if not hints.get("readOnlyHint"):
        return "write"
    return "read" if hints.get("openWorldHint") is False else "egress"


def _arguments(tool: BaseTool, whole: bool) -> type[BaseModel]:
    """What the model gives: by the `whole` schema where it can be, since the one that LangChain shows lacks
    its validators."""
    shown: Any = tool.tool_call_schema
    if isinstance(tool, TextTool) and tool.args_schema is None:  # it takes one text, and no schema says so
        shown = {"type": "object", "properties": tool.args, "required": list(tool.args)}
    elif isinstance(shown, type) and issubclass(shown, BaseModel):
        own = tool.args_schema
        complete = whole and isinstance(own, type) and issubclass(own, BaseModel)
        return closed(plain_name(tool.name), own if complete else shown)  # type: ignore[arg-type]
    elif not isinstance(shown, dict):  # of pydantic's first version
        shown = shown.schema()
    try:
        return arguments_model(tool.name, {k: v for k, v in shown.items() if k != "description"})
    except ValueError as error:
        raise ValueError(f"the schema of {tool.name} {error}") from error


def _fills(tool: BaseTool, marks: Mapping[str, tuple[type, bool]]) -> dict[str, Fill]:
    """What makes each injected argument. LangChain itself fills in the config and the run manager."""
    from langgraph.prebuilt import InjectedStore, ToolRuntime

    fills: dict[str, Fill] = {}
    for name, (kind, needed) in marks.items():
        if issubclass(kind, InjectedToolCallId):
            fills[name] = lambda call_id: call_id
        elif issubclass(kind, ToolRuntime):
            fills[name] = _runtime
        elif issubclass(kind, InjectedStore):
            fills[name] = lambda call_id: _runtime(call_id).store
        elif needed:
            raise ValueError(
                f"tool {tool.name}: its argument {name} ({kind.__name__}) is injected by what is not here: a "
                "tool gets its arguments, the call's id, a ToolRuntime without state, and the store"
            )
    return fills


def _marks(tool: BaseTool) -> dict[str, tuple[type, bool]]:
    """The kind of each injected argument, and whether it has no default."""
    found: dict[str, tuple[type, bool]] = {}
    functions = (getattr(tool, "func", None), getattr(tool, "coroutine", None))
    for function in [*filter(None, functions)] or [tool._run, tool._arun]:
        hints = get_type_hints(function, include_extras=True)
        for name, parameter in inspect.signature(function).parameters.items():
            if kind := _kind((get_origin(hints.get(name)) or hints.get(name), *get_args(hints.get(name)))):
                found[name] = kind, parameter.default is inspect.Parameter.empty
    if isinstance(tool.args_schema, type) and issubclass(tool.args_schema, BaseModel):
        for name, field in tool.args_schema.model_fields.items():
            if kind := _kind((get_origin(field.annotation) or field.annotation, *field.metadata)):
                found[name] = kind, field.is_required()
    return found


def _kind(marks: tuple[Any, ...]) -> type | None:
    """The class by which LangChain knows an injected argument."""
    from langgraph.prebuilt import ToolRuntime

    kinds = [mark if isinstance(mark, type) else type(mark) for mark in marks]
    return next((kind for kind in kinds if issubclass(kind, InjectedToolArg | ToolRuntime)), None)


class _NoState(dict[str, Any]):
    """The graph's state is not for tools: they get what they need as arguments."""

    def __missing__(self, key: str) -> Any:
        raise ToolError(
            f"the tool reads {key!r} of the graph's state, which is not given to tools",
            hint="its author can make it an argument",
        )


def _runtime(call_id: str) -> Any:
    """LangGraph's ToolRuntime of the run at work."""
    from langgraph.config import get_config
    from langgraph.prebuilt import ToolRuntime
    from langgraph.runtime import get_runtime

    runtime = get_runtime()
    return ToolRuntime(
        state=_NoState(),
        context=runtime.context,
        config=get_config(),
        stream_writer=runtime.stream_writer,
        tool_call_id=call_id,
        store=runtime.store,
    )


def _module(tool: BaseTool) -> str:
    """The module of the function behind it, which is the adapter's of an MCP server's tool."""
    return str(getattr(getattr(tool, "coroutine", None), "__module__", ""))


def _observation(result: Any) -> Observation:
    """What a tool returned: a ToolMessage, or what is written to the state of another graph (a Command)."""
    if not isinstance(result, ToolMessage):
        raise ToolError(
            f"the tool returned a {type(result).__name__}, which changes the state of a graph of its own; "
            "here a tool returns text, data or a ToolMessage",
            hint="what the tool did before that is done",
        )
    blocks = [result.content] if isinstance(result.content, str) else result.content
    text = "\n".join(map(_shown, blocks))
    if not text and isinstance(result.artifact, dict) and "structured_content" in result.artifact:
        text = json.dumps(result.artifact["structured_content"], ensure_ascii=False)
    ok = result.status != "error"
    return Observation(text, ok=ok, cause="" if ok else "tool")


def _shown(block: str | Mapping[str, Any]) -> str:
    """The text of a block of content; what is no text is named, not shown."""
    if isinstance(block, str):
        return block
    if "text" in block:
        return str(block["text"])
    address = f" at {block['url']}" if block.get("url") else ""
    return f"[{block.get('mime_type') or block['type']}{address}, not shown]"
