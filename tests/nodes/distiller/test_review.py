"""A person's refinement: keep, edit, merge or drop."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.distilling import Distil, Distilled, Distiller, runs

TYPES = {"Ulm": ("one", "two", "three")}


async def reviewing(distil: Distil) -> Distilled:
    """Three errors that wait for a person."""
    out: Distilled = await distil(runs("Ulm", "ffs"), Distiller(types=TYPES), review=True)
    return out


async def test_each_error_is_asked_about_with_its_evidence(distil: Distil) -> None:
    out = await reviewing(distil)
    (question,) = await out.waiting()
    assert question["error"]["name"] == "one"
    assert question["others"] == ["two", "three"]
    (found,) = question["findings"]
    assert found["failure_evidence"][0]["quote"] == "look up the bridges of Ulm and take the one"
    assert found["question"].startswith("Which of the seven bridges")
    assert len(question["error"]["failures"]) == 2


async def test_keep_merge_and_drop(distil: Distil) -> None:
    out = await reviewing(distil)
    await out.reply({"decision": "keep"})
    await out.reply({"decision": "merge", "value": "one"})
    await out.reply({"decision": "drop"})
    assert out.state["status"] == "distilled"
    (final,) = out.state["final"].values()
    assert (final["name"], final["by"]) == ("one", "person")
    assert len(final["failures"]) == 4
    assert final["entries"] == ["t1.1", "t1.2"]
    assert [record["decision"] for record in out.state["reviews"].values()] == ["keep", "merge", "drop"]


async def test_edit_keeps_the_provenance_of_what_is_unchanged(distil: Distil) -> None:
    out = await reviewing(distil)
    before = out.state["patterns"]["one"]["failures"]
    changed = {"name": "uno", "failures": [before[0]["text"], "A text of mine."]}
    await out.reply({"decision": "edit", "value": changed})
    error = out.state["final"]["one"]
    assert (error["name"], error["by"]) == ("uno", "person")
    assert error["failures"] == [before[0], {"task": "", "run": "", "text": "A text of mine."}]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({"decision": "perhaps"}, "the decision must be one of keep, edit, merge, drop"),
        ({"decision": "merge", "value": "nowhere"}, "merge needs the name of another error: two"),
        ({"decision": "edit", "value": {"failures": ["one only"]}}, "at least 2 items"),
        ({"decision": "edit", "value": {"name": "two"}}, "the name two is taken"),
        ({"decision": "edit", "value": None}, "edit needs at least one field"),
    ],
)
async def test_a_reply_that_cannot_be_used_is_asked_again_with_the_reason(
    distil: Distil, reply: Any, said: str
) -> None:
    out = await reviewing(distil)
    await out.reply(reply)
    (question,) = await out.waiting()
    assert said in question["problem"]
    await out.reply({"decision": "keep"})
    assert (await out.waiting())[0]["error"]["name"] == "two"
