"""The data of a run's page: pages of steps, plan changes, passages, prose that can do nothing."""

from __future__ import annotations

from forethought.app.viewer.plan_history import plan_changes
from forethought.app.viewer.prose import prose
from forethought.app.viewer.run_data import doing, passage, under_way
from forethought.app.viewer.timeline import step_record, timeline
from tests.support.sample_state import step


def _result(count: int, status: str = "answered") -> dict[str, object]:
    steps = [step(n, "a", ok=True, observation="x") for n in range(1, count + 1)]
    replan = {"n": 50, "reason": "why", "kind": "agent", "forced": False}
    return {"steps": steps, "status": status, "replans": [replan], "skipped": [], "plan": {}}


def test_a_step_is_on_its_page_and_a_replan_comes_once() -> None:
    found = timeline(_result(120), {}, step=70, whole=False)
    assert found["page"] == 2
    assert found["numbers"] == set(range(51, 101))
    pages = [timeline(_result(120), {}, page=page, whole=False) for page in (1, 2, 3)]
    assert [
        entry["replan"]["n"] for one in pages for entry in one["entries"] if entry["kind"] == "replan"
    ] == [50]
    assert timeline(_result(120, "running"), {}, whole=False)["page"] == 3
    assert len(timeline(_result(120), {}, whole=True)["numbers"]) == 120


def test_a_step_has_its_own_time_beside_its_models() -> None:
    usage = {"calls": 2, "seconds": 1.25, "input_tokens": 30, "output_tokens": 4, "usd": 0.5}
    found = step_record(step(1, "a", ok=True, observation="x", seconds=3.0, usage=usage), {})
    assert (found["own_seconds"], found["model_seconds"], found["tokens"], found["usd"]) == (
        1.75,
        1.25,
        34,
        0.5,
    )
    free = step_record(step(1, "a", ok=True, observation="x", seconds=3.0, usage={"unpriced": 1}), {})
    assert (free["own_seconds"], free["model_seconds"], free["usd"]) == (3.0, 0.0, None)
    code = step(1, "a", ok=True, observation="x", arguments={"code": "\na = 1\n\nprint(a)\n", "note": None})
    assert step_record(code, {})["gist"] == "code: a = 1 (+1 line)"


def test_what_happened_between_steps_is_told_in_its_place() -> None:
    long_term = {"1": {"round": 1, "score": 4, "evaluation": "thin"}, "2": {"failures": {"3": {}}}}
    rejected = [{"n": 3, "tool": "lookup", "arguments": {}, "evaluation": "risky", "score": 3}]
    memory = {"long_term": long_term, "short_term": {"a": {"rejected": rejected}}}
    steps = [step(n, "a", ok=True, observation="x", round=1 if n < 3 else 2) for n in (1, 2, 3)]
    skip = {"n": 0, "mechanism": "plan_intra", "why": "a simple task"}
    result = {"steps": steps, "status": "answered", "replans": [], "skipped": [skip], "plan": {"version": 4}}
    entries = timeline(result, memory, whole=True)["entries"]
    kinds = [one["kind"] for one in entries if one["kind"] != "wave"]
    assert kinds == ["round", "skips", "plan", "step", "step", "failed_round", "round", "step", "plan"]
    assert [one["rejected"] for one in entries if one["kind"] == "step"] == [[], [], rejected]


def test_a_subtask_is_under_way_until_its_step_is_recorded() -> None:
    sent = [{"subtask": "a", "n": 1}, {"subtask": "b", "n": 2}]
    assert under_way({"dispatch": sent, "trajectory": [step(1, "a")]}) == {"b"}
    assert under_way({}) == set()


def test_a_running_task_says_what_it_does() -> None:
    assert doing(["planner"], set()) == "The planner is thinking."
    assert doing(["tool_agent", "tool_agent"], {"b", "a"}) == "The agent is working on a, b."
    assert doing([], set()) == "The run is starting."


def test_plan_changes_tell_which_words_differ() -> None:
    old = {"subtasks": [{"id": "a", "description": "read the May sheet"}, {"id": "b", "description": "add"}]}
    new = {"subtasks": [{"id": "a", "description": "read the June sheet"}, {"id": "c", "description": "sum"}]}
    changes = {one["id"]: one for one in plan_changes(old, new)}
    assert {name: one["change"] for name, one in changes.items()} == {
        "a": "changed",
        "c": "added",
        "b": "removed",
    }
    assert changes["a"]["parts"][0]["new"] == [(False, "read the "), (True, "June"), (False, " sheet")]


def test_the_passage_is_what_shares_words_with_the_answer() -> None:
    text = "\n".join([*(f"line {n}" for n in range(20)), "the total is 893.10", "the end"])
    assert "893.10" in "".join(row["text"] for row in passage(text, "EUR 893.10") if row["shared"])


def test_prose_is_inert() -> None:
    html = prose("# Head\n<script>x</script> [a](javascript:x) ![p](http://p) [w](https://w) &#x202e;")
    assert "<script" not in html
    assert 'href="javascript' not in html
    assert "<img" not in html
    assert 'href="https://w" rel="noopener noreferrer"' in html
    assert "\u202e" not in html
    assert "<h3>" in html
