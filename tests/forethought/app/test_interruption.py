"""Ctrl-C, kills and two processes on one thread: nothing is lost and nothing is corrupted."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forethought.app.main import run_cli
from forethought.storage import open_threads
from forethought.storage.address import file_address
from tests.forethought.app.conftest import Cli
from tests.forethought.app.scripted import choice
from tests.support.model_server import SeenRequest
from tests.support.processes import ROOT

Scripted = Callable[..., Any]


def held_at(
    scripted: Scripted, wanted: str, act: Callable[[], None] = lambda: None
) -> tuple[Any, threading.Event, threading.Event]:
    """A scripted model that acts and holds its reply when asked about `wanted`: (server, reached, go on)."""
    script, server = scripted()
    reached, go_on = threading.Event(), threading.Event()

    def hold(seen: SeenRequest) -> None:
        if seen.reply_name == "ToolChoice" and wanted in seen.last:
            reached.set()
            if not go_on.is_set():
                act()
            go_on.wait(30)

    script.fault = hold
    return server, reached, go_on


def test_ctrl_c_says_how_to_go_on_and_the_thread_does(cli: Cli, scripted: Scripted) -> None:
    server, reached, go_on = held_at(scripted, "Compare both", lambda: os.kill(os.getpid(), signal.SIGINT))
    done = cli("run", "What is 40 + 2?", "--thread", "t1")
    go_on.set()
    assert reached.is_set()
    assert done.code == 130
    assert done.err == "forethought: interrupted; continue with: forethought resume t1\n"
    assert "wave 2: join" in done.out

    assert cli("threads", "--json").json[0]["status"] == "stopped"
    assert cli("show", "t1", "--json").json["status"] == "stopped"
    calls = len(server.requests)
    done = cli("resume", "t1", "--json")
    assert (done.code, done.json["status"]) == (0, "answered"), done.err
    assert server.names[calls:] == ["ToolChoice", "AnswerDraft"], "only what was broken off is done again"


async def test_a_task_that_was_broken_off_leaves_no_half_of_its_writes(tmp_path: Path) -> None:
    """LangGraph saves what a cancelled node had written, and would take it for done without its edge."""
    config: Any = {"configurable": {"thread_id": "t1", "checkpoint_ns": "", "checkpoint_id": "1"}}
    async with open_threads(file_address(tmp_path / "t.sqlite")) as saver:
        await saver.aput_writes(
            config, [("proposals", {"a": 1}), ("__error__", asyncio.CancelledError())], "half"
        )
        await saver.aput_writes(config, [("proposals", {"b": 1}), ("usage", {})], "whole")
        rows = await saver.rows("SELECT task_id, channel FROM writes ORDER BY task_id, channel")
    assert rows == [("half", "__error__"), ("whole", "proposals"), ("whole", "usage")]


def test_a_reader_that_leaves_early_is_no_error(
    cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scripted()
    assert cli("run", "What is 40 + 2?", "--thread", "t1").code == 0
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", buffering=1) as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert run_cli(["show", "t1", "--steps"]) == 1
        print("what is left goes nowhere")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("reader", ["leaves", "disk is full"])
def test_a_run_whose_output_cannot_be_written_says_how_to_find_it_again(
    cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch, reader: str
) -> None:
    scripted()
    error = BrokenPipeError() if reader == "leaves" else OSError(28, "No space left on device")

    def fail(*given: Any, **options: Any) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr("forethought.app.main.os.dup2", lambda *given: None)
        patched.setattr("forethought.app.view.step", fail)
        patched.setattr("forethought.app.run.show_result", fail)
        done = cli("run", "x", "--thread", "t1")
    assert done.code == 1
    assert "see it with: forethought show t1" in done.err
    assert "continue with: forethought resume t1" in done.err
    assert cli("resume", "t1").code == 0


def test_ctrl_c_is_answered_wherever_it_comes(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken_off(*given: Any) -> None:
        raise KeyboardInterrupt

    for place in ("forethought.app.threads.threads.settings_from", "forethought.app.errors.enable_debug"):
        with monkeypatch.context() as patched:
            patched.setattr(place, broken_off)
            done = cli("threads")
        assert (done.code, done.err) == (130, ""), place


TOOLS = '''
import atexit, pathlib, time

def wait_long(what: str) -> str:
    """Wait for a long time.

    Args:
        what: What for.
    """
    atexit.register(pathlib.Path("left").touch)
    pathlib.Path("begun").touch()
    time.sleep(60)
    return what
'''


def test_a_plain_tool_that_cannot_be_stopped_holds_no_process_up(
    cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script, _ = scripted()
    script.toolchoice = lambda seen: choice("call", tool="wait_long", arguments={"what": "it"})
    (tmp_path / "slow_tools.py").write_text(TOOLS)
    monkeypatch.setenv("FORETHOUGHT_TOOLS", "slow_tools")
    process = subprocess.Popen(
        [sys.executable, "-m", "forethought", "run", "Wait", "--thread", "t1"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        until = time.monotonic() + 60
        while not (tmp_path / "begun").exists() and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    said = "forethought: interrupted; continue with: forethought resume t1\n"
    assert (process.returncode, err) == (130, said)
    assert (tmp_path / "left").exists(), "what is to be done at the end of a process is done"
    assert cli("show", "t1", "--json").json["status"] == "stopped"
