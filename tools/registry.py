"""The tools of a run: the built-in ones, the operator's own module, and those given in code."""

from __future__ import annotations

import importlib
import inspect
import json
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, get_args

from langchain_core.tools import BaseTool

from forethought.models.schema import json_schema
from forethought.settings import Settings
from forethought.text import fence, one_line
from forethought.tools.ask_user import ASK_USER
from forethought.tools.base import Effect, Tool, make_tool
from forethought.tools.find_files import FIND_FILES
from forethought.tools.inspect_audio import INSPECT_AUDIO
from forethought.tools.inspect_image import INSPECT_IMAGE
from forethought.tools.python import PYTHON, for_folder, python_tool
from forethought.tools.read_each import READ_EACH
from forethought.tools.read_file import READ_FILE
from forethought.tools.sandbox.program import MAX_CALLS, from_code
from forethought.tools.search_files import SEARCH_FILES
from forethought.tools.sql import SQL, is_installed
from forethought.tools.tables.catalog import TABLES, kind_of_table, needs_sql
from forethought.tools.visit_webpage import VISIT_WEBPAGE
from forethought.tools.web_search import WEB_SEARCH

if TYPE_CHECKING:
    from forethought.state.agent import FileRef
    from forethought.state.folder import FolderRef

BUILT_IN = (
    READ_FILE,
    FIND_FILES,
    SEARCH_FILES,
    READ_EACH,
    INSPECT_IMAGE,
    INSPECT_AUDIO,
    PYTHON,
    SQL,
    WEB_SEARCH,
    VISIT_WEBPAGE,
    ASK_USER,
)
MANY_FILES = 10
"""Given files from which they are read by one call."""

_LEAN_BRIEF = 160
"""Maximum characters of a tool's purpose in a lean prompt."""
LONG_FILE = 100_000
"""Bytes from which a file is searched and not only read."""
AnyTool = Tool | BaseTool | Callable[..., Any]
"""What is taken for a tool: ours, LangChain's, or a typed function with a docstring."""
_LOG = logging.getLogger(__name__)


def toolbox(
    settings: Settings,
    extra: Sequence[AnyTool] = (),
    builtin: Collection[str] | None = None,
    effects: Mapping[str, Effect] | None = None,
) -> dict[str, Tool]:
    """All tools by name, in the order in which a model is told of them; of the built-in ones, those named in
    `builtin` (all of them by default). `effects` goes before what the tools themselves say.

    Raises ValueError in one line when the module of `settings.tools` is missing or broken, a name comes
    twice, or no tool has a name given.
    """
    names = [tool.name for tool in BUILT_IN]
    if unknown := sorted(set(builtin or ()) - set(names)):
        raise ValueError(f"there is no built-in tool {unknown[0]}: choose from {', '.join(names)}")
    tools = [tool for tool in BUILT_IN if builtin is None or tool.name in builtin]
    tools += [_as_tool(item, "an extra tool") for item in extra]
    if settings.tools:
        tools += _of_module(settings.tools)
    box: dict[str, Tool] = {}
    for tool in tools:
        if tool.name in box:
            raise ValueError(f"two tools have the name {tool.name}: rename one")
        box[tool.name] = tool
    for name, effect in (effects or {}).items():
        if name not in box or effect not in get_args(Effect):
            raise ValueError(
                f"effects: {name}: {effect!r} is not valid: map a tool's name ({', '.join(box)}) to "
                "read, write or egress"
            )
        box[name] = replace(box[name], effect=effect)
    if box.get(PYTHON.name) is PYTHON:
        box[PYTHON.name] = python_tool(settings)
    for tool in (READ_FILE, VISIT_WEBPAGE):
        if box.get(tool.name) is tool:
            box[tool.name] = replace(tool, timeout_s=tool.timeout_s + settings.reader_seconds)
    return box


def effects_of(settings: Settings) -> dict[str, str]:
    """What each tool does to the world, by its name. Raises ValueError as `toolbox` does."""
    return {name: tool.effect for name, tool in toolbox(settings).items()}


def offered(
    tools: Mapping[str, Tool], files: Iterable[FileRef | str], folders: Sequence[FolderRef] = ()
) -> dict[str, Tool]:
    """The tools that are of use with the given files: what prompts list and schemas admit.

    Files come with a task only, so that the offer stays the same while it runs.
    """
    given = [item for item in files if not isinstance(item, str)]
    types = [item.get("type", "") for item in given] + [kind for item in folders for kind in item["types"]]
    there = {"": True, "folder": bool(folders)}
    there["long file"] = bool(folders) or any(item.get("size", 0) >= LONG_FILE for item in given)
    there["many files"] = bool(folders) or len(given) >= MANY_FILES
    many = len(given) >= MANY_FILES and any(kind_of_table(item["name"]) != "document" for item in given)
    there["tables"] = is_installed() and (TABLES in types or many or any(map(needs_sql, given)))
    return {
        name: for_folder(tool) if folders and tool.runs_code else tool
        for name, tool in tools.items()
        if there[tool.needs]
        and (not tool.media or any(media_type.startswith(tool.media) for media_type in types))
    }


