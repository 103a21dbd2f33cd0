"""GAIA's scorer, against the one in inspect_evals, which is the leaderboard's, on generated answers.

`inspect_evals` is a checkout of UKGovernmentBEIS/inspect_evals, or the site-packages that it is installed in.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Iterable
from pathlib import Path

from benchmarks.agreement.comparison import Comparison, near_misses, official_module
from forethought.evals.benchmarks.gaia_scorer import kind_of, quasi_exact_match

ANSWERS = 10_000
_NUMBERS = ["3", "-3", "0.5", ".5", "1e3", "17000", "1_000", "nan", "inf", "-Infinity", "٣", " 7 ", "+4", "0"]
_WORDS = [
    "Ulm", "St. Ives", "sea gull", "rock-n-roll", "the Danube", "\u00c9cole", "'42'", "U.S.", "\u0130",
    "\u00df", "", "$", "()",
]  # fmt: skip


def _expected(rng: random.Random) -> str:
    """A number, some words, a list, or signs at random."""
    return rng.choice(
        [
            rng.choice(_NUMBERS),
            " ".join(rng.choices(_WORDS, k=rng.randrange(1, 4))),
            rng.choice([",", ", ", ";", " ; "]).join(rng.choices(_NUMBERS + _WORDS, k=rng.randrange(2, 5))),
            "".join(rng.choices("ab1 .,;-$%E\u0663\n", k=rng.randrange(1, 8))),
        ]
    )


def compare(inspect_evals: Path) -> Iterable[Comparison]:
    """Both scorers, by the kind of the expected answer."""
    source = inspect_evals / "src" if (inspect_evals / "src").is_dir() else inspect_evals
    official = official_module(source / "inspect_evals/gaia/scorer.py", "gaia_scorer")
    logging.disable(logging.WARNING)  # it logs every answer that is no number
    rng = random.Random(0)
    found = {kind: Comparison(f"GAIA, expected {kind}") for kind in ("number", "list", "text")}
    for _ in range(ANSWERS):
        wanted = _expected(rng)
        dressed = [
            f"${wanted}",
            f"{wanted}%",
            f"{wanted},000",
            wanted.replace(", ", ","),
            f"{wanted}, {wanted}",
        ]
        for answer in (*near_misses(wanted, [_expected(rng)], rng), *dressed):
            theirs, _ = official.question_scorer(answer, wanted)
            found[kind_of(wanted)].add(theirs, quasi_exact_match(answer, wanted), f"{answer} / {wanted}")
    return found.values()
