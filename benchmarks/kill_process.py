"""Processes that are killed: `forethought` in a fork of this one, which has loaded everything before, or
begun anew with `python -m forethought`."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Kill:
    """When a process is killed."""

    kind: str
    """before or after a durable write; begun or done: before or after an effect; within: at a moment; exec:
    at a moment, of a process begun anew."""
    at: float = 0
    """The number of the write, from 1, or seconds."""
    effect: str = ""
    """Which effect."""


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    killed: bool
    code: int
    out: str
    err: str = ""


def load() -> None:
    """Load what a run needs, once for all forks."""
    import langchain_openai
    import pydantic_monty

    import forethought.app.commands
    import forethought.app.main
    import forethought.app.run
    import forethought.app.runner
    import forethought.graph.agent
    import forethought.state.history
    import forethought.storage.sqlite
    import forethought.tools.python

    del langchain_openai, pydantic_monty, forethought
    # What is loaded is not collected again in each fork.
    gc.collect()
    gc.freeze()


def run(arguments: Sequence[str], env: dict[str, str], folder: Path, kill: Kill | None) -> Ended:
    """Run a command line in `folder`, and kill it as `kill` says, unless it has ended by then."""
    out, err = folder / "out", folder / "err"
    if kill is not None and kill.kind == "exec":
        return _begun_anew(arguments, env, folder, kill)
    out.write_text("")
    err.write_text("")
    pid = os.fork()
    if pid == 0:
        _child(arguments, env, folder, kill)
    if kill is not None and kill.kind == "within":
        _kill_after(pid, kill.at)
    _, status = os.waitpid(pid, 0)
    killed = os.WIFSIGNALED(status)
    code = -1 if killed else os.waitstatus_to_exitcode(status)
    return Ended(killed, code, out.read_text(), err.read_text())


def _kill_after(pid: int, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return
        time.sleep(0.002)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _child(arguments: Sequence[str], env: dict[str, str], folder: Path, kill: Kill | None) -> None:
    """The forked process: it never returns."""
    code = 1
    try:
        os.environ.update(env)
        os.chdir(folder)
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(folder / name, os.O_WRONLY | os.O_APPEND), number)
        sys.stdout = os.fdopen(1, "w")
        sys.stderr = os.fdopen(2, "w")
        written = _watch_writes(kill)
        from forethought.app.main import run_cli

        code = run_cli(arguments)
        (folder / "writes").write_text(str(len(written)))
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _watch_writes(kill: Kill | None) -> list[str]:
    """The durable writes of this process, as they come. Before or after one of them it kills itself."""
    from forethought.storage.sqlite import SqliteThreads

    written: list[str] = []

    def wrapped(name: str, method: Any) -> Any:
        async def write(*given: Any, **named: Any) -> Any:
            written.append(name)
            mine = kill is not None and kill.at == len(written) and kill.kind in ("before", "after")
            if mine and kill is not None and kill.kind == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            done = await method(*given, **named)
            if mine:
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        return write

    for name in ("aput", "aput_writes"):
        setattr(SqliteThreads, name, wrapped(name, getattr(SqliteThreads, name)))
    return written


def _begun_anew(arguments: Sequence[str], env: dict[str, str], folder: Path, kill: Kill) -> Ended:
    process = subprocess.Popen(
        [sys.executable, "-m", "forethought", *arguments],
        cwd=folder,
        env={**os.environ, **env, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        out, _ = process.communicate(timeout=kill.at)
    except subprocess.TimeoutExpired:
        process.kill()
        out, _ = process.communicate()
    return Ended(process.returncode == -signal.SIGKILL, process.returncode, out)
