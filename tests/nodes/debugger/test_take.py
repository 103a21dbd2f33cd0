"""What is brought in, judged, and kept from models."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from forethought.rollouts.types import RolloutError
from forethought.trajectories.types import Loaded, Reference, Trajectory
from tests.support.debugging import GOLD, Debug, Reader, TruthfulWorld, trajectory
from tests.support.model_server import Fault

RUN = trajectory(2)


def nowhere(*_: Any) -> Any:
    """A server that cannot run a bare trajectory."""
    raise RolloutError("this server can rerun threads only")


@pytest.mark.parametrize(
    ("answer", "outcome", "expect", "status", "by"),
    [
        (GOLD, "unknown", GOLD, "successful", "gold"),
        ("Success! The task is solved.", "unknown", GOLD, "found", "gold"),
        ("no key", "success", "", "successful", "record"),
        ("no key", "failure", "", "found", "record"),
        ("no key", "unknown", "", "found", ""),
    ],
)
async def test_a_run_is_judged_by_the_evaluator_or_its_source_or_taken_as_failed(
    debug: Debug, answer: str, outcome: Any, expect: str, status: str, by: str
) -> None:
    loaded = Loaded(trajectory=trajectory(1, answer=answer), reference=Reference(outcome=outcome))
    out = await debug({"trajectory": loaded.model_dump()}, expect=expect)
    verdict = out["verdict"]
    assert (out["status"], verdict["success"], verdict["by"]) == (status, status == "successful", by)
    assert out.kinds == ([] if status == "successful" else ["StepLabels", "CriticalError"])
    assert by or "a debugged run counts as failed" in verdict["reason"]


@pytest.mark.parametrize(("answer", "hinted"), [(f"I found it: {GOLD}, in the hall.", True), ("no", False)])
async def test_an_answer_that_holds_the_expected_one_is_a_case_for_a_model(
    debug: Debug, answer: str, hinted: bool
) -> None:
    out = await debug({"trajectory": trajectory(1, answer=answer).model_dump()}, expect=GOLD)
    assert any("--judge model" in note for note in out["notes"]) == hinted


@pytest.mark.parametrize(("outcome", "status"), [("success", "successful"), ("failure", "found")])
async def test_a_recorded_outcome_wins_over_what_the_gold_answers_of_the_file_suggest(
    debug: Debug, outcome: Any, status: str
) -> None:
    answer = "no key" if outcome == "success" else GOLD
    reference = Reference(outcome=outcome, gold=(GOLD,))
    loaded = Loaded(trajectory=trajectory(1, answer=answer), reference=reference)
    out = await debug({"trajectory": loaded.model_dump()})
    assert (out["status"], out["verdict"]["by"]) == (status, "record")


async def test_a_recorded_outcome_wins_over_a_replay(debug: Debug) -> None:
    class Unreachable:
        name = task = "gone"

        async def reset(self) -> Any:
            raise OSError("it was replayed")

    loaded = Loaded(trajectory=RUN, reference=Reference(outcome="failure"))
    out = await debug({"trajectory": loaded.model_dump()}, judge="environment", environment=Unreachable())
    assert (out["status"], out["verdict"]["by"]) == ("found", "record")


AGAIN: dict[str, Any] = {"rerun": "agentdebug", "rollouts": lambda *_: TruthfulWorld(RUN, {})}
FLIPS: dict[str, Any] = {**AGAIN, "rerun": "off", "method": "counterfactual"}


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        ({}, {}, "nothing to debug"),
        ({"thread_id": "a", "trajectory": {"steps": []}}, {}, "exclude each other"),
        ({"thread_id": "a"}, {}, "has no access to threads"),
        ({"trajectory": {"nothing": "known"}}, {}, "unknown trajectory format"),
        ({"trajectory": {"task": "x", "steps": []}}, {}, "no steps"),
        ({"trajectory": {"task": "x", "steps": [{"number": 0}]}}, {}, "greater than or equal to 1"),
        (RUN, {"rerun": "agentdebug", "expect": GOLD}, "a re-run needs a thread or an environment"),
        (RUN, AGAIN, "needs a judge of success"),
        (RUN, {**AGAIN, "rollouts": nowhere, "expect": GOLD}, "this server can rerun threads only"),
        (RUN, {**AGAIN, "rerun": "vanilla", "judge": "none"}, "needs a judge of success"),
        (RUN, {"method": "counterfactual", "expect": GOLD}, "mode needs a thread or an environment"),
        (RUN, FLIPS, "needs a judge of success"),
        (RUN, {**FLIPS, "judge": "person"}, "too many runs for a person"),
    ],
)
async def test_what_cannot_be_done_is_one_clear_line_before_anything_is_spent(
    debug: Debug, given: Any, options: dict[str, Any], said: str
) -> None:
    out = await debug(given, **options)
    assert out["status"] == "failed"
    assert said in out["problem"]
    assert "\n" not in out["problem"]
    assert not out.kinds


async def test_a_thread_is_read_and_run_again_under_its_id(debug: Debug) -> None:
    run, asked = trajectory(2), []

    async def load(thread: str) -> Loaded:
        return Loaded(trajectory=run.model_copy(update={"id": thread}))

    def rollouts(subject: Trajectory, thread: str | None, context: Any) -> TruthfulWorld:
        asked.append((subject.id, thread))
        return TruthfulWorld(run, {1: [True]})

    out = await debug(
        {"thread_id": "t-1"}, load_thread=load, rollouts=rollouts, rerun="agentdebug", expect=GOLD
    )
    assert out["subject"]["id"] == "t-1"
    assert asked[0] == ("t-1", "t-1")
    assert out["status"] == "fixed"


async def test_no_prompt_holds_an_accepted_answer_or_an_annotation(debug: Debug) -> None:
    """Every prompt of every method, searched; the raw trajectory does not stay in the state either."""
    run = trajectory(4)
    annotation = {"critical_step": 2, "critical_module": "planning", "error_type": "planted_type_giraffe"}
    raw = {"trajectory": run.model_dump(), "reference": {"gold": [GOLD], "annotation": annotation}}
    point = {"step": 2, "module": "action", "error_type": "format_error", "reason": "r", "suggestion": "s"}
    replies: dict[str, Any] = {
        "FailurePoint": [point],
        "Salvage": [{"reasoning": "", "saved": True}],
    }
    for options in (
        {"method": "agentdebug", "rerun": "agentdebug", "max_reruns": 2},
        {"method": "direct"},
        {"method": "brute_force"},
        {"method": "binary_search"},
        {"method": "counterfactual"},
    ):
        world = TruthfulWorld(run, {3: [True]} if options["method"] == "counterfactual" else {})
        reader = Reader(replies=replies)
        out = await debug({"trajectory": raw}, reader, rollouts=lambda *_, w=world: w, **options)
        assert out.server.requests
        for seen in out.server.requests:
            assert "zebra" not in str(seen.body)
            assert "giraffe" not in str(seen.body)
        assert out["accepted"] == [GOLD]
        assert "giraffe" not in str(out.state)


async def test_a_model_judge_alone_sees_what_is_expected(debug: Debug) -> None:
    reader = Reader(replies={"Judgement": [{"reasoning": "", "correct": False}]})
    out = await debug(trajectory(2), reader, judge="model", expect=GOLD)
    holding = [seen.reply_name for seen in out.server.requests if "zebra" in str(seen.body)]
    assert holding == ["Judgement"]
    assert out["usage"]["judge"]["calls"] == 1


async def test_a_judge_that_cannot_judge_leaves_the_run_taken_as_failed(debug: Debug) -> None:
    reader = Reader(replies={"Judgement": [Fault("refusal")]})
    out = await debug(trajectory(2), reader, judge="model", expect=GOLD)
    assert out["status"] == "found"
    assert "judging it failed, so it counts as failed" in out["verdict"]["reason"]


async def test_a_thread_that_is_used_again_takes_over_nothing(debug: Debug) -> None:
    async def load(thread: str) -> Loaded:
        return Loaded(trajectory=trajectory(2, answer=GOLD))

    saver = InMemorySaver()
    first = await debug({"thread_id": "t-1"}, checkpointer=saver, load_thread=load, expect=GOLD)
    assert (first["status"], first["thread"]) == ("successful", "t-1")
    second = await debug(trajectory(3, answer=GOLD), checkpointer=saver)
    assert (second["status"], second["thread"], second["accepted"]) == ("found", "", [])
    assert set(second["labels"]) == {"1", "2", "3"}
    third = await debug(trajectory(1), checkpointer=saver)
    assert (set(third["labels"]), third["usage"]["label"]["calls"]) == ({"1"}, 1)
    fourth = await debug({"trajectory": {"nothing": "known"}}, checkpointer=saver)
    assert (fourth["status"], fourth["subject"]) == ("failed", {})
