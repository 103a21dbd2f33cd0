"""Run Python code in a sandbox, by the backend that the operator chose (`tools.sandbox`).

The code may call the agent's reading tools as functions, several in one program (PreFlect's code actions).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from forethought.settings import Settings
from forethought.sizes import LONGEST_OBSERVATION, PART
from forethought.text import cut
from forethought.tools.base import Observation, Tool, ToolEnv, ToolError, make_tool
from forethought.tools.each.store import stored_table
from forethought.tools.folders.given import file_origins, folder_origin
from forethought.tools.given_files import find_name
from forethought.tools.sandbox.program import MODULES, Backend, CallError, Calls, Program

_USED = re.compile(r"""\b(?:files|tables)\b(?:\s*\[\s*(['"])(.*?)\1\s*\])?""")
_READING_S = 60
"""Time that the tool may take, besides running the code, to read the given files but one."""
_CALLING_S = 240
"""And for the calls that the code makes."""


async def python(env: ToolEnv, code: str) -> Observation:
    """Run a Python program in a sandbox.

    Args:
        code: The whole program.
    """
    try:
        code.encode()
    except UnicodeEncodeError as error:
        raise ToolError("the code holds a character that is not valid Unicode", cause="arguments") from error
    calls = Calls(env, asyncio.get_running_loop())
    try:
        inputs, unread = await _inputs(env, code)
        lazy, functions = await asyncio.to_thread(_lazily, env, code)
        functions = {**calls.functions, **functions}
        return await asyncio.to_thread(_observe, env, code, functions, inputs | lazy, unread)
    finally:
        calls.stop()


def _observe(
    env: ToolEnv, code: str, functions: Mapping[str, Callable[..., Any]], inputs: dict[str, Any], unread: str
) -> Observation:
    program = Program(
        code,
        inputs=inputs,
        functions=functions,
        seconds=env.settings.python_seconds,
        memory_mb=env.settings.python_memory_mb,
    )
    try:
        printed, value = _backend(env.settings)(program)
    except ToolError as error:
        error.message += unread
        if error.cause == "limit" and inputs["tables"] and "sql" in env.offered:
            error.hint += "; or use sql, which is made for large tables"
        if "KeyError" in error.message:
            error.hint = _keys(inputs, code) or error.hint
        raise
    shown, partial = _output_text(printed, value, env.sizes.part)
    if not shown.strip():
        raise ToolError(
            f"the code ran but showed nothing{unread}", cause="empty", hint="print what you want to see"
        )
    return Observation(shown + unread, origin=_origin(env, code), partial=partial)


def _output_text(printed: str, value: str, limit: int) -> tuple[str, bool]:
    """What is shown of the output and of the last value, which always is; and whether that is not all."""
    printed, value = printed.rstrip("\n"), value.rstrip("\n")
    value_shown = cut(value, limit // 2, tail=0.5)
    printed_shown = cut(printed, limit - len(value_shown), tail=0.5)
    shown = "\n".join(filter(None, (printed_shown, value_shown)))
    return shown, (printed_shown, value_shown) != (printed, value)


def _backend(settings: Settings) -> Backend:
    if settings.python_backend == "sandlock":
        from forethought.tools.sandbox.sandlock import run_sandlock

        return run_sandlock
    from forethought.tools.sandbox.monty import run_monty

    return run_monty


_ABOUT = """\
Run Python code; shows what it prints, then the value of its last expression. For whatever must be exact:
arithmetic, counting, sorting, dates, comparing. Each call starts afresh, and is stopped after {seconds:g} s.
Of output over {most:,} characters the middle is left out.

Ready to use:
- `files['a.docx']`: a given file's whole text. Text formats (csv, json, html, ...) are as they stand,
  documents are Markdown, with hidden sheets, comments, footnotes and notes.
- `tables['a.csv']`: its rows, all strings but for numbers such as 1.234,56 and 1,234.56.
  `tables['a.xlsx']['Sheet1'][0][1]`: cell B1; hidden sheets too, numbers are numbers, dates ISO strings,
  empty cells ''. `tables['a.docx']['1']`: the first table.
- `results[id]`: the text of a finished subtask's result.
- Imported already: {modules}.
{language}"""
_SUMMARY = (
    "Run Python code and see what it prints. Ready: files[name], a file's text; tables[name], its rows as "
    "lists, the header first (a workbook's: tables[name][sheet]); results[id], a finished subtask's "
    "text{subset}."
)
_SUBSET_SUMMARY = (
    "; math, datetime, re, json, csv, collections, itertools, decimal, not pandas, statistics, fractions"
)
_SUBSET = """\
  Of collections only Counter, defaultdict, deque, namedtuple; of functools only cache, partial, reduce.

Not there: other modules (pandas, numpy, statistics, io, ...), open(), input(), the network, class
inheritance, own exceptions, property, classmethod, staticmethod, yield, del."""
_FULL = """\
  Import any other module of the standard library, and installed packages.
- The current folder, empty at first, to write to; it is gone afterwards.

Not there: any other file, the network, the environment, other processes, input()."""


_FOLDER = """\
Ready to use:
- Of a folder, `files` and `tables` hold only the files whose names stand in the code. For many files:
  `file_names`, the list of all that have a text, and `text_of(name)`, the text of one.
"""


def for_folder(tool: Tool) -> Tool:
    """The tool as it is offered with a folder."""
    description = tool.description.replace("Ready to use:\n", _FOLDER, 1)
    summary = f"{tool.summary} Of a folder: file_names, and text_of(name)." if tool.summary else ""
    return replace(tool, description=description, summary=summary)


def python_tool(settings: Settings) -> Tool:
    """The tool as the chosen backend offers it."""
    full = settings.python_backend == "sandlock"
    description = _ABOUT.format(
        seconds=settings.python_seconds,
        most=int(LONGEST_OBSERVATION * PART),
        modules=", ".join(MODULES),
        language=_FULL if full else _SUBSET,
    )
    limit = settings.python_seconds + settings.reader_seconds + _READING_S + _CALLING_S
    summary = _SUMMARY.format(subset="" if full else _SUBSET_SUMMARY)
    return replace(PYTHON, description=description, summary=summary, timeout_s=limit)


PYTHON = make_tool(python, timeout_s=75, outside=False, private=False, runs_code=True)


async def _inputs(env: ToolEnv, code: str) -> tuple[dict[str, Any], str]:
    """What the code may use, and a note on given files that have no text (a picture, a damaged file).

    `files` and `tables` are filled only where the code speaks of them: reading all documents takes time.
    """
    inputs: dict[str, Any] = {
        "results": {name: _valid(text) for name, text in env.results.items()},
        "files": {},
        "tables": {},
    }
    wanted = [name for name in ("files", "tables") if _speaks_of(name, code)]
    if env.store is None or not wanted:
        return inputs, ""
    from forethought.tools.documents.reader import load_content

    unread = ""
    named = await asyncio.to_thread(_files_for, env, code)
    for name, content_hash in named.items():
        try:
            content = await load_content(env.store, content_hash, name, env.settings)
        except ToolError as error:
            unread += f"\n[not in `{'` and `'.join(wanted)}`: {error.message}]"
            continue
        inputs["files"][name], inputs["tables"][name] = content.text, content.tables
    for name, key in ((name, key) for name, key in env.tables.items() if name in code):
        rows = await asyncio.to_thread(stored_table, env.store, key) or []
        inputs["tables"][name] = [["" if cell is None else cell for cell in row] for row in rows]
    is_empty = not (unread or inputs["files"] or inputs["tables"] or _speaks_of("text_of", code))
    if is_empty and env.folders and env.folders.refs:
        raise ToolError(
            "`files` and `tables` hold only files whose names are in the code, and it names none",
            cause="arguments",
            hint="Go through `file_names` with text_of(name).",
        )
    return {key: value if key in ("results", *wanted) else {} for key, value in inputs.items()}, unread


def _files_for(env: ToolEnv, code: str) -> dict[str, str]:
    """The files that are read before the code runs: those that it names, or all; of a folder, those that it
    names."""
    names = {found[1] for found in _USED.findall(code)}
    if all(name in env.files for name in names):
        return {name: env.files[name] for name in names}
    if env.folders is None or not env.folders.refs:
        return dict(env.files)
    whole = set(env.folders.files)
    return {name: value for name, value in env.files.items() if name in whole or name in code}


def _lazily(env: ToolEnv, code: str) -> tuple[dict[str, Any], dict[str, Callable[..., Any]]]:
    """What a program uses to read a folder's files when it comes to them; nothing without a folder."""
    folders = env.folders
    if folders is None or not folders.refs:
        return {}, {}
    names = (
        [entry.name for entry in folders.entries() if not entry.reason]
        if _speaks_of("file_names", code)
        else []
    )

    def text_of(name: str) -> str:
        try:
            return _valid(folders.text(find_name(str(name), env.files)))
        except ToolError as error:
            raise CallError(error.message) from error

    return {"file_names": names}, {"text_of": text_of}


def _keys(inputs: Mapping[str, Any], code: str) -> str:
    """The keys that there are, of each dict that the code speaks of."""
    there = {name: keys for name, keys in inputs.items() if _speaks_of(name, code)}
    tables = {f"tables[{name!r}]": keys for name, keys in there.get("tables", {}).items()}
    there |= {name: keys for name, keys in tables.items() if isinstance(keys, dict)}
    said = (
        f"`{name}` has {', '.join(map(repr, keys)) or ('no tables' if name in tables else 'no keys')}"
        for name, keys in there.items()
    )
    return cut("; ".join(said), 2_000)


def _speaks_of(name: str, code: str) -> bool:
    return re.search(rf"\b{name}\b", code) is not None


def _origin(env: ToolEnv, code: str) -> str:
    """Where what the code worked on comes from: the files and results that it names, or all of them where it
    names none; '' where it uses neither."""
    used: list[str] = []
    if any(_speaks_of(name, code) for name in ("files", "tables", "file_names", "text_of")):
        named = [name for name in env.files if name in code]
        folders = env.folders if env.folders and env.folders.refs and not named else None
        used += (folder_origin(folders) if folders else file_origins(named or env.files)).split(", ")
    if _speaks_of("results", code):
        used += [part for key in _names_used(env.origins, code) for part in env.origins[key].split(", ")]
    return ", ".join(dict.fromkeys(used))


def _names_used(names: Mapping[str, str], code: str) -> list[str]:
    return [name for name in names if name in code] or list(names)


def _valid(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
