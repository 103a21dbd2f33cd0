"""The text of steps and of windows."""

import pytest

from forethought.trajectories.show import condensed_text, head, shortened, step_text, window_of, world_text
from forethought.trajectories.types import Tool, Trajectory, TrajectoryStep


def run(count: int) -> Trajectory:
    steps = [TrajectoryStep(number=n, action=f"do {n}", observation=f"saw {n}") for n in range(1, count + 1)]
    return Trajectory(id="t", task="Find it", steps=tuple(steps))


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
        assert step in window
        assert len(window) <= size
        place = window.index(step)
        assert place >= size // 4 or window[0].number == 1
        text = condensed_text(trajectory.steps, window)
        assert ("are shown whole" in text) == (count > size)
        assert text.count("\nmemory: ") == len(window)
        assert text.count(" -> saw ") == count - len(window)
        texts.add(text)
    assert len(texts) <= 1 + max(0, count - size) // (size - size // 4) + 1


def test_no_such_step() -> None:
    with pytest.raises(KeyError):
        window_of(run(3), 4, 2)


def test_instructions_and_what_a_step_was_given_are_shown_whole():
    policy = "Never book twice. " * 400
    trajectory = run(1).model_copy(
        update={"instructions": policy, "tools": (Tool(name="book"),), "files": ("rules.pdf",)}
    )
    text = world_text(trajectory)
    assert policy in text
    assert text.endswith("- book()\n\nFiles that came with the task: rules.pdf")
    assert policy.strip() in step_text(TrajectoryStep(number=1, given=policy), 4_000)


def test_what_prompts_shorten_is_counted():
    step = TrajectoryStep(number=1, observation="y" * 52_000)
    long = Trajectory(id="t", task="Find it", steps=(step,))
    assert shortened([run(3), long, run(50)], 4_000, 40) == (
        "the prompts shorten 1 observation of more than 4,000 characters (the longest has 52,000; "
        "--set max_observation_chars=N shows more); 1 run of more than 40 steps (--set window=N shows more)"
    )
    assert shortened([run(3), run(50)], 4_000) == ""
