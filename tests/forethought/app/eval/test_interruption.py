"""An evaluation that is killed, interrupted or terminated: the same command goes on and repeats nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.forethought.app.conftest import Cli
from tests.forethought.app.eval.conftest import Counting, Start, command, lines, write_data
from tests.support.model_server import Fault, SeenRequest
from tests.support.tiny_benchmark import ONCE

ROOT = Path(__file__).parents[4]
TOKENS = 120
"""What a reply costs."""
IDS = [f"thing{number}" for number in range(8)]
GOES_ON = "to continue, repeat the command"


@pytest.fixture(autouse=True)
def data(tmp_path: Path) -> None:
    """Eight samples, and two to learn from."""
    write_data(tmp_path / "data", *IDS)
    write_data(tmp_path / "data", "one", "two", split="train")


def parallel(*more: str, method: str = ONCE) -> tuple[str, ...]:
    """An evaluation of the eight samples, two at a time."""
    training = ("--train-option", "split=train", "--train", "2")
    return command(*training, "--yes", "--parallel", "2", "--json", *more, method=method)


def test_after_a_kill_no_finished_sample_is_repeated(cli: Cli, counting: Start, tmp_path: Path) -> None:
    policy = Counting(fault=lambda seen: Fault("hang") if seen.n == 5 else None)
    counting(policy)
    process = subprocess.Popen(
        [sys.executable, "-m", "forethought", *parallel()],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    results, until = tmp_path / "o" / "results.jsonl", time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None:
        if results.exists() and results.read_bytes().count(b"\n") >= 7:
            break
        time.sleep(0.05)
    assert process.poll() is None, "it waits for the call that hangs"
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = lines(str(tmp_path / "o"))
    assert len(before) == 7
    with results.open("ab") as file:
        file.write(b'{"method": "once", "sam')  # as a kill within a write leaves it

    policy.fault = lambda seen: None
    policy.asked.clear()
    out = cli(*parallel())
    assert (out.code, out.json["status"]) == (0, "finished"), out.err
    assert (out.json["cost"]["runs"], out.json["cost"]["tokens"]) == (8, 8 * TOKENS)
    assert policy.asked == Counter(set(IDS) - {line["sample"] for line in before})
    assert lines()[:7] == before


def test_ctrl_c_keeps_what_is_done(cli: Cli, counting: Start) -> None:
    def fault(seen: SeenRequest) -> Fault | None:
        if seen.n < 3:
            return None
        os.kill(os.getpid(), signal.SIGINT)
        return Fault("hang")

    policy = Counting(fault=fault)
    counting(policy)
    out = cli(*command("--yes", "--parallel", "1", "--limit", "4"))
    assert (out.code, out.err) == (130, f"forethought: interrupted; {GOES_ON}\n")
    assert len(lines()) == 2
    policy.fault = lambda seen: None
    policy.asked.clear()
    done = cli(*command("--yes", "--json", "--limit", "4"))
    assert (done.code, done.json["status"]) == (0, "finished")
    assert sorted(policy.asked.values()) == [1, 1]


@dataclass
class Held(Counting):
    """A model that answers, but not from its `at`th request on before it is released."""

    at: int = 1
    reached: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.fault = self.wait

    def wait(self, seen: SeenRequest) -> None:
        """Hold the request."""
        if seen.n >= self.at:
            self.reached.set()
            self.released.wait(300)


@pytest.fixture
def held(counting: Start) -> Iterator[Callable[[int], Held]]:
    """Start a held model that the environment points at."""
    models: list[Held] = []

    def start(at: int) -> Held:
        models.append(Held(at=at))
        counting(models[-1])
        return models[-1]

    yield start
    for model in models:
        model.released.set()


@contextmanager
def terminated(model: Held, *, release: bool = False) -> Iterator[None]:
    """Send SIGTERM to this process once the model holds its reply; then, if asked to, release the model."""

    def stop() -> None:
        model.reached.wait(300)
        os.kill(os.getpid(), signal.SIGTERM)
        if release:
            time.sleep(0.1)
            model.released.set()

    thread = threading.Thread(target=stop)
    thread.start()
    yield
    thread.join()


def scored() -> set[str]:
    """The samples that have a score."""
    return {row["sample"] for row in lines() if row["score"] is not None}


def test_after_sigterm_running_samples_finish_and_no_other_begins(
    cli: Cli, held: Callable[[int], Held]
) -> None:
    model = held(4)
    with terminated(model, release=True):
        stopped = cli(*parallel())
    assert (stopped.code, stopped.err.splitlines()[-1]) == (0, f"forethought: stopped by SIGTERM; {GOES_ON}")
    assert (stopped.json["status"], stopped.json["failed"]) == ("incomplete", {})
    assert scored() == set(model.asked), "what was under way has its score"
    assert 4 <= len(scored()) <= 5
    assert stopped.json["open"] == len(IDS) - len(scored())

    done = cli(*parallel())
    assert (done.code, done.json["status"], done.json["cost"]["runs"]) == (0, "finished", 8), done.err
    assert model.asked == Counter(IDS), "nothing was asked twice"


def test_a_sample_that_takes_too_long_is_broken_off_and_begins_anew(
    cli: Cli, held: Callable[[int], Held], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORETHOUGHT_DRAIN_S", "0.3")
    model = held(4)
    with terminated(model):
        stopped = cli(*parallel())
    last = f"forethought: stopped by SIGTERM, with unfinished calls; {GOES_ON}"
    assert (stopped.code, stopped.err.splitlines()[-1]) == (0, last)
    finished = scored()
    assert (len(finished), stopped.json["open"]) == (3, 5)

    model.released.set()
    before = Counter(model.asked)
    done = cli(*parallel())
    assert (done.code, done.json["status"]) == (0, "finished"), done.err
    assert set(model.asked - before) == set(IDS) - finished
