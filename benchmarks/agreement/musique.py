"""MuSiQue's metrics, on generated answers with aliases.

The checkout is StonyBrookNLP/musique.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable
from pathlib import Path

from benchmarks.agreement.comparison import Comparison, near_misses, official_module
from forethought.evals.benchmarks.answer_metrics import musique_exact_match, musique_f1

ANSWERS = 2_000
_WORDS = (
    "the", "a", "an", "AN", "The.", "of", "in", "Old", "Bridge", "Ulm", "Danube", "1899", "9", "U.S.", "St.",
    "John's", "co-op", "n/a", "\u00e9,", "\u00df", "--", "'",
)  # fmt: skip


def compare(musique: Path) -> Iterable[Comparison]:
    """Exact match and F1 of single answers."""
    sys.path.insert(0, str(musique))  # its files import one another as `metrics.answer`
    metrics = official_module(musique / "metrics/answer.py", "metrics.answer")
    em, f1 = Comparison("MuSiQue, exact match"), Comparison("MuSiQue, F1")
    rng = random.Random(0)
    for _ in range(ANSWERS):
        accepted = [" ".join(rng.choices(_WORDS, k=rng.randrange(6))) for _ in range(rng.randrange(1, 5))]
        for answer in near_misses(rng.choice(accepted), accepted, rng):
            official = metrics.AnswerMetric()
            official(answer, accepted)
            theirs_em, theirs_f1 = official.get_metric()
            em.add(theirs_em, float(musique_exact_match(answer, accepted)), (answer, accepted))
            f1.add(theirs_f1, musique_f1(answer, accepted), (answer, accepted))
    return [em, f1]
