"""The data of a run's page: pages of steps, plan changes, passages, prose that can do nothing."""

from __future__ import annotations

from forethought.app.viewer.plan_history import plan_changes
from forethought.app.viewer.prose import prose
from forethought.app.viewer.run_data import passage
from forethought.app.viewer.timeline import timeline
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
