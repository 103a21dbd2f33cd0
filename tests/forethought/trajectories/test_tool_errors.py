"""Which tool errors recur over runs."""

from __future__ import annotations

from forethought.trajectories.tool_errors import error_text, recurring_tool_errors
from forethought.trajectories.types import Trajectory, TrajectoryStep


def run(id: str, *replies: tuple[str, str], task: str = "") -> Trajectory:
    """A run with a step for each (tool, reply)."""
    steps = tuple(
        TrajectoryStep(number=number, tool=tool, action=tool, observation=reply)
        for number, (tool, reply) in enumerate(replies, 1)
    )
    return Trajectory(id=id, task=task or f"Who is {id}?", steps=steps)


def test_a_tool_that_fails_in_most_runs_comes_first() -> None:
    lost = ("search", "Could not find that page, please try again.")
    runs = [
        run("a", lost, lost, ("lookup", "No Results for 7")),
        run("b", lost, ("lookup", "No Results for 8"), ("search", "A page.")),
        run("c", lost, ("search", "Could not find [x].")),
    ]
    first, second = recurring_tool_errors(runs)
    assert (first.tool, first.reply, first.count, first.calls) == ("search", lost[1], 4, 6)
    assert first.steps == {"a": [1, 2], "b": [1], "c": [1]}
    assert (second.tool, second.count, second.calls) == ("lookup", 2, 2)


def test_an_error_is_told_by_the_record_or_by_how_a_reply_begins() -> None:
    def text(reply: str, **more: object) -> str:
        return error_text(TrajectoryStep.model_validate({"number": 1, "observation": reply, **more}))

    assert text('{"error": "user not found"}') == "user not found"
    assert text("Error: no such flight\nat line 3") == "Error: no such flight"
    assert text("47 rows", failure="tool_execution_error") == "47 rows"
    assert text("", failure="tool_execution_error") == "(no reply)"
    assert text("Ulm is a city.") == ""
    assert text("word " * 30 + "error") == ""
    assert text("all done", failure="step_limit") == ""


def test_what_comes_back_in_one_task_alone_is_its_page_and_no_error_of_the_tool() -> None:
    page = ("search", "The failed raid began in May.")
    same = [run("a", page, task="Which raid?"), run("b", page, task="Which raid?")]
    assert recurring_tool_errors([*same, run("c", ("search", "A page."))]) == []
    assert len(recurring_tool_errors(same)) == 1


def test_runs_that_succeeded_with_the_same_error_are_counted() -> None:
    lost = ("search", "Could not find that page.")
    (error,) = recurring_tool_errors([run("a", lost), run("b", lost)], [run("c", lost, lost), run("d")])
    assert (error.count, error.succeeded) == (2, 1)
