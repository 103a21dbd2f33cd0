"""Scoring what an agent might have said, without an agent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from forethought.evals.types import Attempt, Benchmark, Sample, Score, Services
from forethought.models.ask import Models
from forethought.models.types import ModelReply, ModelRequest, TransportError, no_usage
from forethought.settings import Settings
from forethought.trajectories.types import Trajectory

Json = dict[str, Any]


def attempt(answer: str = "", reward: float | None = None) -> Attempt:
    """An attempt that came to `answer`, or that an episode ended with `reward`."""
    trajectory = Trajectory(id="a", task="t", answer=answer)
    return Attempt(answer, "answered", trajectory, no_usage(), 0.0, 0, reward=reward)


class Unreachable:
    """A transport for benchmarks that must ask no model."""

    async def send(self, request: ModelRequest) -> ModelReply:
        """Raises TransportError."""
        raise TransportError("no model is to be asked here")


def services(settings: Settings | None = None) -> Services:
    """With a model behind `settings`, or with none."""
    if settings is None:
        settings = Settings(base_url=None)
        return Services(settings, Models(settings, Unreachable()), "openai:judge", "openai:user")
    return Services(settings, Models(settings), "openai:judge", "openai:user")


async def score(benchmark: Benchmark, sample: Sample, answer: str) -> Score:
    """The score of an answer where no model judges."""
    return await benchmark.score(sample, attempt(answer), services())


async def summary(benchmark: Benchmark, answers: Sequence[tuple[Sample, str]]) -> Mapping[str, float]:
    """The summary of one answer to each sample: of those it sees what results keep, id and groups."""
    return benchmark.summary(
        [
            (Sample(sample.id, "", groups=sample.groups), [await score(benchmark, sample, said)])
            for sample, said in answers
        ]
    )


def write_json(path: Path, value: Any) -> Path:
    """A JSON file; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), "utf-8")
    return path


def write_jsonl(path: Path, rows: Sequence[Any]) -> Path:
    """A JSON Lines file; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def without(row: Json, key: str) -> Json:
    """The row without a key."""
    return {name: value for name, value in row.items() if name != key}
