"""Aggregation: one entry at a time against the growing set."""

from __future__ import annotations

import re

import pytest

from tests.support.distilling import Distil, Distiller, aggregation, question, runs
from tests.support.model_server import Answer, SeenRequest


def three() -> list[object]:
    """Runs of three tasks."""
    return [item for name in ("Ulm", "Bern", "Bonn") for item in runs(name, "ffs")]


async def test_entries_come_one_after_the_other_and_the_set_grows(distil: Distil) -> None:
    model = Distiller(types={"Ulm": ("first_hit", "no_check"), "Bern": ("first_hit",), "Bonn": ("no_check",)})
    out = await distil(three(), model)
    decisions = [(item["entry"], item["decision"], item["name"]) for item in out.state["decisions"]]
    assert decisions == [
        ("t1.1", "new", "first_hit"),
        ("t1.2", "new", "no_check"),
        ("t2.1", "merge", "first_hit"),
        ("t3.1", "merge", "no_check"),
    ]
    errors = out.state["errors"]
    assert {name: error["entries"] for name, error in errors.items()} == {
        "first_hit": ["t1.1", "t2.1"],
        "no_check": ["t1.2", "t3.1"],
    }
    shown = [re.findall(r'<planning_error name="(\w+)"', seen.last) for seen in out.asked("Aggregation")]
    assert shown == [[], ["first_hit"], ["first_hit", "no_check"], ["first_hit", "no_check"]]


async def test_a_redundant_entry_is_discarded_and_gives_no_pattern(distil: Distil) -> None:
    def aggregate(seen: SeenRequest) -> Answer | None:
        return aggregation("discard", "first_hit", " ") if "bridges of Bern" in seen.last else None

    out = await distil(three(), Distiller(aggregate=aggregate))
    assert out.state["decisions"][1]["decision"] == "discard"
    assert out.state["errors"]["first_hit"]["entries"] == ["t1.1", "t3.1"]
    assert all("Bern" not in seen.last for seen in out.asked("PatternSet"))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (aggregation("merge", "nowhere"), "no error 'nowhere' in the set; its errors are: first_hit"),
        (aggregation("new", "first_hit"), "the name first_hit is in the set"),
        (aggregation("new", "!!!"), "is no name"),
        ({**aggregation("new", "other"), "description": ""}, "new needs the error's whole description"),
        (aggregation("new", "other", question("Bern")), "it holds the text of a task"),
    ],
)  # fmt: skip
async def test_a_decision_that_cannot_be_carried_out_is_sent_back(
    distil: Distil, wrong: Answer, said: str
) -> None:
    given: list[SeenRequest] = []

    def aggregate(seen: SeenRequest) -> Answer | None:
        if "bridges of Bern" not in seen.text:
            return None
        given.append(seen)
        return wrong if len(given) == 1 else None

    out = await distil([*runs("Ulm", "ffs"), *runs("Bern", "ffs")], Distiller(aggregate=aggregate))
    assert said in given[1].last
    assert out.state["errors"]["first_hit"]["entries"] == ["t1.1", "t2.1"]


async def test_an_entry_without_a_usable_decision_is_left_out_and_that_is_recorded(distil: Distil) -> None:
    def aggregate(seen: SeenRequest) -> Answer | None:
        return aggregation("merge", "nothing") if "bridges of Bern" in seen.text else None

    out = await distil(three(), Distiller(aggregate=aggregate))
    assert out.state["decisions"][1]["decision"] == "failed"
    assert "there is no error 'nothing'" in out.state["problems"]["t2.1"]
    assert out.state["errors"]["first_hit"]["entries"] == ["t1.1", "t3.1"]


async def test_names_are_written_as_the_file_writes_them(distil: Distil) -> None:
    def aggregate(seen: SeenRequest) -> Answer | None:
        return aggregation("new", "First-Hit  Taken")

    out = await distil(runs("Ulm", "ffs"), Distiller(aggregate=aggregate))
    assert list(out.state["errors"]) == ["first_hit_taken"]
