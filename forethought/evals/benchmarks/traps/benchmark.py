"""The benchmark over all exercises: its samples, files and score."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

from forethought.evals.benchmarks.answer_metrics import exact_match
from forethought.evals.benchmarks.gaia_scorer import quasi_exact_match
from forethought.evals.benchmarks.reading import choice
from forethought.evals.benchmarks.traps import figures, plain, rules  # noqa: F401  they register their kinds
from forethought.evals.benchmarks.traps.exercise import FOLLOW_UPS, TRAPS, TRIVIAL, Maker
from forethought.evals.types import Attempt, Benchmark, DataError, Sample, Score, Services

CLASSES = {"trap": TRAPS, "trivial": TRIVIAL, "follow-up": FOLLOW_UPS}
VARIANTS = 2


class Traps(Benchmark):
    """See the package."""

    name = "traps"
    title = "Traps"
    about = "generated tasks over files whose plain reading is wrong, trivial ones and follow-ups; ours"
    main_metric = "right"
    builtin_tools = ("read_file", "python")
    options: Mapping[str, str] = {
        "variants": f"traps of each kind (default: {VARIANTS}); other kinds have {VARIANTS}",
        "seed": "seed of the names and figures (default: 0)",
        "only": f"{', '.join(CLASSES)} (default: all)",
    }

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """See `Benchmark`. Writes the files below `data`, the same bytes for the same seed."""
        seed, variants = _whole(options, "seed", 0), _whole(options, "variants", VARIANTS)
        only = choice(options, "only", ("all", *CLASSES))
        return [
            self._sample(name, kind, maker, number, seed, data)
            for name, makers in CLASSES.items()
            if only in ("all", name)
            for number in range(1, (variants if name == "trap" else VARIANTS) + 1)
            for kind, maker in makers.items()
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
            data={"wrong": made.wrong},
        )

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """Whether the answer is the computed one; the label says where it is the plain reading's."""
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
