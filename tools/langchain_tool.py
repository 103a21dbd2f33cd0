"""A tool of LangChain's as any other tool: of `@tool`, any BaseTool, an MCP server's.

It is called as LangChain's own agents call it, by a ToolNode: so its callbacks, its handling of its own
errors, its artifacts and its injected arguments work as they do there.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from typing import Any, get_args

from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.tools import BaseTool, ToolException
from langchain_core.tools import Tool as TextTool
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime, get_runtime
from pydantic import BaseModel
from typing_extensions import Unpack

from forethought.tools.base import Effect, Observation, Tool, ToolEnv, ToolError, ToolOptions, closed
from forethought.tools.json_arguments import arguments_model
from forethought.tools.mcp_errors import mcp_failure

LONGEST_DESCRIPTION = 6000
"""Characters: it stands in every prompt."""
_LONGEST_NAME = 64
_EFFECTS = get_args(Effect)


def from_langchain(tool: BaseTool, server: str = "", **options: Unpack[ToolOptions]) -> Tool:
    """`tool` as the agent knows it. What `options` leave open, its metadata says: `effect`, or the
    annotations of MCP; else it counts as one that writes. `server` names the MCP server whose tool it is.

    Raises ValueError where its arguments have no schema that can be used.
    """
    node = ToolNode([tool], handle_tool_errors=False)
    hints = tool.metadata or {}
    foreign = bool(server) or _module(tool).startswith("langchain_mcp_adapters")
    described = (tool.description or hints.get("title") or tool.name).strip()
    arguments_schema = _arguments(tool)
    aliases = {name: field.alias or name for name, field in arguments_schema.model_fields.items()}

    async def run(env: ToolEnv, /, **arguments: Any) -> Observation:
        call_id = env.call_id or str(uuid.uuid4())
        given = {aliases.get(name, name): value for name, value in arguments.items()}
        call = {"type": "tool_call", "name": tool.name, "id": call_id, "args": given}
        try:
            return _observation(await node.ainvoke([call], _config(), runtime=_runtime()))
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


def _arguments(tool: BaseTool) -> type[BaseModel]:
    """What the model gives: by the tool's own schema if nothing is injected into it, since the one that
    LangChain shows lacks its validators."""
    shown: Any = tool.tool_call_schema
    if isinstance(tool, TextTool) and tool.args_schema is None:  # it takes one text, and no schema says so
        shown = {"type": "object", "properties": tool.args, "required": list(tool.args)}
    elif isinstance(shown, type) and issubclass(shown, BaseModel):
        own: Any = tool.args_schema
        whole = getattr(own, "model_fields", {}).keys() == shown.model_fields.keys()
        return closed(plain_name(tool.name), own if whole else shown)
    elif not isinstance(shown, dict):  # of pydantic's first version
        shown = shown.schema()
    try:
        return arguments_model(tool.name, {k: v for k, v in shown.items() if k != "description"})
    except ValueError as error:
        raise ValueError(f"the schema of {tool.name} {error}") from error


def _config() -> RunnableConfig:
    """The run's config, by which a tool sees all channels. Since langgraph 1.2.24 it would see the input
    schema of its node, which holds only ids."""
    config = ensure_config()
    return {**config, "configurable": {**config["configurable"], "__pregel_read_state": None}}


def _runtime() -> Runtime[Any]:
    """That of the run at work; an empty one where a tool is called outside of any graph."""
    try:
        return get_runtime() or Runtime()
    except RuntimeError:
        return Runtime()


def _module(tool: BaseTool) -> str:
    """The module of the function behind it, which is the adapter's of an MCP server's tool."""
    return str(getattr(getattr(tool, "coroutine", None), "__module__", ""))


def _observation(output: Any) -> Observation:
    """What a tool returned: a ToolMessage, or what is written to the state of another graph (a Command)."""
    if not isinstance(output, dict):
        raise ToolError(
            "the tool returned a Command, which changes the state of a graph of its own; here a tool returns "
            "text, data or a ToolMessage",
            hint="anything that the tool did before stays done",
        )
    (result,) = output["messages"]
    blocks = [result.content] if isinstance(result.content, str) else result.content
    text = "\n".join(map(_block_text, blocks))
    if not text and isinstance(result.artifact, dict) and "structured_content" in result.artifact:
        text = json.dumps(result.artifact["structured_content"], ensure_ascii=False)
    ok = result.status != "error"
    return Observation(text, ok=ok, cause="" if ok else "tool")


def _block_text(block: str | Mapping[str, Any]) -> str:
    """The text of a block of content; what is no text is named, not shown."""
    if isinstance(block, str):
        return block
    if "text" in block:
        return str(block["text"])
    address = f" at {block['url']}" if block.get("url") else ""
    return f"[{block.get('mime_type') or block['type']}{address}, not shown]"
