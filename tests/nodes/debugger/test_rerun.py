"""Stage 3 and its baselines on a household: re-runs, verdicts, new guidance, equal spend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from forethought.graph.debugger import build_debugger
from forethought.nodes.debugger.rerun import restart_module
from forethought.rollouts.environment import EnvironmentRollouts
from forethought.settings import Settings
from forethought.trajectories import own
from forethought.trajectories.types import Trajectory
from tests.support.debugging import critical, record_run
from tests.support.household import RUINS, Habit, Household
from tests.support.model_server import Answer, ModelServer, Reply, SeenRequest

STEPS = 16
Debug = Callable[..., Any]


@pytest.fixture
def debug(model_server: Callable[..., ModelServer], settings: Callable[..., Settings]) -> Debug:
    """Debug household 3 with scripted replies by type (the last of a list for ever)."""

    async def run(replies: dict[str, list[Answer]], **context: Any) -> Any:
        house = Household(3)
        trajectory = (await record_run(house, Habit(house), STEPS)).trajectory
        planted = next(step for step in trajectory.steps if step.action.split()[0] in RUINS)
        words = {"evidence": planted.action, "correction_guidance": "try something"}
        found = critical(planted.number, "action", "parameter_error", **words)
        # Replies may say only what is other than in the first critical error.
        again = [item if not isinstance(item, dict) else found | item for item in replies.pop("again", [])]
        given = {"CriticalError": [found, *again], **replies}

        def policy(seen: SeenRequest) -> Answer:
            queue = given[seen.reply_name]
            return queue.pop(0) if len(queue) > 1 else queue[0]

        def rollouts(original: Any, thread: Any, chosen: Any) -> EnvironmentRollouts:
            left.append(chosen.max_tokens)
            return EnvironmentRollouts(house, Habit(house), original, STEPS)

        left: list[Any] = []
        server = model_server(policy)
        graph = build_debugger(settings(server), InMemorySaver(), rollouts=rollouts, environment=house)
        config: Any = {"configurable": {"thread_id": "d"}}
        chosen = {"rerun": "agentdebug", "judge": "environment", "fine_grained": False, **context}
        found = await graph.ainvoke(
            {"trajectory": trajectory.model_dump(mode="json")}, config, context=chosen
        )
        found["left"] = left[1:]  # the first is made to see whether a re-run is possible

        async def reply(value: Any) -> Any:
            return await graph.ainvoke(Command(resume=value), config, context=chosen)

        return found, server, planted.number, reply

    return run


async def test_guidance_is_replaced_until_a_re_run_succeeds_and_every_branch_is_kept(debug: Debug) -> None:
    words = [{"correction_guidance": "be careful"}, {"correction_guidance": "Do not burn it"}]
    found, server, planted, _ = await debug({"again": words})
    assert found["status"] == "fixed"
    assert [branch["guidance"] for branch in found["branches"]] == [
        ["try something"],
        ["be careful"],
        ["Do not burn it"],
    ]
    assert [branch["success"] for branch in found["branches"]] == [False, False, True]
    assert {branch["kept"] for branch in found["branches"]} == {planted - 1}
    assert len({branch["branch"] for branch in found["branches"]}) == 3
    last = server.requests[-1].text
    assert "try something" in last
    assert "be careful" in last
    assert found["branches"][1]["steps"][-1]["observation"] in last


async def test_after_n_failed_re_runs_it_is_not_fixed(debug: Debug) -> None:
    found, server, _, _ = await debug({}, max_reruns=3)
    assert (found["status"], len(found["branches"])) == ("not_fixed", 3)
    assert server.names.count("CriticalError") == 3


async def test_a_person_is_asked_until_the_reply_is_yes_or_no(debug: Debug) -> None:
    found, _, _, reply = await debug({}, judge="person", max_reruns=1)
    payload = found["__interrupt__"][0].value
    assert (payload["kind"], payload["choices"]) == ("question", ["yes", "no"])
    again = await reply({"decision": "answer", "value": "perhaps"})
    assert again["__interrupt__"]
    done = await reply({"decision": "answer", "value": "Yes."})
    assert (done["status"], done["branches"][0]["reason"]) == ("fixed", "a person said yes")


async def test_self_refine_runs_the_whole_task_again_with_its_feedback(debug: Debug) -> None:
    feedback = [{"feedback": "hurry"}, {"feedback": "do not burn it"}]
    found, server, _, _ = await debug({"SelfFeedback": feedback}, rerun="self_refine")
    assert server.names == ["SelfFeedback", "SelfFeedback"]
    assert [branch["kept"] for branch in found["branches"]] == [0, 0]
    assert found["status"] == "fixed"


async def test_vanilla_debugging_runs_on_from_the_step_that_it_names(debug: Debug) -> None:
    point = {"step": 99, "module": "action", "error_type": "x", "reason": "It burnt it.", "suggestion": "no"}
    better = {**point, "step": 7, "suggestion": "Do not burn it."}
    found, server, _, _ = await debug({"FailurePoint": [point, better]}, rerun="vanilla")
    assert "there is no step 99: steps are 1 to 16" in server.requests[1].last
    assert (found["branches"][0]["from_step"], found["branches"][0]["kept"]) == (7, 6)
    assert (found["status"], found["branches"][0]["guidance"]) == ("fixed", ["It burnt it. Do not burn it."])


@pytest.mark.parametrize("tokens", [5_000, 9_000])
async def test_a_baseline_goes_on_until_the_same_tokens_are_spent(debug: Debug, tokens: int) -> None:
    reply = Reply({"feedback": "hurry"}, prompt_tokens=900, completion_tokens=100)
    found, *_ = await debug({"SelfFeedback": [reply]}, rerun="self_refine", max_tokens=tokens, max_reruns=1)
    assert (found["status"], len(found["branches"])) == ("not_fixed", tokens // 1000)
    assert any(f"the budget of {tokens} tokens is spent" in note for note in found["notes"])


async def test_best_of_n_runs_again_without_a_word(debug: Debug) -> None:
    found, server, _, _ = await debug({}, rerun="best_of_n", max_tokens=None, max_reruns=3)
    assert (server.names, len(found["branches"]), found["status"]) == ([], 3, "not_fixed")
    assert {branch["success"] for branch in found["branches"]} == {False}


async def test_tree_of_thoughts_goes_back_to_the_best_candidate_left_aside(debug: Debug) -> None:
    candidates = [{"actions": ["go to desk", "go to shelf", "go to stove"]}, {"actions": ["go to counter"]}]
    values = [{"values": [0.5, 0.9, 0.7]}]
    replies: dict[str, list[Answer]] = {"Candidates": list(candidates), "CandidateValues": list(values)}
    found, server, _, _ = await debug(replies, rerun="tree_of_thoughts", max_tokens=None, max_reruns=3)
    assert [branch["steps"][0]["action"] for branch in found["branches"]] == [
        "go to shelf",
        "go to stove",
        "go to desk",
    ]
    assert server.names.count("CandidateValues") == 1, "what was asked of a state once is not asked again"


async def test_a_re_run_may_cost_what_is_left_of_the_budget(debug: Debug) -> None:
    found, _, _, _ = await debug({}, max_tokens=50_000, max_reruns=2)
    spent = sum(usage["input_tokens"] + usage["output_tokens"] for usage in found["usage"].values())
    first, second, *_ = found["left"]
    assert first > second
    assert second == 50_000 - spent


def _run() -> Trajectory:
    call = {"action": "call", "tool": "python", "arguments": {"code": "print(sum(column))"}, "ok": True}
    step = {**call, "task": 1, "plan_version": 1, "subtask": "total", "observation": "42"}
    subtask = {"id": "total", "description": "Add up the amounts of all shipped orders.", "depends_on": []}
    values = {
        "task": "What was the revenue?",
        "progress": {"task": 1},
        "plan": {"version": 1, "why": "first plan", "subtasks": [subtask]},
        "trajectory": [
            {**step, "n": 1, "thought": "Look at the table first."},
            {**step, "n": 2, "thought": "The status says enough, skip remarks."},
        ],
    }
    return own.from_state(values, {"python": "read"})


@pytest.mark.parametrize(
    ("step", "module", "evidence", "entered"),
    [
        (1, "planning", "Add up the amounts of all shipped orders.", "planning"),
        (2, "planning", "Add up the amounts of all shipped orders.", "planning"),
        (2, "planning", "The status says enough, skip remarks.", "action"),
        (2, "planning", "print(sum(column))", "action"),
        (2, "planning", "", "planning"),
        (2, "reflection", "The status says enough", "reflection"),
    ],
)
def test_the_evidence_tells_whose_plan_it_was(step: int, module: str, evidence: str, entered: str) -> None:
    assert restart_module(critical(step, module, evidence=evidence), _run()) == entered


def test_an_agent_with_one_planning_module_has_no_planner_of_its_own() -> None:
    run = _run().model_copy(update={"source": "react_log"})
    assert restart_module(critical(2, evidence="The status says enough, skip remarks."), run) == "planning"
