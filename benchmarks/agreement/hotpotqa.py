"""HotpotQA's metrics, on the gold answers of the dev questions, nearly right ones, and recorded answers.

Checkouts: hotpotqa/hotpot, ysymyth/ReAct (which has the dev questions), noahshinn/reflexion (whose logs hold
answers, and its own verdicts on them, which are an exact match too).
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path

from benchmarks.agreement.comparison import Comparison, near_misses, official_module
from forethought.evals.benchmarks.answer_metrics import exact_match, hotpotqa_overlap
from forethought.evals.environments.worker import stand_in
from forethought.trajectories.read import read_trajectories


def compare(hotpot: Path, react: Path, reflexion: Path) -> Iterable[Comparison]:
    """Exact match and F1 of generated and recorded answers, and Reflexion's verdicts."""
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
