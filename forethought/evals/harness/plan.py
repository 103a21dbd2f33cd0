"""What an evaluation is to run: its samples, methods, trials and budgets."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from forethought.evals.types import Benchmark, Budget, DataError, Method, Sample

_ID = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True)
class EvaluationPlan:
    """What is evaluated, and with what."""

    benchmark: Benchmark
    methods: tuple[Method, ...]
    samples: tuple[Sample, ...]
    """The samples in their order, which is the same for every method."""
    training: tuple[Sample, ...]
    """Training samples for methods that learn; none of `samples` is among them."""
    options: Mapping[str, str]
    trials: int
    limit: int | None
    seed: int
    model: str
    judge_model: str
    user_model: str
    budget: Budget
    seconds: float
    """Time limit of an attempt."""
    context: Mapping[str, Any] = field(default_factory=dict)
    """Values of `--set`."""
    scripted: bool = False


def shuffled(samples: Sequence[Sample], seed: int) -> list[Sample]:
    """The samples in an order drawn by `seed` that does not depend on how many there are: a larger limit adds
    samples and takes none away."""
    return sorted(samples, key=lambda sample: hashlib.sha256(f"{seed}:{sample.id}".encode()).digest())


def check_samples(samples: Sequence[Sample], name: str) -> list[Sample]:
    """The samples, whose ids can name files and are all different. Raises DataError."""
    if not samples:
        raise DataError(f"{name}: no samples match these options; change them")
    if problem := _id_problem([sample.id for sample in samples], "sample"):
        raise DataError(f"{name}: {problem}")
    return list(samples)


def check_methods(methods: Sequence[Method]) -> tuple[Method, ...]:
    """The methods, whose names can name files and are all different. Raises ValueError."""
    if problem := _id_problem([method.name for method in methods], "method"):
        raise ValueError(problem)
    return tuple(methods)


def _id_problem(ids: Sequence[str], what: str) -> str:
    if bad := next((id for id in ids if not _ID.fullmatch(id)), None):
        return f"the id {bad!r} of a {what} is not valid: use letters, digits and . _ -"
    repeated = next((id for id in ids if ids.count(id) > 1), None) if len(set(ids)) < len(ids) else None
    return f"two {what}s have the id {repeated}; make it unique" if repeated else ""


def select_samples(
    samples: Sequence[Sample], limit: int | None, ids: Sequence[str], seed: int
) -> tuple[Sample, ...]:
    """The samples to try: those named, or `limit` drawn by `seed`, or all. Raises ValueError."""
    if ids:
        by_id = {sample.id: sample for sample in samples}
        if unknown := next((id for id in ids if id not in by_id), None):
            few = ", ".join(list(by_id)[:5])
            raise ValueError(f"--sample {unknown}: there is no such sample; choose from {few}, ...")
        return tuple(by_id[id] for id in dict.fromkeys(ids))
    return tuple(shuffled(samples, seed)[:limit])


def training_samples(
    samples: Sequence[Sample], evaluated: Sequence[Sample], count: int, seed: int
) -> tuple[Sample, ...]:
    """`count` samples to learn from, none of which is evaluated: from the far end of the drawn order, so that
    a larger limit comes upon them last. Raises ValueError when there are too few."""
    evaluated_ids = {sample.id for sample in evaluated}
    free = [sample for sample in shuffled(samples, seed)[::-1] if sample.id not in evaluated_ids]
    if len(free) < count:
        raise ValueError(
            f"--train {count}: only {len(free)} samples are free for training; give a smaller "
            "--limit or --train, or choose another training split with --train-option"
        )
    return tuple(free[:count])


def parse_options(items: Sequence[str], benchmark: Benchmark, flag: str = "--option") -> dict[str, str]:
    """KEY=VALUE pairs that the benchmark knows. Raises ValueError."""
    options = {}
    for item in items:
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            raise ValueError(f"{flag} {item}: write KEY=VALUE")
        if key not in benchmark.options:
            known = ", ".join(f"{name} ({about})" for name, about in benchmark.options.items()) or "none"
            raise ValueError(f"{flag} {key}: {benchmark.name} has no such option; choose from: {known}")
        options[key] = value
    return options
