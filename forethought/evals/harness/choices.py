"""What an evaluation is to run: its samples, methods, trials and budgets."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from forethought.evals.types import Benchmark, Budget, DataError, Method, Sample

_ID = re.compile(r"[A-Za-z0-9._-]+")


class ChoiceError(ValueError):
    """A choice that cannot be carried out: one line that says what to do."""


@dataclass(frozen=True)
class Choices:
    """What is evaluated, and with what."""

    benchmark: Benchmark
    methods: tuple[Method, ...]
    samples: tuple[Sample, ...]
    """Those to be tried, in the order in which they are: the same for every method."""
    training: tuple[Sample, ...]
    """What methods learn from that need training; none of `samples` is among them."""
    options: Mapping[str, str]
    trials: int
    limit: int | None
    seed: int
    model: str
    judge_model: str
    user_model: str
    budget: Budget
    seconds: float
    """Longest time of an attempt."""
    context: Mapping[str, Any] = field(default_factory=dict)
    """What `--set` chose."""
    scripted: bool = False


def shuffled(samples: Sequence[Sample], seed: int) -> list[Sample]:
    """The samples in an order drawn by `seed` that does not depend on how many there are: a larger limit adds
    samples and takes none away."""
    return sorted(samples, key=lambda sample: hashlib.sha256(f"{seed}:{sample.id}".encode()).digest())


def checked(samples: Sequence[Sample], name: str) -> list[Sample]:
    """The samples, whose ids can name files. Raises DataError."""
    ids = [sample.id for sample in samples]
    if bad := next((id for id in ids if not _ID.fullmatch(id)), None):
        raise DataError(f"{name}: the id {bad!r} of a sample has other signs than letters, digits and . _ -")
    if len(set(ids)) != len(ids):
        twice = next(id for id in ids if ids.count(id) > 1)
        raise DataError(f"{name}: two samples have the id {twice}")
    if not ids:
        raise DataError(f"{name}: there are no samples with these options")
    return list(samples)


def checked_methods(methods: Sequence[Method]) -> tuple[Method, ...]:
    """The methods, whose names can name files and are all different. Raises ChoiceError."""
    names = [method.name for method in methods]
    if bad := next((name for name in names if not _ID.fullmatch(name)), None):
        raise ChoiceError(f"the name {bad!r} of a method has other signs than letters, digits and . _ -")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ChoiceError(f"two methods are called {twice}: rename one")
    return tuple(methods)


def chosen(samples: Sequence[Sample], limit: int | None, ids: Sequence[str], seed: int) -> tuple[Sample, ...]:
    """The samples to try: those named, or `limit` drawn by `seed`, or all. Raises ChoiceError."""
    if ids:
        by_id = {sample.id: sample for sample in samples}
        if unknown := next((id for id in ids if id not in by_id), None):
            few = ", ".join(list(by_id)[:5])
            raise ChoiceError(f"--sample {unknown}: there is no such sample; there are {few}, ...")
        return tuple(by_id[id] for id in dict.fromkeys(ids))
    return tuple(shuffled(samples, seed)[:limit])


def training_samples(
    samples: Sequence[Sample], evaluated: Sequence[Sample], count: int, seed: int
) -> tuple[Sample, ...]:
    """`count` samples to learn from, none of which is evaluated: from the far end of the drawn order, so that
    a larger limit comes upon them last. Raises ChoiceError when there are too few."""
    taken = {sample.id for sample in evaluated}
    free = [sample for sample in shuffled(samples, seed)[::-1] if sample.id not in taken]
    if len(free) < count:
        raise ChoiceError(
            f"--train {count}: only {len(free)} samples are not evaluated; give a smaller --limit or "
            "--train, or another split to learn from with --train-option"
        )
    return tuple(free[:count])


def options_from(given: Sequence[str], benchmark: Benchmark, flag: str = "--option") -> dict[str, str]:
    """KEY=VALUE pairs that the benchmark knows. Raises ChoiceError."""
    options = {}
    for item in given:
        key, equals, value = item.partition("=")
        if not equals:
            raise ChoiceError(f"{flag} {item}: write KEY=VALUE")
        if key.strip() not in benchmark.options:
            known = ", ".join(f"{name} ({about})" for name, about in benchmark.options.items()) or "none"
            raise ChoiceError(f"{flag} {key.strip()}: {benchmark.name} has no such option; it has: {known}")
        options[key.strip()] = value.strip()
    return options
