"""pydantic-monty: a Python subset in a worker process that sees no files, network, environment or modules of
ours.

The worker is started for one program and ends with it. Its limits hold inside and from outside (a worker that
does not stop is killed a second after its time), so a runaway program neither goes on nor leaves a busy
thread behind. The synchronous client is used, in a thread: the asynchronous one of release 1.4 aborts the
whole process at exit about every second time.
"""

from __future__ import annotations

import ast
import warnings
from typing import Any

from forethought.tools.base import ToolError
from forethought.tools.sandbox.program import (
    MAX_OUTPUT,
    MODULES,
    Program,
    at_line,
    printed_before,
    too_big,
    too_slow,
)

_IMPORTS = f"import {', '.join(MODULES)}"
_PROGRAM_FILES = ("<python-input-1>", "main.py")
"""What tracebacks call the program, which is fed after the imports."""
_LAST = "_last_value_"
_SHOW = f"('' if {_LAST} is None else {_LAST} if isinstance({_LAST}, str) else repr({_LAST}))[:{MAX_OUTPUT}]"
_NO_WORLD = (
    "code can use no files, network or environment; `files` has the given files' texts, `tables` their tables"
)
_HINTS = {
    "NotImplementedError": "the sandbox is a subset of Python: no class inheritance, no own "
    "exception classes, no property, classmethod, staticmethod, yield or del; functions, lists and dicts do",
    "ModuleNotFoundError": f"only these modules exist: {', '.join(MODULES)}; write out what another would do",
    "PermissionError": _NO_WORLD,
    "SyntaxError": "send the whole program again, corrected",
}
_CALLS = 200_000
"""Calls of host functions: a program may read each file of a large folder."""


def run_monty(program: Program) -> tuple[str, str]:
    """The default backend. The last value is made text inside, where the limits hold."""
    import pydantic_monty as monty

    limits: monty.ResourceLimits = {
        "max_feed_duration_secs": program.seconds,
        "max_memory": program.memory_mb << 20,
        "max_suspensions": _CALLS,
    }
    # Sleeping costs nothing; random numbers are the same each time, as playing back a recording needs.
    policy: monty.OSPolicy = {"sleep": "zero", "random_start": {"seed": 0}}
    named, has_value = _name_last_value(program.code)
    output = monty.CollectString(max_bytes=MAX_OUTPUT)
    try:
        with (
            monty.Monty(max_processes=1, request_timeout=program.seconds + 5) as pool,
            pool.checkout(limits=limits, os_policy=policy) as session,
        ):
            session.feed_run(_IMPORTS)
            session.feed_run(
                named,
                inputs=dict(program.inputs),
                external_lookup=dict(program.functions),
                print_callback=output,
            )
            value = session.feed_run(_SHOW, print_callback=output) if has_value else ""
    except monty.MontyError as error:
        raise _explain(error, program, output.output) from error
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


def _explain(error: Any, program: Program, printed: str) -> ToolError:
    """The same text each time the same thing goes wrong: neither times nor byte counts."""
    message = error.display(format="type-msg") if hasattr(error, "traceback") else str(error)
    kind = message.split(":")[0]
    if (kind == "TimeoutError" and "limit exceeded" in message) or getattr(error, "timed_out", False):
        return too_slow(program, printed)
    if kind == "MemoryError" or not hasattr(error, "traceback"):
        return too_big(program, printed)
    if "not supported in this environment" in message:
        kind = "PermissionError"
    message = message.replace("The monty syntax parser does not yet support", "the sandbox does not support")
    return ToolError(
        _where(error, program.code) + message + printed_before(printed),
        hint=_HINTS.get(kind, "correct the code and run it again"),
    )


def _where(error: Any, code: str) -> str:
    """Where in the code the innermost frame is."""
    for frame in reversed(error.traceback()):
        if frame.filename in _PROGRAM_FILES and (where := at_line(code, frame.line)):
            return where
    return ""
