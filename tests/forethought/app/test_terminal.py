"""At a real terminal: questions are asked right there, and Ctrl-C works while one waits."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from forethought.app import questions
from forethought.app.runner import Runner
from tests.forethought.app.conftest import Cli

pty = pytest.importorskip("pty", reason="needs a Unix terminal")
Scripted = Callable[..., Any]
ROOT = Path(__file__).parents[3]


class Terminal:
    """A process with a terminal of its own."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.master, inner = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "forethought.app.main", *arguments],
            cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"},
            stdin=inner, stdout=inner, stderr=inner,
        )  # fmt: skip
        os.close(inner)
        self.seen, self.read = "", 0

    def until(self, wanted: str, seconds: float = 60) -> None:
        """Read until `wanted` stands there after what was read before."""
        deadline = time.monotonic() + seconds
        while wanted not in self.seen[self.read :]:
            assert time.monotonic() < deadline, self.seen
            assert self._drain() or self.process.poll() is None, self.seen
        self.read = self.seen.index(wanted, self.read) + len(wanted)

    def type(self, text: str) -> None:
        """Type a line."""
        os.write(self.master, f"{text}\n".encode())

    def end(self) -> int:
        """Wait for the process and return its exit code."""
        deadline = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < deadline:
            self._drain()
        self._drain()
        return self.process.wait(timeout=1)

    def _drain(self) -> bool:
        """Read what is there; whether there was anything."""
        before = len(self.seen)
        try:
            while select.select([self.master], [], [], 0.1)[0]:
                self.seen += os.read(self.master, 4096).decode(errors="replace")
        except OSError:  # Linux says so when the other end is closed
            time.sleep(0.05)
        return len(self.seen) > before

    def close(self) -> None:
        """End it, whatever its state."""
        self.process.kill()
        self.process.wait()
        os.close(self.master)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Start the command line at a terminal."""
    opened: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        opened.append(Terminal(tmp_path, *arguments))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def test_a_plan_is_approved_at_the_terminal_and_ctrl_c_leaves_a_question_waiting(
    cli: Cli, scripted: Scripted, terminal: Callable[..., Terminal]
) -> None:
    _, server = scripted(question="Which \x1b[5mcolour?")
    shown = terminal("run", "What is it?", "--thread", "t1", "--set", "approve_plan=true")
    shown.until("REASON > ")
    shown.type("perhaps")
    shown.until("could not be used: decision must be approve")
    shown.until("REASON > ")
    shown.type("approve")
    shown.until("ask asks: Which colour?")
    shown.until("> ")
    time.sleep(0.5)  # until it reads: Python may miss a signal between its prompt and its reading
    shown.process.send_signal(signal.SIGINT)
    assert shown.end() == 130, shown.seen
    assert "interrupted; continue with: forethought resume t1" in shown.seen
    assert "\x1b[5m" not in shown.seen, "the model's own escapes do not reach the terminal"
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
