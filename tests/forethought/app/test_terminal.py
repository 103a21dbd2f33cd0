"""At a real terminal: questions are asked right there, and Ctrl-C works while one waits."""

from __future__ import annotations

import io
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from forethought.app import questions
from forethought.app.display import make_console
from forethought.app.runner import Runner
from tests.forethought.app.conftest import Cli

pty = pytest.importorskip("pty", reason="needs a Unix terminal")
Scripted = Callable[..., Any]
ROOT = Path(__file__).parents[3]


def at_terminal(folder: Path, arguments: list[str], turns: list[tuple[str, str | signal.Signals]]) -> Any:
    """Run a command at a terminal: at each prompt, what follows is typed, or sent as a signal.

    Returns its exit code and the screen.
    """
    outer, inner = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "forethought.app.main", *arguments],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"},
        stdin=inner, stdout=inner, stderr=inner,
    )  # fmt: skip
    os.close(inner)
    screen, at = "", 0
    try:
        for prompt, reply in turns:
            while prompt not in screen[at:]:
                assert select.select([outer], [], [], 60)[0], screen
                screen += os.read(outer, 4096).decode(errors="replace")
            at = screen.index(prompt, at) + len(prompt)
            if isinstance(reply, str):
                os.write(outer, f"{reply}\n".encode())
            else:
                time.sleep(0.5)  # until it reads: Python may miss a signal between its prompt and its reading
                process.send_signal(reply)
        with suppress(OSError):  # which Linux raises when the other end is closed
            while text := os.read(outer, 4096):
                screen += text.decode(errors="replace")
        return process.wait(60), screen
    finally:
        process.kill()
        process.wait()
        os.close(outer)


def test_a_plan_is_approved_at_the_terminal_and_ctrl_c_leaves_a_question_waiting(
    cli: Cli, scripted: Scripted, tmp_path: Path
) -> None:
    _, server = scripted(question="Which \x1b[5mcolour?")
    code, screen = at_terminal(
        tmp_path,
        ["run", "What is it?", "--thread", "t1", "--set", "approve_plan=true"],
        [
            ("JSON > ", "perhaps"),
            ("write approve, reject, edit, or yes or no", ""),
            ("JSON > ", "approve"),
            ("ask asks: Which colour?", ""),
            ("> ", signal.SIGINT),
        ],
    )
    assert code == 130, screen
    assert "interrupted; continue with: forethought resume t1" in screen
    assert "\x1b[5m" not in screen, "the model's own escapes do not reach the terminal"
    assert cli("resume", "t1", "--reply", "red").code == 0
    assert any("red" in seen.last for seen in server.requests if seen.reply_name == "AnswerDraft")


def test_a_question_is_answered_in_place_or_left_waiting_where_the_terminal_is_closed(
    cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted(question="Which colour?")
    typed = iter(["", "red"])

    def read(prompt: str) -> str:
        if line := next(typed, None):
            return line
        raise EOFError

    monkeypatch.setattr(Runner, "interactive", True)
    ask = partial(questions.ask, read=read)
    monkeypatch.setattr("forethought.app.questions.ask", ask)
    left = cli("run", "What is it?", "--thread", "t1")
    assert (left.code, "forethought resume t1 --reply" in left.err) == (4, True)
    done = cli("resume", "t1")
    assert (done.code, "answered" in done.out) == (0, True), done


def test_what_was_typed_before_a_question_was_seen_is_no_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    outer, inner = pty.openpty()
    with os.fdopen(outer, "w", buffering=1) as keys, os.fdopen(inner) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        keys.write("approve\n")

        def read(prompt: str) -> str:
            keys.write("reject: not now\n")
            return terminal.readline()

        reply = questions.ask(make_console(io.StringIO()), {"kind": "plan", "plan": {}}, read)
    assert (reply["decision"], reply["reason"]) == ("reject", "not now")
