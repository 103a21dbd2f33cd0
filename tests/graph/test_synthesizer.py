"""Algorithm 1 of SAMULE as a whole, on a scripted world with planted error types."""

from __future__ import annotations

from collections.abc import Callable

from forethought.settings import Settings
from forethought.tools.files import FileStore
from forethought.training.from_synthesis import reflection_records
from tests.support.model_server import Answer, SeenRequest
from tests.support.synthesizing import (
    HABITS,
    REMEDIES,
    WEIGHTS,
    Reader,
    Synthesize,
    kind,
    shown,
    task_of,
    taxonomy_of,
)

PLANTED = {
    "Ulm": ("blind_packing", "wrong_unit"),
    "Bern": ("wrong_unit", "unconfirmed_close"),
    "Bonn": ("unconfirmed_close", "stubborn_retry"),
    "Lyon": ("stubborn_retry", "blind_packing"),
    "Oslo": (),
}


def eager(seen: SeenRequest) -> Answer | None:
    """Proposes what the taxonomy has already, in other words, until it is refused."""
    if seen.reply_name != "TaxonomyGrowth" or len(seen.messages) > 2 or "wrong_unit" not in taxonomy_of(seen):
        return None
    return {"rationale": "It looks new.", "new_types": [kind("wrong_units_error", "Pounds are weighed.")]}


async def test_the_taxonomy_recovers_all_planted_types_once_and_macros_cite_two_tasks(
    synthesize: Synthesize,
) -> None:
    out = await synthesize(PLANTED, Reader(eager))
    assert out.state["status"] == "synthesized", out.state["problem"]
    assert sorted(out.names()) == sorted(HABITS)
    refused = [seen for seen in out.asked("TaxonomyGrowth") if len(seen.messages) > 2]
    assert refused
    assert all("wrong_units_error is a near-duplicate of wrong_unit" in seen.last for seen in refused)
    task_of_trajectory = {trial["id"]: trial["task"] for trial in out.state["trials"].values()}
    assert set(out.state["error_reflections"]) == set(HABITS)
    for name, made in out.state["error_reflections"].items():
        tasks = {task_of_trajectory[id] for id in made["cites"]}
        assert tasks == {f"t{n}" for n, habits in enumerate(PLANTED.values(), 1) if name in habits}
        assert len(tasks) == 2
        assert REMEDIES[name] in made["reflection"]


async def test_each_trial_heeds_the_reflection_on_the_one_before(synthesize: Synthesize) -> None:
    out = await synthesize(PLANTED)
    outcomes: dict[str, list[str]] = {}
    for key in sorted(out.state["trials"]):
        outcomes.setdefault(key.partition(".")[0], []).append(out.state["trials"][key]["outcome"])
    mended = ["failure", "failure", "success"]
    assert outcomes == {"t1": mended, "t2": mended, "t3": mended, "t4": mended, "t5": ["success"]}
    assert out.trials.given["ulm"][0] == []
    assert out.trials.given["ulm"][1] == [out.state["reflections"]["t1.1"]]
    assert out.trials.given["ulm"][2] == [out.state["reflections"]["t1.2"]]


async def test_the_reference_is_shown_to_the_first_reflection_alone(synthesize: Synthesize) -> None:
    out = await synthesize(PLANTED)
    for seen in out.server.requests:
        holds = [weight for weight in WEIGHTS.values() if f"{weight} kg" in seen.text]
        assert bool(holds) == (seen.reply_name == "TrialReflection"), seen.reply_name
    made = [*out.state["reflections"].values(), *out.state["merged"].values()]
    assert not [text for text in made for weight in WEIGHTS.values() if weight in text]


async def test_each_failed_trial_has_one_final_reflection_from_all_levels(
    synthesize: Synthesize, settings: Callable[..., Settings]
) -> None:
    out = await synthesize(PLANTED)
    failed = [key for key, trial in out.state["trials"].items() if trial["outcome"] == "failure"]
    assert sorted(out.state["merged"]) == sorted(failed)
    merged = out.state["merged"]["t1.1"]
    assert out.state["reflections"]["t1.1"] in merged
    assert "shows that it has to" in merged
    assert merged.count("It recurs everywhere") == 2
    records = reflection_records(out.state, FileStore(settings().blobs_dir))
    assert [record.task_id for record in records] == [
        name.lower() for name, habits in PLANTED.items() for _ in habits
    ]
    assert records[0].reflection == merged
    assert "the scale counts kilograms" in records[0].trajectory


async def test_a_synthesis_that_is_broken_off_goes_on_and_repeats_nothing(synthesize: Synthesize) -> None:
    out = await synthesize(PLANTED, go=False)
    given = {"tasks_file": [task_of(name).model_dump(mode="json") for name in PLANTED]}
    await out.go(given, max_tokens=2_000)
    assert out.state["status"] == "stopped"
    assert "budget of 2000 tokens is spent" in out.state["problem"]
    calls, trials = len(out.server.requests), sum(map(len, out.trials.given.values()))
    assert trials
    await out.go({"tasks_file": [], "trajectories": []}, max_tokens=None)
    assert out.state["status"] == "synthesized"
    texts = [shown(seen) for seen in out.server.requests]
    assert len(texts) == len(set(texts)) > calls
    assert sum(map(len, out.trials.given.values())) == 13
    await out.go({"tasks_file": [], "trajectories": []})
    assert len(out.server.requests) == len(texts)
