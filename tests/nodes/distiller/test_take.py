"""Which tasks are compared, and which are refused."""

from __future__ import annotations

import json
import re

import pytest

from forethought.nodes.distiller.take import compared_runs
from tests.support.distilling import Distil, question, run_of, runs


async def test_only_tasks_of_mixed_outcome_are_compared(distil: Distil) -> None:
    out = await distil([*runs("Ulm", "ffs"), *runs("Bern", "ff"), *runs("Bonn", "s"), *runs("Graz", "ufs")])
    assert [task["task"] for task in out.state["tasks"].values()] == [question("Ulm"), question("Graz")]
    assert out.state["seen"] == {
        "trajectories": 9,
        "tasks": 4,
        "mixed": 2,
        "only_success": 1,
        "only_failure": 1,
        "unjudged": 0,
        "excluded": 0,
    }
    assert len(out.asked("ComparativeDiagnosis")) == 2


async def test_without_mixed_outcomes_it_says_what_was_seen_and_asks_nothing(distil: Distil) -> None:
    out = await distil([*runs("Ulm", "ff"), *runs("Bern", "s"), *runs("Bonn", "u")])
    assert out.state["status"] == "no_mixed"
    assert "(trajectories 4, tasks 3, mixed 0, only success 1, only failure 1," in out.state["problem"]
    assert out.server.requests == []


async def test_a_task_of_an_evaluation_is_refused_however_it_is_written(distil: Distil) -> None:
    same = question("Ulm").upper().replace("?", " ?!")
    within = f"Answer in one word. {question('Bern')} Think first."
    loaded = [*runs("Ulm", "fs"), *runs("Bern", "fs"), *runs("Bonn", "ffs")]
    out = await distil(loaded, exclude=[same, within])
    assert out.state["excluded"] == [question("Ulm"), question("Bern")]
    assert [task["task"] for task in out.state["tasks"].values()] == [question("Bonn")]
    assert all("Ulm" not in seen.text and "Bern" not in seen.text for seen in out.server.requests)


async def test_the_same_run_read_twice_counts_once(distil: Distil) -> None:
    again = run_of("Ulm", 1, "failure")
    copy = again.model_copy(update={"trajectory": again.trajectory.model_copy(update={"id": "other"})})
    out = await distil([*runs("Ulm", "fs"), copy])
    assert out.state["seen"]["trajectories"] == 2


async def test_trajectories_are_kept_by_hash_and_not_in_the_state(distil: Distil) -> None:
    out = await distil(runs("Ulm", "ffs"), files={"Ulm-1": "log.txt"})
    held = json.dumps({key: value for key, value in out.state.items() if key != "diagnoses"})
    assert "seven bridges; the Iron" not in held
    task = out.state["tasks"]["t1"]
    assert [run["label"] for run in task["runs"]] == ["F1", "F2", "S1"]
    assert (task["runs"][0]["id"], task["runs"][0]["file"]) == ("Ulm-1", "log.txt")
    assert out.state["trajectories"] == []


async def test_no_prompt_holds_an_accepted_answer(distil: Distil) -> None:
    loaded = [item.model_copy(deep=True) for item in runs("Ulm", "ffs")]
    hidden = [
        item.model_copy(update={"reference": item.reference.model_copy(update={"gold": ("Xylophone",)})})
        for item in loaded
    ]
    out = await distil(hidden)
    assert out.server.requests
    assert all("Xylophone" not in seen.text for seen in out.server.requests)


@pytest.mark.parametrize(
    ("outcomes", "most", "kept"),
    [("fffffffs", 4, "fffs"), ("ffffssss", 4, "ffss"), ("fssssss", 4, "fsss"), ("ffs", 6, "ffs")],
)
def test_of_many_runs_both_kinds_are_chosen(outcomes: str, most: int, kept: str) -> None:
    found = compared_runs(runs("Ulm", outcomes), most)
    assert "".join(label[0].lower() for label in found) == kept


async def test_what_is_no_trajectory_is_refused_with_its_number(distil: Distil) -> None:
    out = await distil(go=False)
    with pytest.raises(ValueError, match="trajectory 1: unknown trajectory format"):
        await out.go({"trajectories": [{"x": 1}]})


async def test_what_asks_more_than_ten_times_is_estimated_first(distil: Distil) -> None:
    names = ("Ulm", "Bern", "Bonn", "Graz", "Linz")
    loaded = [run.model_dump(mode="json") for name in names for run in runs(name, "fs")]
    out = await distil(go=False)
    told = await out.told({"trajectories": loaded})
    assert re.match(r"estimate: about 11 calls, [\d,]+ tokens, price unknown$", told[0])
    assert len(out.server.requests) == 11
    assert not any(
        "estimate" in line for line in await (await distil(go=False)).told({"trajectories": loaded[:6]})
    )
