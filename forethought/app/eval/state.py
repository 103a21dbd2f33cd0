"""An evaluation under way: what was asked for, what is finished, what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forethought.collecting.estimate import Cost
from forethought.evals.harness.choices import Choices
from forethought.evals.harness.control import Control
from forethought.evals.harness.cost import expected, spent_on
from forethought.evals.harness.trial import Bench
from forethought.evals.results import Result
from forethought.evals.types import Method

if TYPE_CHECKING:
    from rich.console import Console

Json = dict[str, Any]
Open = list[tuple[Method, list[tuple[str, int]]]]
"""Of each method: the samples and trials that are to be run."""


@dataclass(frozen=True)
class Asked:
    """The flags of `eval run` besides those that every command has."""

    benchmark: str
    methods: tuple[str, ...]
    out: Path
    limit: int | None = None
    samples: tuple[str, ...] = ()
    trials: int = 1
    seed: int = 0
    parallel: int = 4
    steps: int | None = None
    tokens: int = 400_000
    seconds: float = 3_600
    train: int = 8
    data: Path | None = None
    options: tuple[str, ...] = ()
    train_options: tuple[str, ...] = ()
    judge_model: str | None = None
    user_model: str | None = None
    max_usd: float | None = None
    max_tokens_total: int | None = None
    fail_after: int = 5
    scripted: bool = False
    yes: bool = False


@dataclass
class Underway:
    """An evaluation under way."""

    asked: Asked
    bench: Bench
    control: Control
    console: Console
    interactive: bool
    results: dict[tuple[str, str, int], Result]
    """The last result of each method, sample and trial."""
    learned: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    estimate: Cost | None = None

    @property
    def choices(self) -> Choices:
        """What is evaluated."""
        return self.bench.choices

    @property
    def open(self) -> Open:
        """What has no score yet, all first trials before all second ones."""
        keys = [
            (sample.id, trial)
            for trial in range(1, self.choices.trials + 1)
            for sample in self.choices.samples
        ]
        return [
            (method, [key for key in keys if not self._tried(method.name, *key)])
            for method in self.choices.methods
        ]

    @property
    def left(self) -> int:
        """How many runs are open."""
        return sum(len(keys) for _, keys in self.open)

    @property
    def tried(self) -> bool:
        """Whether any run is over."""
        return any(result.tried for result in self.results.values())

    @property
    def wanted(self) -> list[Result]:
        """The results of what is asked for."""
        names = {method.name for method in self.choices.methods}
        ids = {sample.id for sample in self.choices.samples}
        return [
            result
            for result in self.results.values()
            if result.method in names and result.sample in ids and result.trial <= self.choices.trials
        ]

    def finished(self, result: Result) -> None:
        """A run has ended."""
        self.results[result.method, result.sample, result.trial] = result

    def spent(self) -> Cost:
        """What it took so far."""
        return spent_on(list(self.results.values()), self.bench.spent.usage)

    def expect(self) -> Cost:
        """What it will have taken. Raises ValueError when nothing has a score."""
        left = Counter({method.name: len(keys) for method, keys in self.open})
        left.update({method.name: len(self.choices.training) for method in self.untrained()})
        return expected(list(self.results.values()), left, self.bench.spent.usage)

    def untrained(self) -> list[Method]:
        """Methods that must learn before they can be run."""
        return [
            method
            for method, keys in self.open
            if keys and method.needs_training and method.name not in self.learned
        ]

    def _tried(self, method: str, sample: str, trial: int) -> bool:
        result = self.results.get((method, sample, trial))
        return result is not None and result.tried
