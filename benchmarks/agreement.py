"""Agreement of our scorers with the official ones: the same predictions through both.

    python -m benchmarks.agreement hotpotqa hotpot ReAct reflexion
    python -m benchmarks.agreement musique musique
    python -m benchmarks.agreement gaia inspect_evals

After the name stand checkouts of public repositories: hotpotqa/hotpot, ysymyth/ReAct (which has the dev
questions) and noahshinn/reflexion (whose logs hold answers, and its own verdicts on them);
StonyBrookNLP/musique; UKGovernmentBEIS/inspect_evals, which has the scorer of the leaderboard, or the
site-packages that it is installed in.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import logging
import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from forethought.evals.benchmarks.answer_metrics import (
    exact_match,
    hotpotqa_overlap,
    musique_exact_match,
    musique_f1,
)
from forethought.evals.benchmarks.gaia_scorer import kind_of, quasi_exact_match
from forethought.evals.environments.worker import stand_in
from forethought.trajectories.read import read_trajectories

GAIA_ANSWERS, MUSIQUE_ANSWERS = 10_000, 2_000
_NUMBERS = ["3", "-3", "0.5", ".5", "1e3", "17000", "1_000", "nan", "inf", "-Infinity", "٣", " 7 ", "+4", "0"]
_GAIA_WORDS = [
    "Ulm", "St. Ives", "sea gull", "rock-n-roll", "the Danube", "\u00c9cole", "'42'", "U.S.", "\u0130",
    "\u00df", "", "$", "()",
]  # fmt: skip
_MUSIQUE_WORDS = (
    "the", "a", "an", "AN", "The.", "of", "in", "Old", "Bridge", "Ulm", "Danube", "1899", "9", "U.S.", "St.",
    "John's", "co-op", "n/a", "\u00e9,", "\u00df", "--", "'",
)  # fmt: skip


@dataclass
class Comparison:
    """Results of an official function and of ours on the same predictions."""

    title: str
    compared: int = 0
    positive: int = 0
    """Equal results above zero, since agreement on wrong answers alone says little."""
    differ: int = 0
    example: str = ""

    def add(self, official: Any, ours: Any, case: str) -> None:
        """Count one prediction."""
        self.compared += 1
        if official == ours:
            self.positive += bool(ours)
            return
        self.differ += 1
        self.example = self.example or f"official {official!r}, ours {ours!r}: {case[:200]!r}"

    def print(self) -> None:
        """The figures, and an example of a difference."""
        agree = f"{self.compared - self.differ} agree ({self.positive} not zero)"
        print(f"{self.title}: {self.compared} compared, {agree}, {self.differ} differ", flush=True)
        if self.example:
            print(f"  such as {self.example}")


def official_module(file: Path, name: str) -> ModuleType:
    """The Python module in `file`, imported under `name`. Ends the script when it is not there."""
    if not file.is_file():
        raise SystemExit(f"{file}: not found; check that the checkout is complete")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def near_misses(text: str, others: Sequence[str], rng: random.Random) -> list[str]:
    """`text` as it is, and dressed otherwise, damaged, or mixed with one of `others`."""
    parts = text.split("\n") if "\n" in text else text.split(" ")
    between = "\n" if "\n" in text else " "
    at, other = rng.randrange(len(parts)), rng.choice(others)
    return [
        text,
        f"The {text.upper()}.",
        f" {text.lower()},\tas far as known ",
        between.join(rng.sample(parts, len(parts))),
        between.join(parts[: max(1, len(parts) // 2)]),
        between.join(parts[:at] + parts[at + 1 :]),
        f"{text}{between}{other}",
        f"{other}{between}{text}",
        other,
        text.replace("*", "").replace(",", ";"),
        text.replace("-", "\u2013").replace("e", "\u00e9"),
        f"**{text}**",
        "".join(rng.choice("aethno .,'-$%19\u2019\u0130\u00df") for _ in range(rng.randrange(20))),
        rng.choice(["yes", "no", "noanswer", "Yes.", "a no", "the", "...", "\u00a0\u2028", ""]),
    ]


def compare_hotpotqa(hotpot: Path, react: Path, reflexion: Path) -> Iterable[Comparison]:
    """Exact match and F1 of generated and recorded answers, and Reflexion's verdicts, an exact match too."""
    rows = json.loads((react / "data/hotpot_dev_v1_simplified.json").read_text("utf-8"))
    rng, golds = random.Random(0), [row["answer"] for row in rows]
    generated = [(answer, gold) for gold in golds for answer in near_misses(gold, golds, rng)]
    files = sorted((reflexion / "hotpotqa_runs/root/ReAct").glob("*/100_questions*.txt"))
    recorded = {
        (run.trajectory.answer, run.reference.gold[0]): run.reference.outcome == "success"
        for file in files
        for run in read_trajectories(file)
        if run.reference.gold and run.trajectory.answer
    }
    verdicts = Comparison("Reflexion's recorded verdicts against our exact match")
    for (answer, gold), right in recorded.items():
        verdicts.add(right, exact_match(answer, gold), f"{answer} / {gold}")
    stand_in(quiet=("ujson",))
    official = official_module(hotpot / "hotpot_evaluate_v1.py", "hotpot_evaluate_v1")
    for title, pairs in (("dev questions", generated), ("Reflexion's answers", recorded)):
        em, f1 = (
            Comparison(f"HotpotQA, {title}, {what}") for what in ("exact match", "F1, precision, recall")
        )
        for answer, gold in pairs:
            em.add(official.exact_match_score(answer, gold), exact_match(answer, gold), f"{answer} / {gold}")
            ours = hotpotqa_overlap(answer, gold)
            figures = (ours.f1, ours.precision, ours.recall)
            theirs = tuple(map(float, official.f1_score(answer, gold)))
            f1.add(theirs if any(theirs) else 0, figures if any(figures) else 0, f"{answer} / {gold}")
        yield from (em, f1)
    yield verdicts


