"""Holds our MuSiQue metrics against the official ones, on generated predictions with aliases.

    git clone https://github.com/StonyBrookNLP/musique
    python benchmarks/agreement/musique.py --repo musique

Answers are compared one by one, and whole sets of the version `full` by the official script's own figures.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

from comparison import Comparison, finish, module_at, repo_argument

from forethought.evals.benchmarks.answer_metrics import musique_exact_match, musique_f1
from forethought.evals.benchmarks.musique import BENCHMARK, UNANSWERABLE
from forethought.evals.types import Attempt, Services
from forethought.models.ask import Models
from forethought.models.types import no_usage
from forethought.settings import Settings
from forethought.trajectories.types import Trajectory

Json = dict[str, Any]
ANSWERS, SETS, QUESTIONS = 20_000, 20, 40
_WORDS = ["the", "a", "an", "AN", "The.", "of", "in", "Old", "Bridge", "Ulm", "Danube", "1899", "9"]
_WORDS += ["U.S.", "St.", "John's", "co-op", "n/a", "\u00e9,", "\u00df", "--", "'"]


def phrase(rng: random.Random, longest: int = 5) -> str:
    """Words with articles, punctuation and other letters among them, or none."""
    return " ".join(rng.choice(_WORDS) for _ in range(rng.randrange(longest + 1)))


def near(accepted: list[str], rng: random.Random) -> str:
    """An answer that is an accepted one, nearly one, or another."""
    words = rng.choice(accepted).split()
    rng.shuffle(words)
    return rng.choice(
        [
            rng.choice(accepted),
            rng.choice(accepted).upper() + ".",
            " ".join(words),
            " ".join(words[:2]),
            phrase(rng),
        ]
    )


def answers(metrics: Any) -> list[Comparison]:
    """Exact match and F1 of single answers."""
    em, f1 = Comparison("MuSiQue, exact match"), Comparison("MuSiQue, F1")
    rng = random.Random(0)
    for _ in range(ANSWERS):
        accepted = [phrase(rng) for _ in range(rng.randrange(1, 5))]
        answer = near(accepted, rng)
        official = metrics.AnswerMetric()
        official(answer, accepted)
        theirs_em, theirs_f1 = official.get_metric()
        case = f"{answer} / {accepted}"
        em.add(theirs_em, float(musique_exact_match(answer, accepted)), case)
        f1.add(theirs_f1, musique_f1(answer, accepted), case)
    return [em, f1]


def row(number: int, answerable: bool, rng: random.Random, known: Json) -> Json:
    """A line of the data; both halves of a question have the same id, question and answer."""
    supporting = [
        {"idx": 0, "title": "Ulm", "paragraph_text": "Ulm lies on the Danube.", "is_supporting": True}
    ]
    return {"id": f"2hop__{number}_{number}", "answerable": answerable, "paragraphs": supporting, **known}


def halves(rng: random.Random) -> list[Json]:
    """The lines of a small set of the version full, in a random order."""
    rows = []
    for number in range(QUESTIONS):
        known = {
            "question": f"Which bridge is number {number}?",
            "answer": phrase(rng) or "Ulm",
            "answer_aliases": [phrase(rng) for _ in range(rng.randrange(3))],
        }
        rows += [row(number, True, rng, known), row(number, False, rng, known)]
    rng.shuffle(rows)
    return rows


def said(line: Json, rng: random.Random) -> str:
    """What an agent answers, unanswerable now and then."""
    if rng.random() < (0.3 if line["answerable"] else 0.7):
        return rng.choice([UNANSWERABLE, "Unanswerable."])
    return near([line["answer"], *line["answer_aliases"]], rng)


def official_figures(evaluate: Any, rows: list[Json], given: list[str], folder: Path) -> Json:
    """The official script's figures; what it calls answerable is that the agent did not say otherwise."""
    predictions = [
        {
            "id": line["id"],
            "predicted_answer": answer,
            "predicted_support_idxs": [0],
            "predicted_answerable": not answer.lower().startswith(UNANSWERABLE),
        }
        for line, answer in zip(rows, given, strict=True)
    ]
    for name, lines in (("p.jsonl", predictions), ("musique_full_v1.0_dev.jsonl", rows)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    figures: Json = evaluate.evaluate(str(folder / "p.jsonl"), str(folder / "musique_full_v1.0_dev.jsonl"))
    return figures


async def our_figures(rows: list[Json], given: list[str], folder: Path) -> dict[str, float]:
    """The benchmark's summary, rounded as the official script rounds."""
    settings = Settings(base_url=None)
    services = Services(settings, Models(settings, transport=None), "-", "-")
    samples = BENCHMARK.samples(folder, {"version": "full", "leave_out": "none"})
    scored = [
        (sample, [await BENCHMARK.score(sample, attempt(answer), services)])
        for sample, answer in zip(samples, given, strict=True)
    ]
    return {name: round(value, 3) for name, value in BENCHMARK.summary(scored).items()}


def attempt(answer: str) -> Attempt:
    """An attempt that came to `answer`."""
    return Attempt(answer, "answered", Trajectory(id="-", task="-"), no_usage(), 0.0, 0)


def sets(evaluate: Any) -> Comparison:
    """The figures over whole sets."""
    found = Comparison("MuSiQue, version full: answer EM, answer F1 and grouped F1 of whole sets")
    rng = random.Random(1)
    for _ in range(SETS):
        rows = halves(rng)
        given = [said(line, rng) for line in rows]
        with tempfile.TemporaryDirectory() as folder:
            theirs = official_figures(evaluate, rows, given, Path(folder))
            ours = asyncio.run(our_figures(rows, given, Path(folder)))
        for name, value in ours.items():
            found.add(theirs[name], value, name)
    return found


def main() -> None:
    repo = repo_argument(__doc__, "StonyBrookNLP/musique").parse_args().repo
    # Its files import one another as `metrics.answer`.
    sys.path.insert(0, str(repo))
    metrics = module_at(repo / "metrics/answer.py", "metrics.answer")
    evaluate = module_at(repo / "evaluate_v1.0.py", "musique_evaluate")
    raise SystemExit(finish([*answers(metrics), sets(evaluate)]))


if __name__ == "__main__":
    main()
