"""Ctrl-C, SIGTERM and a reader that leaves: nothing is lost, and how to go on is said."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from forethought.app.main import run_cli
from forethought.storage import open_threads
from forethought.storage.address import file_address
from tests.forethought.app.conftest import Cli
from tests.forethought.app.scripted import choice, own_subtask
from tests.support.model_server import SeenRequest
from tests.support.processes import ROOT

Scripted = Callable[..., Any]


@pytest.fixture
def hold() -> Iterator[threading.Event]:
    """Lets go of the models that a test holds; at its end at the latest."""
    event = threading.Event()
    yield event
    event.set()


def signalled(scripted: Scripted, *signals: signal.Signals, until: threading.Event | None = None) -> Any:
    """A scripted model that sends this process signals when it is asked for the move of the last subtask.

    It holds its reply `until` then.
    """
    script, server = scripted()
    sent: list[int] = []

    def stop(seen: SeenRequest) -> None:
        if "Compare both" in own_subtask(seen) and not sent:
            sent.append(seen.n)
            for number in signals:
                os.kill(os.getpid(), number)
                time.sleep(0.1)
            if until is not None:
                until.wait(30)

    script.fault = stop
    return server


def test_ctrl_c_says_how_to_go_on_and_the_thread_does(
    cli: Cli, scripted: Scripted, hold: threading.Event
) -> None:
    server = signalled(scripted, signal.SIGINT, until=hold)
    done = cli("run", "What is 40 + 2?", "--thread", "t1")
    hold.set()
    assert done.code == 130
    assert done.err == "forethought: interrupted; continue with: forethought resume t1\n"
    assert "wave 2: join" in done.out

    assert cli("threads", "--json").json[0]["status"] == "stopped"
    assert cli("show", "t1", "--json").json["status"] == "stopped"
    calls = len(server.requests)
    done = cli("resume", "t1", "--json")
    assert (done.code, done.json["status"]) == (0, "answered"), done.err
    assert server.names[calls:] == ["ToolChoice", "AnswerDraft"], "only what was broken off is done again"


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_on_sigterm_the_call_under_way_finishes_and_the_thread_goes_on_from_there(
    cli: Cli, scripted: Scripted, flags: tuple[str, ...]
) -> None:
    server = signalled(scripted, signal.SIGTERM)
    before = signal.getsignal(signal.SIGTERM)
    stopped = cli("run", "What is 40 + 2?", "--thread", "t1", *flags)
    assert stopped.code == 0
    assert stopped.err.endswith("forethought: stopped by SIGTERM; continue with: forethought resume t1\n")
    if flags:
        assert (stopped.json["status"], stopped.json["answer"]) == ("stopped", "")
    assert signal.getsignal(signal.SIGTERM) is before

    calls = len(server.requests)
    done = cli("resume", "t1", "--json")
    assert (done.code, done.json["status"]) == (0, "answered"), done.err
    assert server.names[calls:] == ["AnswerDraft"], "the call that was under way is not made again"


@pytest.mark.parametrize(("seconds", "times"), [("0.3", 1), ("60", 2)], ids=["time-is-up", "second-signal"])
def test_a_call_that_is_not_to_be_waited_for_is_broken_off(
    cli: Cli,
    scripted: Scripted,
    hold: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
    seconds: str,
    times: int,
) -> None:
    server = signalled(scripted, *[signal.SIGTERM] * times, until=hold)
    monkeypatch.setenv("FORETHOUGHT_DRAIN_S", seconds)
    started = time.monotonic()
    stopped = cli("run", "What is 40 + 2?", "--thread", "t1")
    assert time.monotonic() - started < 20
    assert stopped.code == 0
    assert stopped.err.startswith("forethought: stopped by SIGTERM, with unfinished calls; continue with")

    hold.set()
    calls = len(server.requests)
    assert cli("resume", "t1").code == 0
    assert server.names[calls:] == ["ToolChoice", "AnswerDraft"]


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


def test_a_run_whose_output_cannot_be_written_says_how_to_find_it_again(
    cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted()

    def fail(*given: Any, **options: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
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
