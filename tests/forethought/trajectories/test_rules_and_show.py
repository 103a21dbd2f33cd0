"""System errors by rule, and the text of steps and windows."""

import pytest

from forethought.trajectories.rules import system_label
from forethought.trajectories.show import head, step_text, window_of
from forethought.trajectories.types import Trajectory, TrajectoryStep


def run(count: int, *, halted: bool = False, **last: object) -> Trajectory:
    steps = [TrajectoryStep(number=n, action=f"do {n}", observation=f"saw {n}") for n in range(1, count + 1)]
    if last:
        steps[-1] = steps[-1].model_copy(update=last)
    return Trajectory(id="t", task="Find it", steps=tuple(steps), halted=halted)


def labels(trajectory: Trajectory) -> list[str]:
    return [
        label.error_type if (label := system_label(trajectory, step)) else "" for step in trajectory.steps
    ]


def test_the_last_step_of_a_halted_run_is_its_step_limit_and_no_other_step():
    assert labels(run(3, halted=True)) == ["", "", "step_limit"]
    assert labels(run(3)) == ["", "", ""]


def test_what_the_source_records_is_the_label():
    trajectory = run(2, failure="tool_execution_error", observation="boom\nmore")
    label = system_label(trajectory, trajectory.steps[1])
    assert label is not None
    assert (label.error_type, label.evidence) == ("tool_execution_error", "boom")


def test_a_step_is_shown_by_module_and_a_cut_says_how_much_is_missing():
    step = TrajectoryStep(
        number=7, given="a hint", planning="look", action="open[x]", observation="y" * 1_000
    )
    text = step_text(step, 100)
    assert text.startswith("Step 7\ngiven: a hint\nmemory: (none)\nreflection: (none)\nplanning: look\n")
    assert "[... 900 characters left out ...]" in text
    assert len(text) < 400
    assert "failure on record" not in text
    assert "failure on record: llm_limit" in step_text(step.model_copy(update={"failure": "llm_limit"}))


def test_a_head_is_one_line_of_bounded_length():
    line = head(TrajectoryStep(number=3, action="a\nb", observation="c \n" * 100_000))
    assert line.startswith("step 3: a b -> c c c")
    assert "\n" not in line
    assert len(line) < 260
    assert "+299920 characters" in line


@pytest.mark.parametrize(("count", "size"), [(1, 1), (5, 8), (8, 8), (9, 8), (120, 40), (30, 1), (7, 3)])
def test_every_step_has_a_window_that_shows_it_whole_and_all_others_in_a_line(count, size):
    trajectory = run(count)
    texts = set()
    for step in trajectory.steps:
        window = window_of(trajectory, step.number, size)
        assert step in window.steps
        assert len(window.steps) <= size
        assert window.before + window.steps + window.after == trajectory.steps
        place = window.steps.index(step)
        assert place >= size // 4 or not window.before
        assert bool(window.note) == (count > size)
        assert window.note in window.text()
        texts.add(window.text())
    assert len(texts) <= 1 + max(0, count - size) // (size - size // 4) + 1


def test_no_such_step_or_size():
    with pytest.raises(KeyError):
        window_of(run(3), 4, 2)
    with pytest.raises(ValueError, match="at least 1"):
        window_of(run(3), 1, 0)
