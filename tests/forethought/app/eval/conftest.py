"""A scripted model and the command line for evaluations of the tiny benchmark."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_server import Answer, Fault, ModelServer, Reply, SeenRequest
from tests.support.tiny_benchmark import NAME, ONCE


@dataclass
class Counting:
    """A model that counts right what `right` names; the judge always agrees."""

    right: tuple[str, ...] = ("cats", "owls")
    tokens: int = 100
    fault: Callable[[SeenRequest], Fault | None] = lambda seen: None
    asked: Counter[str] = field(default_factory=Counter)

    def __call__(self, seen: SeenRequest) -> Answer:
        thing = seen.last.split()[-1].rstrip(".")
        if seen.reply_name != "Verdict":
            self.asked[thing] += 1
        if fault := self.fault(seen):
            return fault
        if seen.reply_name == "Verdict":
            return Reply({"right": True}, prompt_tokens=7)
        return Reply({"answer": "42" if thing in self.right else "1"}, prompt_tokens=self.tokens)


Start = Callable[[Counting], ModelServer]


@pytest.fixture
def counting(model_server: Callable[..., ModelServer], monkeypatch: pytest.MonkeyPatch) -> Start:
    """Start a scripted model that the environment points at."""

    def start(policy: Counting) -> ModelServer:
        server = model_server(policy)
        monkeypatch.setenv("FORETHOUGHT_BASE_URL", server.url)
        monkeypatch.setenv("FORETHOUGHT_MODEL", "openai:scripted")
        monkeypatch.setenv("FORETHOUGHT_REQUEST_RETRIES", "0")
        return server

    return start


def write_data(folder: Path, *ids: str, split: str = "test") -> None:
    """The tiny benchmark's data."""
    folder.mkdir(exist_ok=True)
    rows = [json.dumps({"id": name, "target": "42"}) for name in ids]
    (folder / f"{split}.jsonl").write_text("\n".join(rows))


def command(*more: str, method: str = ONCE) -> tuple[str, ...]:
    """An evaluation of the tiny benchmark."""
    return ("eval", "run", NAME, "--method", method, "--data", "data", "--out", "o", *more)


def lines(folder: str = "o") -> list[dict[str, Any]]:
    """The rows of results.jsonl."""
    return [json.loads(line) for line in Path(folder, "results.jsonl").read_text().splitlines()]
