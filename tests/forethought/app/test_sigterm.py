"""SIGTERM: the calls under way finish, no other begins, and the thread is left to be gone on with."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.forethought.app.conftest import Cli
from tests.support.model_server import SeenRequest

Scripted = Callable[..., Any]


@pytest.fixture
def hold() -> Iterator[threading.Event]:
    """Lets go of the models that a test holds; at its end at the latest."""
    event = threading.Event()
    yield event
    event.set()


def terminated_at(scripted: Scripted, wanted: str, *, times: int, until: threading.Event | None) -> Any:
    """A scripted model that, asked for the move that names `wanted`, has this process told to stop, and holds
    its reply until then."""
    script, server = scripted()
    told: list[int] = []

    def stop(seen: SeenRequest) -> None:
        if seen.reply_name == "ToolChoice" and wanted in seen.last and not told:
            told.append(seen.n)
            for _ in range(times):
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(0.1)
            if until is not None:
                until.wait(30)

    script.fault = stop
    return server


def test_the_call_under_way_finishes_and_the_thread_goes_on_from_there(cli: Cli, scripted: Scripted) -> None:
    server = terminated_at(scripted, "Compare both", times=1, until=None)
    before = signal.getsignal(signal.SIGTERM)
    stopped = cli("run", "What is 40 + 2?", "--thread", "t1")
    assert stopped.code == 0
    assert stopped.err == "forethought: stopped by SIGTERM; continue with: forethought resume t1\n"
    assert signal.getsignal(signal.SIGTERM) is before

    calls = len(server.requests)
    done = cli("resume", "t1", "--json")
    assert (done.code, done.json["status"]) == (0, "answered"), done.err
    assert server.names[calls:] == ["AnswerDraft"], "the call that was under way is not made again"


def test_the_json_object_says_that_the_task_is_not_over(cli: Cli, scripted: Scripted) -> None:
    terminated_at(scripted, "Compare both", times=1, until=None)
    stopped = cli("run", "What is 40 + 2?", "--thread", "t1", "--json")
    assert (stopped.code, stopped.json["status"], stopped.json["answer"]) == (0, "running", "")


@pytest.mark.parametrize(("seconds", "times"), [("0.3", 1), ("60", 2)], ids=["time-is-up", "second-signal"])
def test_a_call_that_is_not_to_be_waited_for_is_broken_off(
    cli: Cli,
    scripted: Scripted,
    hold: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
    seconds: str,
    times: int,
) -> None:
    server = terminated_at(scripted, "Compare both", times=times, until=hold)
    monkeypatch.setenv("FORETHOUGHT_DRAIN_S", seconds)
    started = time.monotonic()
    stopped = cli("run", "What is 40 + 2?", "--thread", "t1")
    assert time.monotonic() - started < 20
    assert stopped.code == 0
    assert stopped.err.startswith("forethought: stopped by SIGTERM, with calls broken off; continue with")

    hold.set()
    calls = len(server.requests)
    assert cli("resume", "t1").code == 0
    assert server.names[calls:] == ["ToolChoice", "AnswerDraft"]
