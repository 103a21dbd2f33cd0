"""What runs inside the sandbox of the sandlock backend: a file of its own that imports nothing of ours.

It speaks JSON lines with `tools.sandbox.sandlock` over what were its standard input and output; the program's
own output goes to standard error. Nothing here guards anything: the kernel does, and the other side
believes nothing that this side says.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import random
import sys
import threading
import traceback
import types
import warnings
from collections.abc import Callable
from typing import Any

FILE = "main.py"


class Channel:
    """The line to the other side; one request at a time, whatever threads the program has."""

    def __init__(self) -> None:
        self._in = os.fdopen(os.dup(0), "rb")
        self._out = os.fdopen(os.dup(1), "wb")
        self._lock = threading.Lock()
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.dup2(2, 1)

    def send(self, message: dict[str, Any]) -> None:
        """Send a message."""
        self._out.write(json.dumps(message).encode() + b"\n")
        self._out.flush()

    def receive(self) -> dict[str, Any]:
        """Wait for a message."""
        message: dict[str, Any] = json.loads(self._in.readline() or b"{}")
        return message

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a message and wait for its reply."""
        with self._lock:
            sys.stdout.flush()
            self.send(message)
            return self.receive()


def function(channel: Channel, name: str) -> Callable[..., str]:
    """A tool of the other side as a function."""

    def call(*positional: Any, **named: Any) -> str:
        try:
            reply = channel.ask({"call": name, "positional": positional, "named": named})
        except TypeError as error:
            raise RuntimeError(f"arguments: only plain values can be handed over ({error})") from None
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return str(reply["text"])

    call.__name__ = name
    return call


def run(code: str, space: dict[str, Any], limit: int) -> dict[str, Any]:
    """Run the program; its last value as text, or its error with the line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code, FILE)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            main = compile(tree, FILE, "exec")
            end = compile(ast.Expression(last.value), FILE, "eval") if isinstance(last, ast.Expr) else None
        exec(main, space)
        value = None if end is None else eval(end, space)
        shown = "" if value is None else value if isinstance(value, str) else repr(value)
        return {"value": str(shown[:limit])}
    except MemoryError:
        return {"memory": True}
    except SystemExit as error:
        return {"value": ""} if error.code in (None, 0) else _failure(error)
    except BaseException as error:
        return _failure(error)


def _failure(error: BaseException) -> dict[str, Any]:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILE]
    if isinstance(error, SyntaxError) and error.filename == FILE:
        lines.append(error.lineno)
    message = " ".join("".join(traceback.format_exception_only(error)[-1:]).split())
    return {"error": message[:4000], "line": (lines or [0])[-1] or 0}


def main() -> None:
    """Serve one program."""
    channel = Channel()
    channel.send({"ready": True})
    job = channel.receive()
    sys.path += job["paths"]
    random.seed(0)
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    module.__dict__.update({name: importlib.import_module(name) for name in job["modules"]})
    module.__dict__.update(job["inputs"])
    module.__dict__.update({name: function(channel, name) for name in job["functions"]})
    outcome = run(job["code"], module.__dict__, job["limit"])
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # the program may have closed it
            continue
    try:
        channel.send(outcome)
    except (OSError, ValueError):  # the program has closed this line, too
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    main()
