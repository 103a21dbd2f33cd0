"""Run Python code in a sandbox, by the backend that the operator chose (`tools.sandbox`).

The code may call the agent's reading tools as functions, several in one program (PreFlect's code actions).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from forethought.settings import Settings
from forethought.tools.base import Observation, Tool, ToolEnv, ToolError, make_tool
from forethought.tools.sandbox.program import MAX_CALLS, Backend, Calls, Program

_READING_S = 60
"""Time that the tool may take, besides running the code, to read the given files."""
_CALLING_S = 240
"""And for the calls that the code makes."""


async def python(env: ToolEnv, code: str) -> Observation:
    """Run Python code and return what it prints, followed by the value of its last expression.

    For arithmetic, counting, sorting, dates, parsing and comparing: anything where an exact result matters.
    Each call starts afresh: no variable survives from an earlier call.

    There is, ready to use:
    - `files`: dict from each given file's name to its whole text (tables as text, too);
    - `results`: dict from a finished subtask's id to its result's text;
    - the modules base64, bisect, collections (Counter, defaultdict, deque and namedtuple only), copy, csv,
      dataclasses, datetime, decimal, functools (cache, partial, reduce), hashlib, itertools, json, math,
      random, re, time, typing, unicodedata;
    - functions, closures, lambdas, comprehensions, generator expressions, f-strings, try/except, match,
      simple classes.

    There is not: pandas, numpy, statistics, fractions, string, io (nor any other module), opening files,
    the network, the environment, input(), class inheritance, own exception classes,
    property/classmethod/staticmethod, yield, the del statement.

    Args:
        code: The whole program.
    """
    try:
        code.encode()
    except UnicodeEncodeError as error:
        raise ToolError("the code holds a character that is not valid Unicode", cause="arguments") from error
    calls = Calls(env, asyncio.get_running_loop())
    try:
        return await asyncio.to_thread(_observe, env, code, calls)
    finally:
        calls.stop()


def _observe(env: ToolEnv, code: str, calls: Calls) -> Observation:
    inputs, unread = _inputs(env, code)
    program = Program(
        code,
        inputs=inputs,
        functions=calls.functions,
        seconds=env.settings.python_seconds,
        memory_mb=env.settings.python_memory_mb,
    )
    try:
        printed, value = _backend(env.settings)(program)
    except ToolError as error:
        error.message += unread
        raise
    if printed and value and not printed.endswith("\n"):
        printed += "\n"
    shown = (printed + value).rstrip("\n")
    if not shown.strip():
        raise ToolError(
            f"the code ran but showed nothing{unread}", cause="empty", hint="print what you want to see"
        )
    return Observation(shown + unread, origin=_origin(env, code))


def _backend(settings: Settings) -> Backend:
    if settings.python_backend == "sandlock":
        from forethought.tools.sandbox.sandlock import run_sandlock

        return run_sandlock
    from forethought.tools.sandbox.monty import run_monty

    return run_monty


PYTHON = make_tool(python, timeout_s=75, outside=False, runs_code=True)
_FULL = """\
- the whole standard library, and installed packages (pandas and numpy, where they are installed);
- the current folder, empty at first, to write to; it is gone afterwards.

There is not: any other file, the network, the environment, other processes, input()."""


def python_tool(settings: Settings, functions: Iterable[str] = ()) -> Tool:
    """The tool as the chosen backend offers it; `functions` are the tools that its code may call."""
    description = PYTHON.description
    if settings.python_backend == "sandlock":
        description = description.split("- the modules base64")[0] + _FULL
    names = ", ".join(functions)
    if names:
        offered = (
            f"- the tools {names} as functions with keyword arguments: each returns the observation's text\n"
            f"  or raises RuntimeError with the cause; at most {MAX_CALLS} calls a program;\n"
        )
        before, results, after = description.partition("- `results`")
        line, end, rest = after.partition("\n")
        description = before + results + line + end + offered + rest
    limit = settings.python_seconds + _READING_S + (_CALLING_S if names else 0)
    return replace(PYTHON, description=description, timeout_s=limit)


def _inputs(env: ToolEnv, code: str) -> tuple[dict[str, Any], str]:
    """What the code may use, and a note on given files that have no text (a picture, a damaged file).

    `files` is filled only where the code speaks of it: reading all documents takes time.
    """
    inputs: dict[str, Any] = {
        "results": {name: _valid(text) for name, text in env.results.items()},
        "files": {},
    }
    if env.store is None or not re.search(r"\bfiles\b", code):
        return inputs, ""
    from forethought.tools.documents.reader import load_document

    unread = ""
    for name, content_hash in env.files.items():
        try:
            inputs["files"][name] = _valid(load_document(env.store, content_hash, name).text)
        except ToolError as error:
            unread += f"\n[not in `files`: {error.message}]"
    return inputs, unread


def _origin(env: ToolEnv, code: str) -> str:
    """Where what the code worked on comes from: the files and results that it names, or all of them where it
    names none; '' where it uses neither."""
    used: list[str] = []
    if re.search(r"\bfiles\b", code):
        used += [f"file:{name}" for name in _named(env.files, code)]
    if re.search(r"\bresults\b", code):
        used += [part for key in _named(env.origins, code) for part in env.origins[key].split(", ")]
    return ", ".join(dict.fromkeys(used))


def _named(names: Mapping[str, str], code: str) -> list[str]:
    return [name for name in names if name in code] or list(names)


def _valid(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
