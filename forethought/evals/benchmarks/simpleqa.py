"""SimpleQA: short questions of fact, graded by a model (Wei et al. 2024; PreFlect Table 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from forethought.evals.benchmarks.reading import Source, csv_of, find, python_dict
from forethought.evals.prompts.judge_replies import FactGrade
from forethought.evals.types import Attempt, Benchmark, Sample, Score, Services

FILE = "simple_qa_test_set.csv"
SOURCE = Source(
    f"Download https://openaipublic.blob.core.windows.net/simple-evals/{FILE} (OpenAI, MIT licence) into "
    "that folder"
)
GRADES = ("correct", "incorrect", "not_attempted")


class SimpleQA(Benchmark):
    """See the module."""

    name = "simpleqa"
    title = "SimpleQA"
    about = "4,326 short questions of fact, graded by a model; MIT licence; PreFlect Table 4"
    main_metric = "correct"
    builtin_tools: Sequence[str] = ("web_search", "visit_webpage", "read_file", "python")

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """See `Benchmark`."""
        path = find(data, (FILE,), SOURCE)
        rows = csv_of(path, ("metadata", "problem", "answer"), SOURCE)
        samples = [_sample(number, place, row) for number, (place, row) in enumerate(rows)]
        if not samples:
            raise SOURCE.fault(str(path), "the file has no questions")
        return samples

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """The judge's grade; an empty answer is not attempted, and no judge is asked. Raises ModelError."""
        if not attempt.answer.strip():
            return _graded("not_attempted", "the answer is missing")
        reply = await services.ask(
            "judge",
            "simpleqa_judge",
            FactGrade,
            question=sample.task,
            reference=str(sample.target),
            answer=attempt.answer,
        )
        return _graded(reply.grade, reply.reasoning)

    def summary(self, scored: Sequence[tuple[Sample, Sequence[Score]]]) -> Mapping[str, float]:
        """Correct given attempted and F1, over all trials of all samples."""
        return aggregate([score.label for _, scores in scored for score in scores])


def aggregate(grades: Sequence[str]) -> Mapping[str, float]:
    """The figures of simple-evals over `grades`: correct_given_attempted, and f1, the harmonic mean of that
    and of the share of correct answers; 0 where nothing was attempted."""
    correct, attempted = grades.count("correct"), len(grades) - grades.count("not_attempted")
    return {
        "correct_given_attempted": correct / attempted if attempted else 0.0,
        # 2pq / (p + q) with p = correct / attempted and q = correct / all.
        "f1": 2 * correct / (attempted + len(grades)) if correct else 0.0,
    }


def _graded(grade: str, why: str) -> Score:
    return Score({each: float(each == grade) for each in GRADES}, why, grade)


def _sample(number: int, place: str, row: Mapping[str, str]) -> Sample:
    for column in ("problem", "answer"):
        if not row[column].strip():
            raise SOURCE.fault(place, f"the cell {column} is empty")
    return Sample(
        id=f"{number:04d}",
        task=row["problem"],
        target=row["answer"],
        groups=_groups(row["metadata"], place),
    )


def _groups(metadata: str, place: str) -> Mapping[str, str]:
    """Topic and kind of answer."""
    try:
        value = python_dict(metadata)
    except ValueError as error:
        raise SOURCE.fault(place, f"the cell metadata {error}") from error
    return {key: str(value[key]) for key in ("topic", "answer_type") if key in value}


BENCHMARK = SimpleQA()
