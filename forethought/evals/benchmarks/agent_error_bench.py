"""AgentErrorBench: failed runs whose critical error people have labelled (AgentDebug 2.2, 4.1, Table 1).

A sample asks for the critical error of one run. The methods `debugger*` answer with this project's debugger
and the baselines of Table 1; any other method can be asked too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from forethought.evals import critical_error_task
from forethought.evals.annotations import agreement, read_annotated
from forethought.evals.benchmarks.reading import Source, check_unique
from forethought.evals.types import Attempt, Benchmark, DataError, Sample, Score, Services
from forethought.knowledge.error_taxonomy import load_taxonomy
from forethought.trajectories.types import Annotation, Loaded

SOURCE = Source(
    "AgentErrorBench (MIT licence) is on the Google Drive that https://github.com/ulab-uiuc/AgentDebug links "
    "to: put its trajectories and label files into that folder"
)
MEASURES = ("step", "step_and_module", "all_correct")


class AgentErrorBench(Benchmark):
    """See the module."""

    name = "agent-error-bench"
    title = "AgentErrorBench"
    about = (
        "200 failed runs of ALFWorld, WebShop and GAIA with their critical errors; MIT; AgentDebug Table 1"
    )
    main_metric = "all_correct"
    options: Mapping[str, str] = {"environment": "alfworld, gaia or webshop (default: all)"}

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """See `Benchmark`."""
        try:
            found = read_annotated(data, load_taxonomy())
        except ValueError as error:
            raise DataError(f"{error}. {SOURCE.where}") from error
        samples = [_sample(loaded) for loaded in found]
        check_unique([sample.id for sample in samples], data, SOURCE)
        wanted = options.get("environment")
        known = sorted({sample.groups["environment"] for sample in samples})
        if wanted is not None and wanted not in known:
            raise DataError(f"option environment={wanted}: the data has {', '.join(known)}")
        return [sample for sample in samples if wanted in (None, sample.groups["environment"])]

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """Table 1's three measures, each 0 or 1."""
        taxonomy = load_taxonomy()
        known = Annotation.model_validate(sample.target)
        found = critical_error_task.read_answer(attempt.answer, taxonomy)
        values = {name: float(agrees) for name, agrees in agreement(found, known, taxonomy).items()}
        return Score(values, f"found: {_short(found)}; labelled: {_short(known)}")

    def summary(self, scored: Sequence[tuple[Sample, Sequence[Score]]]) -> Mapping[str, float]:
        """Table 1's Average: the mean over environments, whatever their sizes."""
        by_environment: dict[str, list[Score]] = {}
        for sample, scores in scored:
            by_environment.setdefault(sample.groups["environment"], []).extend(scores)
        rows = [scores for scores in by_environment.values() if scores]
        return {
            f"average_{measure}": sum(_mean(measure, scores) for scores in rows) / len(rows)
            for measure in MEASURES
            if rows
        }


def _mean(measure: str, scores: Sequence[Score]) -> float:
    return sum(score.values[measure] for score in scores) / len(scores)


def _sample(loaded: Loaded) -> Sample:
    assert loaded.reference.annotation is not None
    run = loaded.trajectory
    return Sample(
        id=re.sub(r"[^A-Za-z0-9._-]+", "-", run.id)[:150],
        task=critical_error_task.question(run, load_taxonomy()),
        answer_format=critical_error_task.ANSWER_FORMAT,
        target=loaded.reference.annotation.model_dump(),
        groups={"environment": run.environment.casefold() or "unknown"},
    )


def _short(found: Annotation | None) -> str:
    return f"step {found.critical_step}, {found.critical_module} {found.error_type}" if found else "nothing"


BENCHMARK = AgentErrorBench()
