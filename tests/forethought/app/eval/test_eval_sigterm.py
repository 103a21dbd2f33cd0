"""SIGTERM to `forethought eval run`: samples under way come to their ends, no other begins, and the
same command goes on."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.forethought.app.conftest import Cli
from tests.support.model_server import Answer, ModelServer, Reply, SeenRequest
from tests.support.tiny_benchmark import LEARNS, NAME, ONCE, TWICE

TOKENS = 120
"""What a reply costs."""
IDS = [f"thing{number}" for number in range(8)]


@dataclass
class Held:
    """A model that answers, but not from its `at`th request on before it is let go of."""

    at: int
    asked: Counter[str] = field(default_factory=Counter)
    reached: threading.Event = field(default_factory=threading.Event)
    free: threading.Event = field(default_factory=threading.Event)

    def __call__(self, seen: SeenRequest) -> Answer:
        self.asked[seen.last.split()[-1].rstrip(".")] += 1
        if seen.n >= self.at:
            self.reached.set()
            self.free.wait(300)
        return Reply({"answer": "42"})


@pytest.fixture
def held(
    model_server: Callable[..., ModelServer], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Callable[[int], Held]]:
    """Start a held model that the environment points at, beside the benchmark's data."""
    models: list[Held] = []
    (tmp_path / "data").mkdir()
    for split, ids in (("test", IDS), ("train", ["one", "two"])):
        rows = [json.dumps({"id": name, "target": "42"}) for name in ids]
        (tmp_path / "data" / f"{split}.jsonl").write_text("\n".join(rows))

    def start(at: int) -> Held:
        models.append(Held(at))
        monkeypatch.setenv("FORETHOUGHT_BASE_URL", model_server(models[-1]).url)
        monkeypatch.setenv("FORETHOUGHT_MODEL", "openai:scripted")
        monkeypatch.setenv("FORETHOUGHT_REQUEST_RETRIES", "0")
        return models[-1]

    yield start
    for model in models:
        model.free.set()


def command(method: str = ONCE, *more: str) -> tuple[str, ...]:
    """An evaluation of eight samples, two at a time."""
    chosen = ("--method", method, "--train-option", "split=train", "--train", "2")
    folders = ("--data", "data", "--out", "o")
    return ("eval", "run", NAME, *chosen, *folders, "--yes", "--parallel", "2", "--json", *more)


def scored(folder: Path) -> set[str]:
    """The samples that are kept with a score."""
    rows = map(json.loads, (folder / "o" / "results.jsonl").read_text().splitlines())
    return {row["sample"] for row in rows if row["score"] is not None}


def test_samples_under_way_finish_no_other_begins_and_the_same_command_goes_on(
    cli: Cli, held: Callable[[int], Held], tmp_path: Path
) -> None:
    model = held(4)
    with terminated(model, free=True):
        stopped = cli(*command())
    line = "forethought: stopped by SIGTERM; the same command goes on with it"
    assert (stopped.code, stopped.err.splitlines()[-1]) == (0, line)
    assert (stopped.json["status"], stopped.json["failed"]) == ("incomplete", {})
    kept = scored(tmp_path)
    assert kept == set(model.asked), "what was under way has its score"
    assert 4 <= len(kept) <= 5
    assert stopped.json["open"] == len(IDS) - len(kept)

    done = cli(*command())
    assert (done.code, done.json["status"], done.json["cost"]["runs"]) == (0, "finished", 8), done.err
    assert model.asked == Counter(IDS), "nothing was asked twice"


def test_a_sample_that_takes_too_long_is_broken_off_and_begins_anew(
    cli: Cli, held: Callable[[int], Held], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORETHOUGHT_DRAIN_S", "0.3")
    model = held(4)
    with terminated(model):
        stopped = cli(*command())
    told = "forethought: stopped by SIGTERM, with calls broken off; the same command goes on with it"
    assert (stopped.code, stopped.err.splitlines()[-1]) == (0, told)
    kept = scored(tmp_path)
    assert (len(kept), stopped.json["open"]) == (3, 5)

    model.free.set()
    before = Counter(model.asked)
    done = cli(*command())
    assert (done.code, done.json["status"]) == (0, "finished"), done.err
    assert set(model.asked - before) == set(IDS) - kept


@pytest.mark.parametrize(
    ("method", "at", "replies"), [(TWICE, 2, 1), (f"{ONCE},{LEARNS}", 3, 2)], ids=["sample", "training"]
)
def test_what_was_broken_off_counts_to_the_caps(
    cli: Cli,
    held: Callable[[int], Held],
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    at: int,
    replies: int,
) -> None:
    monkeypatch.setenv("FORETHOUGHT_DRAIN_S", "0.3")
    model = held(at)
    cap = str(TOKENS * replies)
    with terminated(model):
        stopped = cli(*command(method, "--max-tokens-total", str(10 * TOKENS)))
    assert stopped.code == 0, stopped.err
    asked = model.asked.total()
    assert asked == replies + 1, "one was in flight"
    model.free.set()
    for _ in range(2):
        capped = cli(*command(method, "--max-tokens-total", cap))
        assert (capped.code, capped.json["status"], capped.json["capped"]) == (3, "incomplete", True)
        assert capped.json["cost"]["tokens"] == TOKENS * replies
        assert capped.err.splitlines()[-1] == (
            "forethought: the same command with a higher cap runs what is missing"
        )
        assert model.asked.total() == asked, "nothing further is paid for"
    done = cli(*command(method))
    assert (done.code, done.json["status"]) == (0, "finished"), done.err
    assert done.json["cost"]["tokens"] == TOKENS * (model.asked.total() - 1)


def test_learning_is_waited_for_and_nothing_is_begun_after_it(cli: Cli, held: Callable[[int], Held]) -> None:
    both = f"{ONCE},{LEARNS}"
    model = held(2)
    with terminated(model, free=True):
        stopped = cli(*command(both))
    line = "forethought: stopped by SIGTERM; the same command goes on with it"
    assert (stopped.code, stopped.err.splitlines()[-1]) == (0, line)
    assert stopped.json["status"] == "incomplete"
    assert len(set(model.asked) - {"one", "two"}) == 1, "the first run, and none after the learning"
    assert len(list(Path("o", "learned").glob("*.json"))) == 1

    done = cli(*command(both))
    assert (done.code, done.json["status"]) == (0, "finished"), done.err
    assert (model.asked["one"], model.asked["two"]) == (1, 1), "learned once"


@contextmanager
def terminated(model: Held, *, free: bool = False) -> Iterator[None]:
    """This process is told to stop once the model holds its reply; then the model may be let go of."""

    def stop() -> None:
        model.reached.wait(300)
        os.kill(os.getpid(), signal.SIGTERM)
        if free:
            time.sleep(0.1)
            model.free.set()

    thread = threading.Thread(target=stop)
    thread.start()
    yield
    thread.join()
