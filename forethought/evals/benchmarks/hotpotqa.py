"""HotpotQA: questions that take two paragraphs of Wikipedia (Yang et al. 2018; PreFlect 3.2.1).

The distractor setting offers each question's own ten paragraphs, the fullwiki setting the web. Supporting
facts are not asked for, so neither they nor joint scores are measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from forethought.evals.benchmarks import learned_from
from forethought.evals.benchmarks.answer_metrics import exact_match, hotpotqa_overlap
from forethought.evals.benchmarks.paragraphs import paragraph_tools
from forethought.evals.benchmarks.reading import Source, check_unique, choice, find, json_of, rows_of
from forethought.evals.types import Attempt, Benchmark, Sample, Score, Services

if TYPE_CHECKING:
    from forethought.tools.base import Tool

SOURCE = Source(
    "Get hotpot_dev_distractor_v1.json or hotpot_dev_fullwiki_v1.json from https://hotpotqa.github.io (CC "
    "BY-SA 4.0), or for setting=fullwiki data/hotpot_dev_v1_simplified.json from https://github.com/ysymyth/ReAct"
)
ANSWER_FORMAT = "The answer alone: yes, no, or the shortest exact name, phrase, date or number."
_FILES = {
    "distractor": ("hotpot_dev_distractor_v1.json",),
    "fullwiki": (
        "hotpot_dev_fullwiki_v1.json",
        "hotpot_dev_distractor_v1.json",
        "hotpot_dev_v1_simplified.json",
    ),
}


class _Row(BaseModel):
    id: str = Field(default="", alias="_id")
    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)
    type: str = "unknown"
    level: str = "unknown"
    context: list[tuple[str, list[str]]] = Field(default_factory=list)


class HotpotQA(Benchmark):
    """See the module."""

    name = "hotpotqa"
    title = "HotpotQA"
    about = "7,405 questions over two paragraphs (dev); CC BY-SA 4.0; PreFlect learns planning errors from it"
    main_metric = "em"
    options: Mapping[str, str] = {
        "setting": "distractor (default): each question's own paragraphs; fullwiki: the web",
        learned_from.OPTION: learned_from.ABOUT,
    }

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """See `Benchmark`."""
        setting = choice(options, "setting", tuple(_FILES))
        path = find(data, _FILES[setting], SOURCE)
        rows = rows_of(_Row, json_of(path, SOURCE), path, SOURCE)
        samples = [_sample(number, row, setting, path) for number, row in enumerate(rows)]
        check_unique([sample.id for sample in samples], path, SOURCE)
        return learned_from.without_learned_from(samples, [row.question for row in rows], options)

    def tools(self, sample: Sample, services: Services) -> Sequence[Tool]:
        """The search in the question's paragraphs, or the web."""
        if sample.data["setting"] == "fullwiki":
            from forethought.tools.visit_webpage import VISIT_WEBPAGE
            from forethought.tools.web_search import WEB_SEARCH

            return (WEB_SEARCH, VISIT_WEBPAGE)
        return paragraph_tools(sample.data["paragraphs"])

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """Exact match, F1, precision and recall."""
        expected = str(sample.target)
        overlap = hotpotqa_overlap(attempt.answer, expected)
        values = {
            "em": float(exact_match(attempt.answer, expected)),
            "f1": overlap.f1,
            "precision": overlap.precision,
            "recall": overlap.recall,
        }
        return Score(values, f"expected: {expected}")

    def floor(self, sample: Sample) -> float | None:
        """0 for an empty answer, unless the expected one is empty once normalised."""
        return float(exact_match("", str(sample.target)))


def _sample(number: int, row: _Row, setting: str, path: Path) -> Sample:
    if setting == "distractor" and not row.context:
        raise SOURCE.fault(f"{path}, record {number + 1}", "the record has no context: use setting=fullwiki")
    paragraphs = [[title, "".join(sentences).strip()] for title, sentences in row.context]
    return Sample(
        id=row.id or f"dev-{number:04d}",
        task=row.question,
        answer_format=ANSWER_FORMAT,
        target=row.answer,
        groups={"type": row.type, "level": row.level},
        data={"setting": setting, "paragraphs": paragraphs if setting == "distractor" else []},
    )


BENCHMARK = HotpotQA()
