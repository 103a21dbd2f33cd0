"""The benchmark over all exercises: its samples, files and score."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from forethought.evals.benchmarks.answer_metrics import exact_match
from forethought.evals.benchmarks.gaia_scorer import quasi_exact_match
from forethought.evals.benchmarks.reading import choice
from forethought.evals.benchmarks.traps import figures, plain, rules  # noqa: F401  they register their kinds
from forethought.evals.benchmarks.traps.exercise import FOLLOW_UPS, HARD, TRAPS, TRIVIAL, Maker
from forethought.evals.benchmarks.traps.hard import evenings, round_trips
from forethought.evals.benchmarks.traps.hard.plan import Best, Worth, verdict
from forethought.evals.types import Attempt, Benchmark, DataError, Sample, Score, Services

CLASSES = {"trap": TRAPS, "trivial": TRIVIAL, "follow-up": FOLLOW_UPS}
VARIANTS, HARD_VARIANTS = 2, 12
PLANS: dict[str, tuple[Worth, Best]] = {
    "evenings": (evenings.worth, evenings.best),
    "round_trips": (round_trips.worth, round_trips.best),
}


class Traps(Benchmark):
    """See the package."""

    name = "traps"
    title = "Traps"
    about = "generated tasks over files whose plain reading is wrong, trivial ones and follow-ups; ours"
    main_metric = "right"
    builtin_tools = ("read_file", "python")
    options: Mapping[str, str] = {
        "split": f"small (default), or hard: plans to be thought out, {HARD_VARIANTS} of each kind",
        "variants": f"tasks of each kind (default: {VARIANTS}, hard: {HARD_VARIANTS}); kinds without a "
        f"trap have {VARIANTS}",
        "seed": "seed of the names and figures (default: 0)",
        "only": f"{', '.join(CLASSES)} (default: all), or a kind",
    }

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """See `Benchmark`. Writes the files below `data`, the same bytes for the same seed."""
        split = choice(options, "split", ("small", "hard"))
        classes = {"hard": HARD} if split == "hard" else CLASSES
        kinds = [kind for makers in classes.values() for kind in makers]
        seed, default = _whole(options, "seed", 0), HARD_VARIANTS if split == "hard" else VARIANTS
        variants = _whole(options, "variants", default)
        only = choice(options, "only", ("all", *classes, *kinds))
        return [
            self._sample(name, kind, maker, number, seed, data)
            for name, makers in classes.items()
            for number in range(1, (VARIANTS if name in ("trivial", "follow-up") else variants) + 1)
            for kind, maker in makers.items()
            if only in ("all", name, kind)
        ]

    def _sample(self, name: str, kind: str, maker: Maker, number: int, seed: int, data: Path) -> Sample:
        id = f"{kind}-{number}"
        made = maker(random.Random(f"{seed}:{id}"))
        folder = data / f"seed-{seed}" / id
        for file, content in made.files.items():
            try:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / file).write_bytes(content)
            except OSError as error:
                raise DataError(f"{self.name}: {error}; name a folder to write to with --data") from error
        return Sample(
            id=id,
            task=made.question,
            files=tuple(folder / file for file in made.files),
            answer_format=made.answer_format,
            earlier=made.earlier,
            target=made.answer,
            groups={"class": name, "kind": kind},
            data={"wrong": made.wrong, "facts": made.facts},
        )

    def builtin(self, sample: Sample) -> Sequence[str]:
        """See `Benchmark`. A hard task is to be thought through: it offers no program."""
        return ("read_file",) if sample.groups["class"] == "hard" else self.builtin_tools

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """Whether the answer is the computed one; the label says where it is the plain reading's."""
        if facts := sample.data["facts"]:
            judge = PLANS[sample.groups["kind"]]
            problem = await asyncio.to_thread(verdict, attempt.answer, facts, *judge)
            return Score({"right": float(not problem)}, problem)
        answer = attempt.answer.strip().rstrip(".")
        right = same(answer, str(sample.target))
        fell = not right and same(answer, str(sample.data["wrong"]))
        return Score({"right": float(right)}, f"expected {sample.target}", "plain_reading" if fell else "")


def same(answer: str, wanted: str) -> bool:
    """Whether two answers are the same number or the same words."""
    return bool(wanted) and (quasi_exact_match(answer, wanted) or exact_match(answer, wanted))


def _whole(options: Mapping[str, str], name: str, default: int) -> int:
    """A whole number among the options. Raises DataError."""
    value = options.get(name, str(default))
    if not value.isdecimal():
        raise DataError(f"option {name}={value}: give a whole number")
    return int(value)


BENCHMARK = Traps()
