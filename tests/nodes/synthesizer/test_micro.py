"""Micro level: trials, reflections against the reference, and what must not stand in them."""

from __future__ import annotations

from forethought.trajectories.tasks import RunError
from tests.support.model_server import Answer, SeenRequest
from tests.support.synthesizing import Reader, Synthesize, shown, trial_of

LEAK = {
    "comparison": "",
    "reflection": "In step 1 the parcel was weighed wrongly: it does not weigh 12, so say 37.50.",
}


async def test_a_reflection_that_holds_the_reference_is_sent_back(synthesize: Synthesize) -> None:
    def instead(seen: SeenRequest) -> Answer | None:
        leaks = seen.reply_name == "TrialReflection" and len(seen.messages) == 2
        return LEAK if leaks else None

    out = await synthesize([trial_of("Ulm", 1, ["wrong_unit"])], Reader(instead))
    first, again = out.asked("TrialReflection")
    assert "37.5 kg" in shown(first)
    assert 'it reveals the reference ("37.50")' in again.last
    assert "37" not in out.state["reflections"]["t1.1"]


async def test_one_that_leaks_to_the_last_is_left_out_and_the_other_levels_go_on(
    synthesize: Synthesize,
) -> None:
    def instead(seen: SeenRequest) -> Answer | None:
        return LEAK if seen.reply_name == "TrialReflection" and "of Ulm" in seen.text else None

    out = await synthesize({"Ulm": ("wrong_unit",), "Bern": ("wrong_unit",)}, Reader(instead))
    assert out.state["status"] == "synthesized"
    assert "reveals the reference" in out.state["problems"]["reflect_trial t1.1"]
    assert "t1.1" not in out.state["reflections"]
    assert out.trials.given["ulm"][1:] == [[], []], "it is tried again, with nothing to go by"
    assert "(nobody has looked at it)" in next(
        shown(seen) for seen in out.asked("MergedReflection") if "of Ulm" in shown(seen)
    )
    assert {"t1.1", "t2.1"} <= set(out.state["merged"])


async def test_the_first_success_ends_the_trials_and_so_does_k(synthesize: Synthesize) -> None:
    out = await synthesize({"Ulm": ("wrong_unit",), "Bern": ("wrong_unit", "blind_packing")}, trials=2)
    outcomes = {key: trial["outcome"] for key, trial in out.state["trials"].items()}
    assert outcomes == {"t1.1": "failure", "t1.2": "success", "t2.1": "failure", "t2.2": "failure"}


async def test_a_trial_that_nobody_can_judge_counts_for_neither_side_and_is_asked_for_again(
    synthesize: Synthesize,
) -> None:
    broken = {"now": True}

    def judge(task: str, trial: int) -> str:
        return "my_checks:right failed: KeyError" if task == "ulm" and broken["now"] else ""

    habits = {"Ulm": ("wrong_unit",), "Bern": ("wrong_unit",)}
    out = await synthesize(habits, judge=judge)
    assert out.state["problems"]["attempt_trial t1.1"].endswith("my_checks:right failed: KeyError")
    assert (out.state["pool"], list(out.state["merged"])) == (["t2.1", "t2.2"], ["t2.1"])
    assert not [seen for seen in out.server.requests if "of Ulm" in seen.text]
    broken["now"] = False
    await out.go({"tasks_file": [], "trajectories": []})
    assert out.state["pool"] == ["t1.1", "t1.2", "t2.1", "t2.2"]
    assert sorted(out.state["merged"]) == ["t1.1", "t2.1"]
    assert list(out.state["error_reflections"]) == ["wrong_unit"]
    assert out.state["problems"] == {}


async def test_a_trial_that_comes_to_no_end_is_recorded(synthesize: Synthesize) -> None:
    def judge(task: str, trial: int) -> str:
        if task == "ulm":
            raise RunError("it waits for a person")
        return ""

    out = await synthesize({"Ulm": ("wrong_unit",), "Bern": ("wrong_unit",)}, judge=judge)
    assert out.state["problems"]["attempt_trial t1.1"] == "it waits for a person"
    assert list(out.state["merged"]) == ["t2.1"]
