"""MuSiQue: questions composed of two to four single ones (Trivedi et al. 2022; PreFlect 3.2.1).

Read is the version `ans`, which has answerable questions only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from forethought.evals.benchmarks import learned_from
from forethought.evals.benchmarks.answer_metrics import musique_exact_match, musique_f1
from forethought.evals.benchmarks.paragraphs import paragraph_tools
from forethought.evals.benchmarks.reading import Source, check_unique, choice, find, jsonl_of, row_of
from forethought.evals.types import Attempt, Benchmark, Sample, Score, Services

if TYPE_CHECKING:
    from forethought.tools.base import Tool

SOURCE = Source(
    "Run download_data.sh of https://github.com/StonyBrookNLP/musique (CC BY 4.0), and give its folder data"
)
ANSWER_FORMAT = "The answer alone: the shortest exact name, phrase, date or number."


class _Paragraph(BaseModel):
    title: str
    paragraph_text: str


class _Row(BaseModel):
    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    answer: str
    answer_aliases: list[str] = Field(default_factory=list)
    paragraphs: list[_Paragraph] = Field(min_length=1)


class Musique(Benchmark):
    """See the module."""

    name = "musique"
    title = "MuSiQue"
    about = "2,417 questions of two to four hops (dev); CC BY 4.0; PreFlect learns planning errors from it"
    main_metric = "f1"
    options: Mapping[str, str] = {
        "split": "dev (default) or train",
        learned_from.OPTION: learned_from.ABOUT,
    }

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """See `Benchmark`."""
        split = choice(options, "split", ("dev", "train"))
        path = find(data, (f"musique_ans_v1.0_{split}.jsonl",), SOURCE)
        rows = [row_of(_Row, value, place, SOURCE) for place, value in jsonl_of(path, SOURCE)]
        if not rows:
            raise SOURCE.fault(str(path), "the file is empty")
        samples = [_sample(row) for row in rows]
        check_unique([sample.id for sample in samples], path, SOURCE)
        return learned_from.without_learned_from(samples, [row.question for row in rows], options)

    def tools(self, sample: Sample, services: Services) -> Sequence[Tool]:
        """The search in the question's paragraphs."""
        return paragraph_tools(sample.data["paragraphs"])

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """Exact match and F1, the best over the aliases."""
        accepted = sample.target
        exact = musique_exact_match(attempt.answer, accepted)
        values = {"em": float(exact), "f1": musique_f1(attempt.answer, accepted)}
        return Score(values, f"expected: {accepted[0]}")

    def floor(self, sample: Sample) -> float | None:
        """0 for an empty answer, unless the expected one has no word once normalised."""
        return musique_f1("", sample.target)


def _sample(row: _Row) -> Sample:
    hops = re.match(r"\d", row.id)
    return Sample(
        id=row.id,
        task=row.question,
        answer_format=ANSWER_FORMAT,
        target=[row.answer, *row.answer_aliases],
        groups={"hops": hops[0] if hops else "unknown"},
        data={"paragraphs": [[each.title, each.paragraph_text] for each in row.paragraphs]},
    )


BENCHMARK = Musique()
