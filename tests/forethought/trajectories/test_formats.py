"""Each format: its steps, its modules, its failures, and what of it goes to the reference only."""

from __future__ import annotations

import json

import pytest

from forethought.trajectories import react_logs
from forethought.trajectories.read import all_from_json, from_json
from tests.forethought.trajectories import examples

EVERY = {
    "react": examples.REACT,
    "react with rules": examples.REACT_WITH_RULES,
    "messages": examples.MESSAGES,
    "bench": examples.BENCH,
    "tau": examples.TAU,
}


def test_a_react_log_gives_each_run_once_by_how_it_ended():
    river, niesen, tower = react_logs.read(examples.REACT, "log")
    assert [loaded.reference.outcome for loaded in (river, niesen, tower)] == [
        "success",
        "failure",
        "failure",
    ]
    assert [loaded.trajectory.halted for loaded in (river, niesen, tower)] == [False, False, True]
    assert [loaded.reference.gold for loaded in (river, niesen, tower)] == [
        ("GOLD Aare",),
        ("GOLD 2362",),
        ("GOLD nobody",),
    ]
    assert river.trajectory.answer == "Aare"
    assert len({loaded.trajectory.id for loaded in (river, niesen, tower)}) == 3


def test_a_react_observation_keeps_its_lines_and_loses_the_verdict():
    first, last = react_logs.read(examples.REACT, "log")[0].trajectory.steps
    assert first.observation.startswith("Bern is a town.\nQuestion: this line")
    assert first.observation.endswith("\n\nIt lies on the Aare.")
    assert (first.planning, first.tool, first.arguments) == (
        "I should look for Bern.",
        "Search",
        {"argument": "Bern"},
    )
    assert (last.action, last.observation) == ("Finish[Aare]", "")


def test_reflections_of_earlier_trials_are_given_to_the_first_step():
    trajectory = react_logs.read(examples.REACT, "log")[1].trajectory
    assert trajectory.task == "How high is the Niesen?"
    assert trajectory.steps[0].given.endswith("- I gave up too soon.\n- I trusted a sign.")
    assert trajectory.steps[0].memory == ""


def test_a_react_log_with_rules_above_each_question_gives_every_distinct_run():
    lake, first, second = react_logs.read(examples.REACT_WITH_RULES, "log")
    assert [run.trajectory.task for run in (lake, first, second)] == [
        "Which lake is deeper?",
        "Which pass is higher?",
        "Which pass is higher?",
    ]
    assert [run.reference.outcome for run in (lake, first, second)] == ["success", "failure", "failure"]
    assert lake.reference.gold == ("GOLD Thun",)
    assert {run.trajectory.instructions for run in (lake, first, second)} == {
        "Solve a question with Thought, Action, Observation steps.\n(1) Search[entity], which shows a page."
    }
    assert [bool(run.trajectory.steps[0].given) for run in (lake, first, second)] == [False, False, True]
    assert second.trajectory.steps[0].given.endswith("\n- Question: is a word that I wrote.")
    assert second.trajectory.answer == "Furka"


def test_a_react_log_that_is_not_what_its_summary_counts_is_refused():
    lost = examples.REACT_WITH_RULES.replace("Thought 1: Search[Thun]", "Thought: Search[Thun]")
    lost = lost.replace("Action 1: Search[Thun]", "Action: Search[Thun]")
    with pytest.raises(ValueError, match=r"trial 1: read 0 correct, not 1 as the log's summary says"):
        from_json(lost)


def test_a_react_log_with_more_halted_runs_than_it_counts_says_so():
    runs = react_logs.read(examples.REACT.replace("Halted: 1", "Halted: 0"), "log")
    assert all("read 1 halted, not 0" in run.trajectory.notes[0] for run in runs)


def test_messages_become_steps_with_their_results_and_unknown_roles_are_named():
    trajectory = from_json(examples.MESSAGES, "chat").trajectory
    look, fetch, say = trajectory.steps
    assert trajectory.id == "chat"
    assert trajectory.task == "Where is parcel 7?\n[image_url]"
    assert (trajectory.instructions, look.given) == ("You sort parcels.", "")
    assert (look.planning, look.action) == ("I look it up.", 'find({"parcel": 7})\nping({})')
    assert look.observation == "shelf 3\nno route\n[critic] hurry up"
    assert look.failure == "tool_execution_error"
    assert (fetch.tool, fetch.arguments, fetch.observation) == ("fetch", {"shelf": 3}, "here it is")
    assert (say.action, say.observation, trajectory.answer) == (
        "It is on shelf 3.",
        "thanks",
        "It is on shelf 3.",
    )