def describe(tools: Mapping[str, Tool]) -> str:
    """The tools as a prompt lists them: name and arguments, what it is for, and each argument's meaning; and
    which of them a program may call.

    What someone else says of a tool (an MCP server) is fenced as data.
    """
    if not tools:
        return "There are none: work from what is given."
    return "\n\n".join(
        fence(_block(tool), "foreign_tool", name=tool.name)
        if tool.foreign
        else _block(tool) + (_functions(tools) if tool.runs_code else "")
        for tool in tools.values()
    )


def outline(tools: Mapping[str, Tool]) -> str:
    """The tools in a line each, for those who plan and judge: name, arguments, and what it is for."""
    lines = [f"{_signature(tool)}: {tool.brief}" for tool in tools.values()]
    return (
        "\n".join(
            fence(line, "foreign_tool", name=tool.name) if tool.foreign else line
            for tool, line in zip(tools.values(), lines, strict=True)
        )
        or "There are none: work from what is given."
    )


def lean_outline(tools: Mapping[str, Tool]) -> str:
    """The tools in a short line each, for small models: name, arguments ("?": optional) and purpose."""
    lines = []
    for tool in tools.values():
        required = json_schema(tool.arguments).get("required", ())
        names = (name if name in required else f"{name}?" for name in _properties(tool))
        line = f"{tool.name}({', '.join(names)}): {one_line(tool.brief, _LEAN_BRIEF)}"
        lines.append(fence(line, "foreign_tool", name=tool.name) if tool.foreign else line)
    return "\n".join(lines) or "There are none."


def _of_module(name: str) -> list[Tool]:
    """The module's `TOOLS`, or else its tools and its own public functions that have a docstring."""
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            raise ValueError(
                f"tools module {name} not found: name the module without .py, with its folder on PYTHONPATH"
            ) from error
        raise ValueError(f"tools module {name} needs {error.name}, which is not installed") from error
    except (Exception, SystemExit) as error:
        # Whatever a module does while it is loaded, the operator wants to know which one and why.
        reason = f"{type(error).__name__}: {one_line(error)}"
        raise ValueError(f"tools module {name} cannot be loaded: {reason}") from error
    items = module.TOOLS if hasattr(module, "TOOLS") else _public_tools(module)
    if not isinstance(items, Iterable) or not (tools := [_as_tool(item, name) for item in items]):
        raise ValueError(
            f"tools module {name} defines no tools: give its functions type hints and docstrings, "
            "or set TOOLS"
        )
    return tools


def _public_tools(module: ModuleType) -> list[AnyTool]:
    """A line is logged for each public function that is left out for want of a docstring."""
    public = {id(item): item for name, item in vars(module).items() if not name.startswith("_")}
    found: list[AnyTool] = []
    for item in public.values():
        own = inspect.isfunction(item) and item.__module__ == module.__name__
        if isinstance(item, Tool | BaseTool) or (own and item.__doc__):
            found.append(item)
        elif own:
            _LOG.warning(
                "tools module %s: %s is not offered: give it a docstring, or begin its name with _",
                module.__name__, item.__name__,
            )  # fmt: skip
    return found


def _as_tool(item: Any, source: str) -> Tool:
    if isinstance(item, Tool):
        return item
    is_function = callable(item) and hasattr(item, "__name__") and not inspect.isclass(item)
    if not is_function and not isinstance(item, BaseTool):
        raise ValueError(f"{source}: {one_line(item, 100)!r} is neither a function nor a tool: remove it")
    try:
        return make_tool(item)
    except Exception as error:
        # Of a function that is no tool, pydantic and langchain complain in many ways; one line is enough.
        named = item.name if isinstance(item, BaseTool) else item.__name__
        raise ValueError(f"{source}: {named} cannot be used as a tool: {one_line(error, 300)}") from error


def _signature(tool: Tool) -> str:
    arguments = ", ".join(
        f"{name}: {_type(entry)}" + (f" = {json.dumps(entry['default'])}" if "default" in entry else "")
        for name, entry in _properties(tool).items()
    )
    return f"{tool.name}({arguments})"


def _properties(tool: Tool) -> dict[str, Any]:
    return json_schema(tool.arguments).get("properties", {})  # type: ignore[no-any-return]


def _block(tool: Tool) -> str:
    lines = [_signature(tool), *(f"  {line}".rstrip() for line in tool.description.splitlines())]
    lines += [
        f"  - {name}: {entry['description']}"
        for name, entry in _properties(tool).items()
        if entry.get("description")
    ]
    return "\n".join(lines)


def _functions(tools: Mapping[str, Tool]) -> str:
    """The tools that a program may call."""
    names = ", ".join(from_code(tools))
    return names and (
        f"\n  Functions that the code can call, with keyword arguments: {names}. Each returns the tool's text"
        f"\n  or raises RuntimeError with the cause; at most {MAX_CALLS} calls a program."
    )


def _type(entry: Mapping[str, Any]) -> str:
    if "anyOf" in entry:
        return " or ".join(_type(option) for option in entry["anyOf"])
    if "enum" in entry:
        return " or ".join(f'"{value}"' for value in entry["enum"])
    if "$ref" in entry:
        return "object"
    types = entry.get("type", "any")
    kind = " or ".join(types) if isinstance(types, list) else str(types)
    return f"{kind} of {_type(entry['items'])}" if kind == "array" and entry.get("items") else kind