def compare_musique(musique: Path) -> Iterable[Comparison]:
    """Exact match and F1 of generated answers with aliases."""
    sys.path.insert(0, str(musique))  # its files import one another as `metrics.answer`
    metrics = official_module(musique / "metrics/answer.py", "metrics.answer")
    em, f1 = Comparison("MuSiQue, exact match"), Comparison("MuSiQue, F1")
    rng = random.Random(0)
    for _ in range(MUSIQUE_ANSWERS):
        accepted = [
            " ".join(rng.choices(_MUSIQUE_WORDS, k=rng.randrange(6))) for _ in range(rng.randrange(1, 5))
        ]
        for answer in near_misses(rng.choice(accepted), accepted, rng):
            official = metrics.AnswerMetric()
            official(answer, accepted)
            theirs_em, theirs_f1 = official.get_metric()
            em.add(theirs_em, float(musique_exact_match(answer, accepted)), f"{answer} / {accepted}")
            f1.add(theirs_f1, musique_f1(answer, accepted), f"{answer} / {accepted}")
    return [em, f1]


def compare_gaia(inspect_evals: Path) -> Iterable[Comparison]:
    """Both scorers on generated answers, by the kind of the expected answer."""
    source = inspect_evals / "src" if (inspect_evals / "src").is_dir() else inspect_evals
    official = official_module(source / "inspect_evals/gaia/scorer.py", "gaia_scorer")
    logging.disable(logging.WARNING)  # it logs every answer that is no number
    rng = random.Random(0)
    by_kind = {kind: Comparison(f"GAIA, expected {kind}") for kind in ("number", "list", "text")}
    for _ in range(GAIA_ANSWERS):
        wanted = _expected(rng)
        variants = [
            f"${wanted}",
            f"{wanted}%",
            f"{wanted},000",
            wanted.replace(", ", ","),
            f"{wanted}, {wanted}",
        ]
        for answer in (*near_misses(wanted, [_expected(rng)], rng), *variants):
            theirs, _ = official.question_scorer(answer, wanted)
            by_kind[kind_of(wanted)].add(theirs, quasi_exact_match(answer, wanted), f"{answer} / {wanted}")
    return by_kind.values()


def _expected(rng: random.Random) -> str:
    """A number, some words, a list, or signs at random."""
    separator = rng.choice([",", ", ", ";", " ; "])
    return rng.choice(
        [
            rng.choice(_NUMBERS),
            " ".join(rng.choices(_GAIA_WORDS, k=rng.randrange(1, 4))),
            separator.join(rng.choices(_NUMBERS + _GAIA_WORDS, k=rng.randrange(2, 5))),
            "".join(rng.choices("ab1 .,;-$%E\u0663\n", k=rng.randrange(1, 8))),
        ]
    )


COMPARE: Mapping[str, Callable[..., Iterable[Comparison]]] = {
    "gaia": compare_gaia,
    "hotpotqa": compare_hotpotqa,
    "musique": compare_musique,
}


def main() -> int:
    """Print the counts and an example of each disagreement; 1 where there is one."""
    name, *folders = sys.argv[1:] or [""]
    if name not in COMPARE:
        print(f"usage: python -m benchmarks.agreement {{{','.join(COMPARE)}}} CHECKOUT...")
        return 2
    wanted = inspect.signature(COMPARE[name])
    try:
        checkouts = wanted.bind(*(Path(folder).resolve(strict=True) for folder in folders))
    except (TypeError, OSError) as error:
        print(f"{name}: {error}; give the checkouts {', '.join(wanted.parameters)}")
        return 2
    comparisons = list(COMPARE[name](*checkouts.args))
    for comparison in comparisons:
        comparison.print()
    return int(any(not one.compared or one.differ for one in comparisons))


if __name__ == "__main__":
    sys.exit(main())
