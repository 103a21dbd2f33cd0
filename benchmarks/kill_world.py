"""The world of `benchmarks/kills.py`: tools whose effects are counted in files, and the model that calls
them.

The tools write with O_APPEND and fsync, and rest before and after, so that a kill often falls between an
effect and what is known of it. The model plans a wave of four (two changes, a read, a program), then three
steps one after the other, and revises the plan and one move.
"""

from __future__ import annotations

import os
import random
import re
import signal
import time
from pathlib import Path
from typing import Any

from forethought.tools.base import ToolEnv, make_tool
from tests.support.exchange import SeenRequest
from tests.support.replies import answer, call, diagnosis, finish, plan, sub

Json = dict[str, Any]
FOLDER, THREAD, AT = "KILLS_FOLDER", "KILLS_THREAD", "KILLS_AT"
"""Environment variables: where the files are, whose they are, and at which effect the process kills itself
(`begun rent`, `done rent`)."""
EFFECTS = ("rent", "letter", "books")
APPROVED = {"rent": 1, "books": 2}
"""The writes among them, with the number of processes that end before each to wait for an approval."""
STEPS = 7
READS = ("prices", "one", "two")
REQUESTS = (
    "Plan 2", "Plan 4", "PlanDiagnosis 2", "rent 2", "post 2", "look 2", "look 4", "code 2", "code again 2",
    "sum 2", "close 2", "AnswerDraft 2",
)  # fmt: skip
WIDTH = 4
"""Calls in parallel."""
PROGRAM = 'print(look_up("one"))\nprint(look_up("two"))'
_REST_S = 0.03


def note(folder: str | Path, thread: str, kind: str, line: str) -> None:
    """Add a line to a file of the thread's, for good."""
    path = Path(folder) / f"{thread}.{kind}"
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"{line}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def noted(folder: str | Path, thread: str, kind: str) -> list[str]:
    """The lines of a file of the thread's."""
    path = Path(folder) / f"{thread}.{kind}"
    return path.read_text().splitlines() if path.exists() else []


def _rest() -> None:
    time.sleep(random.random() * _REST_S)


def _effect(kind: str, line: str) -> None:
    _rest()
    _kill_at(f"begun {line}")
    note(os.environ[FOLDER], os.environ[THREAD], kind, line)
    _kill_at(f"done {line}")
    _rest()


def _kill_at(moment: str) -> None:
    if os.environ.get(AT) == moment:
        os.kill(os.getpid(), signal.SIGKILL)


def pay(env: ToolEnv, what: str) -> str:
    """Pay something.

    Args:
        what: What to pay.
    """
    _effect("effects", what)
    return f"paid {what}"


def send(env: ToolEnv, what: str) -> str:
    """Send something by post.

    Args:
        what: What to send.
    """
    _effect("effects", what)
    return f"sent {what}"


def look_up(name: str) -> str:
    """Look something up.

    Args:
        name: What to look up.
    """
    _effect("reads", name)
    return f"value of {name}"


TOOLS = [make_tool(pay, effect="write"), make_tool(send, effect="egress"), make_tool(look_up)]


def policy(folder: Path) -> Any:
    """The model; each request that it is asked is noted with its thread."""

    def reply(seen: SeenRequest) -> Json:
        text = seen.messages[1][1]
        thread = re.search(r"thread (\S+)\.", text)
        subtask = re.search(r'<subtask id="([^"]+)">', text)
        key = seen.reply_name
        if seen.reply_name == "ToolChoice" and subtask:
            key = subtask[1] + (" again" if "value of one" in text and subtask[1] == "code" else "")
        assert thread
        note(folder, thread[1], "requests", f"{key} {len(seen.messages)}")
        time.sleep(random.random() * _REST_S)
        return _reply(key, revised=len(seen.messages) > 2)

    return reply


def _reply(key: str, *, revised: bool) -> Json:
    score = 9 if revised else 5
    first = ("rent", "post", "look", "code")
    moves = {
        "Plan": plan(*map(sub, first), sub("sum", first), sub("close", ["sum"]), score=score),
        "PlanDiagnosis": diagnosis(),
        "AnswerDraft": answer("all is done"),
        "rent": call(tool="pay", what="rent"),
        "post": call(tool="send", what="letter"),
        "look": call(tool="look_up", name="prices", score=score),
        "code": call(tool="python", code=PROGRAM, finishes=False),
        "close": call(tool="pay", what="books"),
    }
    return moves.get(key) or finish("done")
