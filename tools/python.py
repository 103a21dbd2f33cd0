"""Run Python code in a sandbox: a Python subset in a worker process that sees no files, network,
environment or modules of ours.

The worker is started for one call and ends with it. Its limits hold inside and from outside (a worker that
does not stop is killed a second after its time), so a runaway program neither goes on nor leaves a busy
thread behind. The synchronous client is used, in a thread: the asynchronous one of release 1.4 aborts the
whole process at exit about every second time.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping
from typing import Any

from tools.base import Observation, ToolEnv, ToolError, make_tool

MAX_OUTPUT = 1_000_000
"""Most bytes that a program may print, and most characters of its last value."""
_LAST = "_last_value_"
_SHOW = f"('' if {_LAST} is None else {_LAST} if isinstance({_LAST}, str) else repr({_LAST}))[:{MAX_OUTPUT}]"
_MODULES = (
    "base64, bisect, collections, copy, csv, dataclasses, datetime, decimal, functools, hashlib, itertools, "
    "json, math, random, re, time, typing, unicodedata"
)
_NO_WORLD = "code can use no files, network or environment; the dict `files` has the given files' texts"
_HINTS = {
    "NotImplementedError": "the sandbox is a subset of Python: no class inheritance, no own "
    "exception classes, no property, classmethod, staticmethod, yield or del; functions, lists and dicts do",
    "ModuleNotFoundError": f"only these modules exist: {_MODULES}; write out what another one would do",
    "PermissionError": _NO_WORLD,
    "SyntaxError": "send the whole program again, corrected",
}


def python(env: ToolEnv, code: str) -> Observation:
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
    inputs, unread = _inputs(env, code)
    try:
        printed, value = _run(env, code, inputs)
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


PYTHON = make_tool(python, timeout_s=75)


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
    from tools.read_file import document_text

    unread = ""
    for name, content_hash in env.files.items():
        try:
            inputs["files"][name] = _valid(document_text(env.store, content_hash, name))
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


def _run(env: ToolEnv, code: str, inputs: dict[str, Any]) -> tuple[str, str]:
    """What the code printed, and its last value as text, which is made inside, where the limits hold."""
    try:
        import pydantic_monty as monty
    except ImportError as error:
        raise ToolError(
            "no Python sandbox is installed", cause="unavailable", hint="pip install pydantic-monty"
        ) from error
    seconds = env.settings.python_seconds
    memory = env.settings.python_memory_mb << 20
    limits: monty.ResourceLimits = {"max_feed_duration_secs": seconds, "max_memory": memory}
    # Sleeping costs nothing; random numbers are the same each time, so that a recording can be played back.
    policy: monty.OSPolicy = {"sleep": "zero", "random_start": {"seed": 0}}
    named, has_value = _name_last_value(code)
    output = monty.CollectString(max_bytes=MAX_OUTPUT)
    try:
        with (
            monty.Monty(max_processes=1, request_timeout=seconds + 5) as pool,
            pool.checkout(limits=limits, os_policy=policy) as session,
        ):
            session.feed_run(named, inputs=inputs, print_callback=output)
            value = session.feed_run(_SHOW, print_callback=output) if has_value else ""
    except FileNotFoundError as error:
        raise ToolError(str(error), cause="unavailable", hint="pip install pydantic-monty") from error
    except monty.MontyError as error:
        raise _explain(error, env, code, output.output) from error
    return output.output, value


def _name_last_value(code: str) -> tuple[str, bool]:
    """The code with its last expression given a name, and whether there is one; line numbers stay.

    What this Python cannot parse (the sandbox reads a newer one) runs as it is, without a last value.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code, False
    if not body or not isinstance(body[-1], ast.Expr):
        return code, False
    lines = code.encode().split(b"\n")
    row, column = body[-1].lineno - 1, body[-1].col_offset
    if row >= len(lines):
        return code, False
    lines[row] = lines[row][:column] + f"{_LAST} = ".encode() + lines[row][column:]
    return b"\n".join(lines).decode(), True


def _tail(printed: str) -> str:
    """The end of what was printed, saying so when the beginning is left out."""
    shown = printed[-2000:].rstrip()
    return shown if len(printed) <= 2000 else f"[... {len(printed) - 2000} characters left out ...]{shown}"


def _explain(error: Any, env: ToolEnv, code: str, printed: str) -> ToolError:
    """The same text each time the same thing goes wrong: neither times nor byte counts."""
    before = f"\nprinted before that:\n{_tail(printed)}" if printed.strip() else ""
    said = error.display(format="type-msg") if hasattr(error, "traceback") else str(error)
    kind = said.split(":")[0]
    crashed = not hasattr(error, "traceback")
    settings = env.settings
    if (kind == "TimeoutError" and "limit exceeded" in said) or getattr(error, "timed_out", False):
        message = f"the code ran longer than {settings.python_seconds:g} s and was stopped"
        return ToolError(message + before, cause="limit", hint="do less work, or in a cheaper way")
    if kind == "MemoryError" or crashed:
        message = (
            f"the code needed more than {settings.python_memory_mb} MB of memory or printed more than 1 MB"
        )
        return ToolError(
            message + before, cause="limit", hint="keep less at a time and print only what matters"
        )
    if "not supported in this environment" in said:
        kind = "PermissionError"
    said = said.replace("The monty syntax parser does not yet support", "the sandbox does not support")
    return ToolError(
        _where(error, code) + said + before, hint=_HINTS.get(kind, "correct the code and run it again")
    )


def _where(error: Any, code: str) -> str:
    """'line 3, `print(a / b)`: ' of the innermost frame of the code, '' where there is none."""
    lines = code.split("\n")
    for frame in reversed(error.traceback()):
        if frame.filename in ("<python-input-0>", "main.py") and 0 < frame.line <= len(lines):
            return f"line {frame.line}, `{lines[frame.line - 1].strip()[:200]}`: "
    return ""
