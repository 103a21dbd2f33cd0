"""Ctrl-C, kills and two processes on one thread: nothing is lost and nothing is corrupted."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from forethought.storage import open_threads
from forethought.storage.address import file_address
from tests.forethought.app.conftest import Cli
from tests.support.model_server import SeenRequest

Scripted = Callable[..., Any]
ROOT = Path(__file__).parents[3]
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start the command line as a process of its own; it ends with the test."""
    running: list[subprocess.Popen[str]] = []

    def begin(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "forethought.app.main", *arguments],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        running.append(process)
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate()


def held_at(scripted: Scripted, wanted: str) -> tuple[Any, threading.Event, threading.Event]:
    """A scripted model that holds its reply for the move that names `wanted`: (server, reached, go on)."""
    script, server = scripted()
    reached, go_on = threading.Event(), threading.Event()

    def hold(seen: SeenRequest) -> None:
        if seen.reply_name == "ToolChoice" and wanted in seen.last:
            reached.set()
            go_on.wait(30)

    script.fault = hold
    return server, reached, go_on


def test_ctrl_c_says_how_to_go_on_and_the_thread_does(cli: Cli, scripted: Scripted, start: Start) -> None:
    server, reached, go_on = held_at(scripted, "Compare both")
    process = start("run", "What is 40 + 2?", "--thread", "t1")
    assert reached.wait(60)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err == "forethought: interrupted; continue with: forethought resume t1\n"
    assert "wave 2: join" in out
    go_on.set()

    assert cli("threads", "--json").json[0]["status"] == "stopped"
    assert cli("show", "t1", "--json").json["status"] == "stopped"
    calls = len(server.requests)
    done = cli("resume", "t1", "--json")
    assert (done.code, done.json["status"]) == (0, "answered"), done.err
    assert server.names[calls:] == ["ToolChoice", "AnswerDraft"], "only what was broken off is done again"


def test_a_killed_process_loses_nothing_that_was_finished(cli: Cli, scripted: Scripted, start: Start) -> None:
    server, reached, go_on = held_at(scripted, "Compare both")
    process = start("run", "What is 40 + 2?", "--thread", "t1")
    assert reached.wait(60)
    process.kill()
    process.communicate()
    go_on.set()
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


def test_a_second_process_on_a_thread_is_refused(cli: Cli, scripted: Scripted, start: Start) -> None:
    _, reached, go_on = held_at(scripted, "Compare both")
    process = start("run", "What is 40 + 2?", "--thread", "t1", "--json")
    assert reached.wait(60)
    try:
        assert cli("threads", "--json").json[0]["status"] == "running"
        for command in (
            ["resume", "t1"],
            ["run", "Something else", "--thread", "t1"],
            ["fork", "t1", "--before", "1"],
        ):
            refused = cli(*command)
            assert refused.code == 1, command
            assert "is being run by another process" in refused.err
        assert cli("run", "What is 40 + 2?", "--thread", "t2", "--set", "max_steps=1").code == 3, (
            "other threads run"
        )
    finally:
        go_on.set()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert json.loads(out)["status"] == "answered"


def test_a_reader_that_leaves_early_is_no_error(cli: Cli, scripted: Scripted, start: Start) -> None:
    scripted()
    for number in range(3):
        assert cli("run", "What is 40 + 2?", "--thread", f"t{number}").code == 0
    process = start("show", "t1", "--steps")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    process.wait(timeout=60)
    assert process.stderr.read() == ""


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
        patched.setattr("forethought.app.display.Display._step", fail)
        patched.setattr("forethought.app.run.show_result", fail)
        done = cli("run", "x", "--thread", "t1")
    assert done.code == 1
    assert "see it with: forethought show t1" in done.err
    assert "continue with: forethought resume t1" in done.err
    assert cli("resume", "t1").code == 0


def test_a_run_whose_reader_leaves_names_its_thread(scripted: Scripted, start: Start) -> None:
    _, reached, go_on = held_at(scripted, "Compare both")
    process = start("run", "x", "--thread", "t1")
    assert reached.wait(60)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    go_on.set()
    assert process.wait(timeout=60) == 1
    said = process.stderr.read()
    assert "forethought show t1" in said
    assert "Traceback" not in said
    assert "Exception ignored" not in said
    process.stdout = None  # nothing is left to be read at the end


def test_ctrl_c_is_answered_wherever_it_comes(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken_off(*given: Any) -> None:
        raise KeyboardInterrupt

    for place in ("forethought.app.threads.threads.threads", "forethought.app.errors.enable_debug"):
        with monkeypatch.context() as patched:
            patched.setattr(place, broken_off)
            done = cli("threads")
        assert (done.code, done.err) == (130, ""), place
