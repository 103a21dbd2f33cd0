"""Holds our HotpotQA metrics against the official ones, on the dev questions and on recorded answers.

    git clone https://github.com/hotpotqa/hotpot
    git clone https://github.com/ysymyth/ReAct
    git clone https://github.com/noahshinn/reflexion
    python benchmarks/agreement/hotpotqa.py --repo hotpot --react ReAct --reflexion reflexion

Every dev question's gold answer is taken as it is and perturbed in ten ways; the answers of Reflexion's logs
are added. Also counts how often Reflexion's own verdict on those answers is our exact match.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from comparison import Comparison, finish, module_at, repo_argument, stand_in

from forethought.evals.benchmarks.answer_metrics import exact_match, hotpotqa_overlap
from forethought.trajectories.read import read_trajectories

Pair = tuple[str, str]


def perturbed(gold: str, another: str, rng: random.Random) -> Iterator[str]:
    """Answers that are right, wrong, partly right, or odd in a way that the normalisation should treat."""
    words = gold.split()
    yield gold
    yield f"The {gold.upper()}."
    yield f"  {gold},\tas far as known "
    yield " ".join(rng.sample(words, len(words)))
    yield " ".join(words[: max(1, len(words) // 2)])
    yield f"{gold} {another}"
    yield another
    yield rng.choice(["yes", "no", "noanswer", "Yes.", "a no", "the", "", "...", "\u00a0\u2028"])
    yield f"{rng.choice(['yes', 'no'])}, {gold}"
    yield gold.replace("-", "\u2013").replace("e", "\u00e9")
    yield "".join(rng.choice("aethno .,'-\u2019\u0130ß9") for _ in range(rng.randrange(40)))


def generated(react: Path) -> list[Pair]:
    """Answers to all dev questions, beside the gold ones."""
    rows = json.loads((react / "data/hotpot_dev_v1_simplified.json").read_text("utf-8"))
    rng = random.Random(0)
    return [
        (answer, row["answer"])
        for row in rows
        for answer in perturbed(row["answer"], rng.choice(rows)["answer"], rng)
    ]


def recorded(reflexion: Path) -> list[tuple[str, str, bool]]:
    """Reflexion's distinct answers, the gold ones, and whether Reflexion took them for right."""
    files = sorted((reflexion / "hotpotqa_runs/root/ReAct").glob("*/100_questions*.txt"))
    runs = [run for file in files for run in read_trajectories(file)]
    found = [
        (run.trajectory.answer, run.reference.gold[0], run.reference.outcome == "success")
        for run in runs
        if run.reference.gold and run.trajectory.answer
    ]
    return list(dict.fromkeys(found))


def compared(title: str, pairs: list[Pair], repo: Path) -> list[Comparison]:
    """Both scorers on the same pairs of an answer and the gold one."""
    stand_in("ujson", load=json.load)
    official = module_at(repo / "hotpot_evaluate_v1.py", "hotpot_evaluate_v1")
    em, f1 = Comparison(f"{title}, exact match"), Comparison(f"{title}, F1, precision, recall")
    for answer, gold in pairs:
        em.add(official.exact_match_score(answer, gold), exact_match(answer, gold), f"{answer} / {gold}")
        ours = hotpotqa_overlap(answer, gold)
        theirs = tuple(float(value) for value in official.f1_score(answer, gold))
        f1.add(
            theirs if any(theirs) else 0, _figures(ours.f1, ours.precision, ours.recall), f"{answer} / {gold}"
        )
    return [em, f1]


def _figures(*figures: float) -> tuple[float, ...] | int:
    return figures if any(figures) else 0


def verdicts(rows: list[tuple[str, str, bool]]) -> Comparison:
    """Reflexion's own verdicts, which are an exact match too."""
    found = Comparison("Reflexion's recorded verdicts against our exact match")
    for answer, gold, right in rows:
        found.add(right, exact_match(answer, gold), f"{answer} / {gold}")
    return found


def main() -> None:
    parser = repo_argument(__doc__, "hotpotqa/hotpot")
    parser.add_argument("--react", type=Path, required=True, help="a checkout of ysymyth/ReAct")
    parser.add_argument("--reflexion", type=Path, required=True, help="a checkout of noahshinn/reflexion")
    given = parser.parse_args()
    rows = recorded(given.reflexion)
    pairs = [(answer, gold) for answer, gold, _ in rows]
    raise SystemExit(
        finish(
            [
                *compared("HotpotQA, 7,405 dev questions", generated(given.react), given.repo),
                *compared("HotpotQA, Reflexion's answers", pairs, given.repo),
                verdicts(rows),
            ]
        )
    )


if __name__ == "__main__":
    main()
