"""MuSiQue's metrics, on generated answers with aliases, and on whole sets of the version `full`.

The checkout is StonyBrookNLP/musique.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.agreement.comparison import (
    Comparison,
    attempt_with,
    near_misses,
    official_module,
    services_with,
)
from forethought.evals.benchmarks.answer_metrics import musique_exact_match, musique_f1
from forethought.evals.benchmarks.musique import BENCHMARK, UNANSWERABLE

Json = dict[str, Any]
ANSWERS, SETS, QUESTIONS = 2_000, 20, 40
_WORDS = (
    "the", "a", "an", "AN", "The.", "of", "in", "Old", "Bridge", "Ulm", "Danube", "1899", "9", "U.S.", "St.",
    "John's", "co-op", "n/a", "\u00e9,", "\u00df", "--", "'",
)  # fmt: skip


def _phrase(rng: random.Random) -> str:
    return " ".join(rng.choices(_WORDS, k=rng.randrange(6)))


def _halves(rng: random.Random) -> list[Json]:
    """The lines of a small set of the version full, in a random order; both halves of a question have the
    same id, question and answer."""
    supporting = {
        "idx": 0,
        "title": "Ulm",
        "paragraph_text": "Ulm lies on the Danube.",
        "is_supporting": True,
    }
    rows = []
    for number in range(QUESTIONS):
        known = {
            "id": f"2hop__{number}_{number}",
            "question": f"Which bridge is number {number}?",
            "answer": _phrase(rng) or "Ulm",
            "answer_aliases": [_phrase(rng) for _ in range(rng.randrange(3))],
            "paragraphs": [supporting],
        }
        rows += [{**known, "answerable": answerable} for answerable in (True, False)]
    rng.shuffle(rows)
    return rows


def _answer(line: Json, rng: random.Random) -> str:
    if rng.random() < (0.3 if line["answerable"] else 0.7):
        return rng.choice([UNANSWERABLE, "Unanswerable."])
    return rng.choice(near_misses(line["answer"], [*line["answer_aliases"], "Bath"], rng))


def _official_figures(
    evaluate: ModuleType, rows: Sequence[Json], answers: Sequence[str], folder: Path
) -> Json:
    """The official script's figures; what it calls answerable is that the agent did not say otherwise."""
    predictions = [
        {
            "id": line["id"],
            "predicted_answer": answer,
            "predicted_support_idxs": [0],
            "predicted_answerable": not answer.lower().startswith(UNANSWERABLE),
        }
        for line, answer in zip(rows, answers, strict=True)
    ]
    gold = folder / "musique_full_v1.0_dev.jsonl"
    for path, lines in ((folder / "p.jsonl", predictions), (gold, rows)):
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    figures: Json = evaluate.evaluate(str(folder / "p.jsonl"), str(gold))
    return figures


async def _our_figures(answers: Sequence[str], folder: Path) -> dict[str, float]:
    """The benchmark's summary, rounded as the official script rounds."""
    samples = BENCHMARK.samples(folder, {"version": "full", "leave_out": "none"})
    scored = [
        (sample, [await BENCHMARK.score(sample, attempt_with(answer), services_with())])
        for sample, answer in zip(samples, answers, strict=True)
    ]
    return {name: round(value, 3) for name, value in BENCHMARK.summary(scored).items()}


def compare(musique: Path) -> Iterable[Comparison]:
    """Single answers, and the figures over whole sets."""
    sys.path.insert(0, str(musique))  # its files import one another as `metrics.answer`
    metrics = official_module(musique / "metrics/answer.py", "metrics.answer")
    em, f1 = Comparison("MuSiQue, exact match"), Comparison("MuSiQue, F1")
    rng = random.Random(0)
    for _ in range(ANSWERS):
        accepted = [_phrase(rng) for _ in range(rng.randrange(1, 5))]
        for answer in near_misses(rng.choice(accepted), accepted, rng):
            official = metrics.AnswerMetric()
            official(answer, accepted)
            theirs_em, theirs_f1 = official.get_metric()
            em.add(theirs_em, float(musique_exact_match(answer, accepted)), (answer, accepted))
            f1.add(theirs_f1, musique_f1(answer, accepted), (answer, accepted))
    evaluate = official_module(musique / "evaluate_v1.0.py", "musique_evaluate")
    sets = Comparison("MuSiQue, version full: answer EM, answer F1 and grouped F1 of whole sets")
    for _ in range(SETS):
        rows = _halves(rng)
        answers = [_answer(line, rng) for line in rows]
        with tempfile.TemporaryDirectory() as folder:
            theirs = _official_figures(evaluate, rows, answers, Path(folder))
            for name, value in asyncio.run(_our_figures(answers, Path(folder))).items():
                sets.add(theirs[name], value, name)
    return [em, f1, sets]