def test_blocks_of_other_makers_are_calls_results_and_thoughts():
    value = [
        {"type": "human", "content": "Add."},
        {
            "type": "ai",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "So"},
                {"type": "tool_use", "name": "add", "input": {"a": 1}},
            ],
            "stop_reason": "max_tokens",
        },
        {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "2"}]}]},
    ]
    (step,) = from_json(value).trajectory.steps
    assert (step.planning, step.action, step.observation) == ("hm\nSo", 'add({"a": 1})', "2")
    assert step.failure == "llm_limit"


def test_agent_error_bench_modules():
    loaded = from_json(examples.BENCH, "mug")
    first, last = loaded.trajectory.steps
    assert (loaded.trajectory.id, loaded.trajectory.task) == ("mug", "put a mug on the desk")
    assert (loaded.trajectory.environment, loaded.reference.outcome) == ("alfworld", "failure")
    assert (first.planning, first.action) == ("go to the shelf", "go shelf 1")
    assert (first.given, first.observation) == ("You see a shelf. Admissible: go, take.", "A mug is on it.")
    assert (last.memory, last.reflection, last.action) == ("a mug", "good", "answer: mug placed")
    assert last.observation == "Nothing happens."


def test_messages_may_stand_under_messages_and_success_may_be_a_word():
    value = {"metadata": {"success": "True"}, "messages": examples.BENCH["chat_history"]}
    assert from_json(value, "x").reference.outcome == "success"


def test_tau_bench_keeps_the_reward_and_what_is_required_out_of_the_run():
    loaded = from_json(examples.TAU, "air")
    trajectory = loaded.trajectory
    call, say = trajectory.steps
    assert (trajectory.id, trajectory.task) == ("air-taskairline-4-trial1", "Cancel my booking.")
    assert (trajectory.task_id, trajectory.instructions) == ("airline-4", "# Airline Agent Policy")
    assert (loaded.reference.outcome, loaded.reference.gold) == ("failure", ())
    assert "GOLD 12" in loaded.reference.solution
    assert (call.tool, call.observation, call.failure) == ("cancel", "Error: no such booking", "")
    assert (say.action, say.observation) == ("I cannot find it.", "###STOP###")
    assert not trajectory.halted


def test_a_tau_run_that_neither_the_customer_nor_a_transfer_ends_is_halted():
    entry = {**examples.TAU[0], "traj": examples.TAU[0]["traj"][:4]}
    assert from_json([entry]).trajectory.limit == "max_num_steps"


def test_a_tau_run_that_broke_has_no_outcome():
    entry = {"task_id": 4, "reward": 0.0, "trial": 0, "info": {"error": "no key"}, "traj": []}
    loaded = from_json([entry])
    assert (loaded.reference.outcome, loaded.trajectory.halted) == ("unknown", False)
    assert "no key" in loaded.trajectory.notes[0]


def test_messages_with_metadata_are_not_agent_error_bench_and_success_may_stand_at_the_top():
    chat = {"messages": examples.MESSAGES, "metadata": {"model": "m"}, "success": False}
    loaded = from_json(chat, "x")
    assert (loaded.trajectory.source, loaded.reference.outcome) == ("messages", "failure")
    bench = {**examples.BENCH, "success": True, "metadata": {"task": "t"}}
    assert from_json(bench).reference.outcome == "success"


@pytest.mark.parametrize("name", EVERY)
def test_no_gold_and_no_label_is_in_any_trajectory_and_the_validated_form_reads_back(name):
    for loaded in all_from_json(EVERY[name]):
        dumped = loaded.trajectory.model_dump_json()
        assert "GOLD" not in dumped
        assert "Answer is" not in dumped
        assert "Correct answer" not in dumped
        assert from_json(json.loads(dumped)).trajectory == loaded.trajectory
        assert from_json(json.loads(loaded.model_dump_json())) == loaded
