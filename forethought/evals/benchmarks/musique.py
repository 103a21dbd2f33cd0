"""MuSiQue: questions composed of two to four single ones (Trivedi et al. 2022; PreFlect 3.2.1).

The version `ans` has answerable questions only. `full` has each question twice, once without a paragraph
that it needs: the agent is then to say that it cannot be answered, and the figure that counts is the
grouped one, where a question scores only if both its halves are told apart.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from forethought.evals.benchmarks import learned_from
from forethought.evals.benchmarks.answer_metrics import musique_exact_match, musique_f1, normalised
from forethought.evals.benchmarks.paragraphs import Paragraph, as_prompt, paragraph_tools
from forethought.evals.benchmarks.reading import Source, check_unique, choice, find, jsonl_of, row_of
from forethought.evals.types import Attempt, Benchmark, Sample, Score, Services

if TYPE_CHECKING:
    from forethought.tools.base import Tool

SOURCE = Source(
    "Run download_data.sh of https://github.com/StonyBrookNLP/musique (CC BY 4.0), and give its folder data"
)
ANSWER_FORMAT = "The answer alone: the shortest exact name, phrase, date or number."
UNANSWERABLE = "unanswerable"
_BROKEN = "-unanswerable"
"""Ends the id of a question's half that cannot be answered."""
_OR_NOT = f" If the paragraphs do not hold the answer: the one word {UNANSWERABLE}."


class _Paragraph(BaseModel):
    title: str
    paragraph_text: str


class _Row(BaseModel):
    id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    answer: str
    answer_aliases: list[str] = Field(default_factory=list)
    answerable: bool = True
    paragraphs: list[_Paragraph] = Field(min_length=1)


class Musique(Benchmark):
    """See the module."""

    name = "musique"
    title = "MuSiQue"
    about = "2,417 questions of two to four hops (dev); CC BY 4.0; PreFlect learns planning errors from it"
    main_metric = "f1"
    options: Mapping[str, str] = {
        "version": "ans (default), or full, with unanswerable questions",
        "split": "dev (default) or train",
        "context": "tools (default) to search the paragraphs, or prompt, which shows them all",
        learned_from.OPTION: learned_from.ABOUT,
    }

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """See `Benchmark`."""
        version = choice(options, "version", ("ans", "full"))
        split, context = (
            choice(options, "split", ("dev", "train")),
            choice(options, "context", ("tools", "prompt")),
        )
        path = find(data, (f"musique_{version}_v1.0_{split}.jsonl",), SOURCE)
        rows = [row_of(_Row, value, place, SOURCE) for place, value in jsonl_of(path, SOURCE)]
        if not rows:
            raise SOURCE.fault(str(path), "the file is empty")
        samples = [_sample(row, version, context) for row in rows]
        check_unique([sample.id for sample in samples], path, SOURCE)
        return learned_from.without_learned_from(samples, [row.question for row in rows], options)

    def tools(self, sample: Sample, services: Services) -> Sequence[Tool]:
        """The search in the question's paragraphs, or nothing where the prompt has all."""
        paragraphs = sample.data["paragraphs"]
        return paragraph_tools([Paragraph(*each) for each in paragraphs]) if paragraphs else ()

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """Exact match and F1, the best over the aliases; of an unanswerable question, whether it was said."""
        answerable, accepted = sample.target["answerable"], sample.target["accepted"]
        said_so = sample.data["version"] == "full" and normalised(attempt.answer) == UNANSWERABLE
        sufficiency = float(answerable != said_so)
        if answerable:
            exact, f1 = (
                float(musique_exact_match(attempt.answer, accepted)),
                musique_f1(attempt.answer, accepted),
            )
        else:
            exact = f1 = sufficiency
        values = {"em": exact, "f1": f1}
        if sample.data["version"] == "full":
            values["sufficiency"] = sufficiency
        return Score(values, f"expected: {accepted[0]}" if answerable else "no answer is there")

    def summary(self, scored: Sequence[tuple[Sample, Sequence[Score]]]) -> Mapping[str, float]:
        """Of the version full, the official figures: answers over answerable questions, and grouped."""
        if not any("answerable" in sample.groups for sample, _ in scored):
            return {}
        answerable = [score for sample, scores in scored if _is_whole(sample) for score in scores]
        return {
            "answer_em": _mean([score.values["em"] for score in answerable]),
            "answer_f1": _mean([score.values["f1"] for score in answerable]),
            "group_answer_sufficiency_f1": _mean(_grouped(scored)),
        }

    def floor(self, sample: Sample) -> float | None:
        """0 for an empty answer, unless the expected one has no word once normalised."""
        return musique_f1("", sample.target["accepted"]) if sample.target["answerable"] else 0.0


def _grouped(scored: Sequence[tuple[Sample, Sequence[Score]]]) -> list[float]:
    """For each question with both halves, and each trial that both have: the answer's F1 where both halves
    were told apart, else 0."""
    halves: dict[str, dict[bool, Sequence[Score]]] = defaultdict(dict)
    for sample, scores in scored:
        halves[sample.id.removesuffix(_BROKEN)][_is_whole(sample)] = scores
    return [
        answered.values["f1"] if answered.values["sufficiency"] and refused.values["sufficiency"] else 0.0
        for pair in halves.values()
        if len(pair) == 2
        for answered, refused in zip(pair[True], pair[False], strict=False)
    ]


def _is_whole(sample: Sample) -> bool:
    return sample.groups["answerable"] == "yes"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _sample(row: _Row, version: str, context: str) -> Sample:
    paragraphs = [Paragraph(each.title, each.paragraph_text) for each in row.paragraphs]
    hops = re.match(r"\d", row.id)
    shown = context == "prompt"
    return Sample(
        id=row.id if row.answerable else row.id + _BROKEN,
        task=as_prompt(row.question, paragraphs) if shown else row.question,
        answer_format=ANSWER_FORMAT + (_OR_NOT if version == "full" else ""),
        target={"answerable": row.answerable, "accepted": [row.answer, *row.answer_aliases]},
        groups={
            "hops": hops[0] if hops else "unknown",
            **({"answerable": "yes" if row.answerable else "no"} if version == "full" else {}),
        },
        data={
            "version": version,
            "paragraphs": [] if shown else [[each.title, each.text] for each in paragraphs],
        },
    )


BENCHMARK = Musique()
