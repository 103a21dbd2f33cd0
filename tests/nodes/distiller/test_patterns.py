"""Patterns: paraphrased, without their question, each with the run that it retells."""

from __future__ import annotations

from typing import Any

import pytest

from forethought.nodes.distiller.checks import COPIED_WORDS, Copies
from tests.support.distilling import (
    Distil,
    Distiller,
    aggregation,
    finding,
    pattern,
    question,
    runs,
    task_runs,
)
from tests.support.model_server import Answer, SeenRequest

COPIES = Copies.of([task_runs("ffs")])
"""What must not be copied of one task's runs."""


async def test_each_pattern_names_its_task_and_run(distil: Distil) -> None:
    out = await distil([*runs("Ulm", "ffs"), *runs("Bern", "fs")])
    patterns = out.state["patterns"]["first_hit"]
    assert [(item["task"], item["run"]) for item in patterns["failures"]] == [
        ("t1", "F1"),
        ("t1", "F2"),
        ("t2", "F1"),
    ]
    assert [(item["task"], item["run"]) for item in patterns["successes"]] == [("t1", "S1"), ("t2", "S1")]
    assert out.state["status"] == "distilled"
    assert list(out.state["final"]) == ["first_hit"]


@pytest.mark.parametrize(
    ("failures", "said"),
    [
        ([pattern(1, "F1", "It would look up the bridges of Ulm and take the one on top."), pattern(1, "F2")],
         "is copied word for word from run F"),
        ([pattern(1, "F1", f"So: {question('Ulm')}"), pattern(1, "F2")], "repeats the text of a task"),
        ([pattern(1, "F1"), pattern(1, "F1", "Another text.")], "run F1 of case 1 is described twice"),
        ([pattern(1, "F1"), pattern(4, "F1")], "there is no case 4: the cases are 1"),
        ([pattern(1, "F1"), pattern(1, "S1", "Told as a failure.")], "S1 is not a failed (F) run"),
        ([pattern(1, "F1")], "1 failures are too few; write 2 or more"),
    ],
)  # fmt: skip
async def test_a_pattern_that_cannot_be_shipped_is_sent_back(
    distil: Distil, failures: list[Any], said: str
) -> None:
    given: list[SeenRequest] = []

    def write(seen: SeenRequest) -> Answer | None:
        given.append(seen)
        return {"failures": failures, "successes": [pattern(1, "S1")]} if len(given) == 1 else None

    out = await distil(runs("Ulm", "ffs"), Distiller(write=write))
    assert said in given[1].last
    assert out.state["status"] == "distilled"


async def test_an_error_that_too_few_runs_show_is_left_out_and_named(distil: Distil) -> None:
    def diagnose(seen: SeenRequest) -> Answer | None:
        return {"comparison": "", "errors": [finding("first_hit", "Ulm", ["F1"])]}

    out = await distil(runs("Ulm", "ffs"), Distiller(diagnose=diagnose))
    assert out.state["problems"]["write_patterns first_hit"].startswith(
        "too narrow: fewer than 2 failed runs"
    )
    assert out.asked("PatternSet") == []
    assert out.state["status"] == "no_errors"
    assert "none of the 1 errors" in out.state["problem"]


async def test_an_error_without_usable_patterns_is_left_out_and_the_others_stay(distil: Distil) -> None:
    def write(seen: SeenRequest) -> Answer | None:
        bad = {"failures": [pattern(1, "F1")], "successes": [pattern(1, "S1")]}
        return bad if 'name="second"' in seen.text else None

    model = Distiller(types={"Ulm": ("first", "second")}, write=write)
    out = await distil(runs("Ulm", "ffs"), model)
    assert list(out.state["final"]) == ["first"]
    assert "too few" in out.state["problems"]["write_patterns second"]


async def test_only_runs_that_are_cited_are_shown(distil: Distil) -> None:
    out = await distil(runs("Ulm", "fffs"))
    (seen,) = out.asked("PatternSet")
    assert 'label="F2"' in seen.last
    assert 'label="F3"' not in seen.last


def test_seven_words_in_a_row_pass_and_eight_do_not() -> None:
    words = ["the", "one", "that", "the", "page", "names", "at", "its", "very", "top"]
    assert COPIES.problem(" ".join(words[: COPIED_WORDS - 1])) is None
    found = COPIES.problem("So " + ", ".join(words[:COPIED_WORDS]).upper())
    assert found is not None
    assert "the one that the page names at its" in found


def test_the_words_of_the_task_are_seen_in_other_dress() -> None:
    assert COPIES.problem(question("ULM").lower().replace(" ", "\n")) is not None
    assert COPIES.problem("Which of several things came first?") is None


async def test_the_description_that_is_shown_is_the_merged_one(distil: Distil) -> None:
    def aggregate(seen: SeenRequest) -> Answer | None:
        if "bridges of Bern" in seen.last:
            return aggregation("merge", "first_hit", "What both cases have in common.")
        return None

    out = await distil([*runs("Ulm", "ffs"), *runs("Bern", "ffs")], Distiller(aggregate=aggregate))
    assert "What both cases have in common." in out.asked("PatternSet")[0].last
    assert out.state["final"]["first_hit"]["description"] == "What both cases have in common."


@pytest.mark.parametrize(
    ("answer", "text", "refused"),
    [
        ("Old Bridge", "The old bridge was named.", True),
        ("Ulm", "A town was named.", False),
        ("Tennessee", "It named tennessee.", True),
        ("Tennessee", "Tennessee's capital was named.", True),
        ("yes", "The answer was yes.", False),
        ("novelist", "A novelist was named.", False),
    ],
)
def test_an_answer_that_tells_must_not_stand_in_a_pattern(answer: str, text: str, refused: bool) -> None:
    found = Copies.of([task_runs("fs", answer=answer)]).problem(text)
    assert (found is not None) is refused
