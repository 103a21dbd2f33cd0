r"""Writes the failed runs of Reflexion's public ReAct logs whose critical errors are annotated.

    git clone https://github.com/noahshinn/reflexion
    git -C reflexion fetch origin pull/53/head && git -C reflexion checkout FETCH_HEAD
    python -m benchmarks.annotated_runs reflexion/hotpotqa_runs/root/ReAct annotated-runs
    forethought eval run agent-error-bench \
        --data annotated-runs --method debugger,debugger-triage --model NAME

The runs are drawn by a seed from the first trials of the agents on GPT-3 and on Claude. The labels are in
docs/evaluations/annotated-reflexion.json; runs without a critical error there are written without one, and
the benchmark passes them over. `--blind` leaves all annotations out, for whoever wants to annotate anew.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from forethought.trajectories.questions import normalised
from forethought.trajectories.read import all_from_json
from forethought.trajectories.types import Annotation, Loaded

LABELS = Path(__file__).parent.parent / "docs" / "evaluations" / "annotated-reflexion.json"
LOGS = ("base/100_questions_5_trials.txt", "claude/reflexion/100_questions_5_trials.txt")
SEED, NUMBER = 17, 22
STEPS = range(3, 9)


def first_trial(folder: Path) -> list[Loaded]:
    """The runs of the first trial of each log in `folder`."""
    texts = {name: (folder / name).read_text("utf-8") for name in LOGS}
    return [
        loaded for name, text in texts.items() for loaded in all_from_json(_until_second_trial(text), name)
    ]


def _until_second_trial(text: str) -> str:
    return re.split(r"^BEGIN TRIAL 2\b", text, maxsplit=1, flags=re.MULTILINE)[0]


def draw(runs: Iterable[Loaded], seed: int = SEED, number: int = NUMBER) -> list[Loaded]:
    """`number` failed runs of 3 to 8 steps, one a question; which ones, only `seed` decides."""
    failed = [
        run for run in runs if run.reference.outcome == "failure" and len(run.trajectory.steps) in STEPS
    ]
    failed.sort(key=lambda run: run.trajectory.id)
    random.Random(seed).shuffle(failed)
    by_question: dict[str, Loaded] = {}
    for run in failed:
        by_question.setdefault(normalised(run.trajectory.task), run)
    return list(by_question.values())[:number]


def read_labels(file: Path = LABELS) -> dict[str, Annotation]:
    """The critical errors by their runs' ids."""
    rows = json.loads(file.read_text("utf-8"))["runs"]
    return {
        row["trajectory_id"]: Annotation.model_validate(row["critical_error"])
        for row in rows
        if row["critical_error"]
    }


def write(runs: Iterable[Loaded], labels: Mapping[str, Annotation], folder: Path) -> None:
    """Each run, with its label, as a file in the form of `forethought trajectories schema`."""
    folder.mkdir(parents=True, exist_ok=True)
    for run in runs:
        reference = run.reference.model_copy(update={"annotation": labels.get(run.trajectory.id)})
        annotated = run.model_copy(update={"reference": reference})
        text = annotated.model_dump_json(indent=2, exclude_defaults=True)
        (folder / f"{run.trajectory.id}.json").write_text(text + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("react", type=Path, help="folder ReAct of the logs")
    parser.add_argument("out", type=Path, help="output folder")
    parser.add_argument("--blind", action="store_true", help="leave the annotations out")
    options = parser.parse_args()
    runs, labels = draw(first_trial(options.react)), {} if options.blind else read_labels()
    if not options.blind and labels.keys() - {run.trajectory.id for run in runs}:
        raise SystemExit(f"{options.react}: these logs lack the annotated runs; check out pull/53/head")
    write(runs, labels, options.out)
    print(f"{len(runs)} runs in {options.out}, {len(labels)} of them with a critical error")


if __name__ == "__main__":
    main()
