"""What is taken in: tasks to try, or trajectories."""

from __future__ import annotations

import re

from forethought.trajectories.types import Reference
from tests.support.synthesizing import Synthesize, task_of, trial_of


async def test_runs_are_sorted_by_task_and_read_once(synthesize: Synthesize) -> None:
    ulm = trial_of("Ulm", 1, ["wrong_unit"])
    out = await synthesize([ulm, trial_of("Bern", 1, []), ulm, trial_of("Ulm", 2, ["blind_packing"])])
    assert {key: trial["id"] for key, trial in out.state["trials"].items()} == {
        "t1.1": "Ulm-1",
        "t1.2": "Ulm-2",
        "t2.1": "Bern-1",
    }
    assert out.state["references"] == {"t1": ["37.5 kg"], "t2": ["1,240 kg"]}
    assert out.state["trajectories"] == []


async def test_ids_are_made_to_differ(synthesize: Synthesize) -> None:
    one, other = trial_of("Ulm", 1, ["wrong_unit"]), trial_of("Bern", 1, ["wrong_unit"])
    same = other.model_copy(update={"trajectory": other.trajectory.model_copy(update={"id": "Ulm-1"})})
    out = await synthesize([one, same])
    assert [trial["id"] for trial in out.state["trials"].values()] == ["Ulm-1", "Ulm-1~t2.1"]


async def test_no_failed_trial_is_said_without_a_call(synthesize: Synthesize) -> None:
    unjudged = trial_of("Bern", 1, ["wrong_unit"]).model_copy(update={"reference": Reference()})
    out = await synthesize([trial_of("Ulm", 1, []), unjudged])
    assert out.state["status"] == "no_failures"
    assert out.state["problem"].startswith(
        "no trial failed: of 2 trials of 2 tasks 1 succeeded, the others could not be judged"
    )
    assert out.server.requests == []
    assert (await synthesize({"Ulm": (), "Bern": ()})).state["status"] == "no_failures"


async def test_what_asks_more_than_ten_times_is_estimated_first(synthesize: Synthesize) -> None:
    runs = [trial_of(name, 1, ["wrong_unit"]) for name in ("Ulm", "Bern", "Bonn")]
    out = await synthesize((), go=False)
    told = await out.told({"trajectories": [run.model_dump(mode="json") for run in runs]})
    assert re.match(r"estimate: about 15 calls, [\d,]+ tokens, price unknown$", told[0])
    assert len(out.server.requests) <= 15
    tasks = [task_of(name).model_dump(mode="json") for name in ("Ulm", "Bern")]
    told = await (await synthesize({"Ulm": (), "Bern": ()}, go=False)).told({"tasks_file": tasks})
    assert told[0] == "estimate: up to 6 trials, and reflections on those that fail"
