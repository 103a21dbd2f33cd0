"""The text of one or several trajectories for a prompt. Whatever is cut says so, and how much is missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forethought.text import cut
from forethought.trajectories.types import Outcome, Trajectory, TrajectoryStep

MAX_OBSERVATION = 6_000
"""Characters of one observation, or of one module's output, unless told."""
HEAD_CHARS = 160
"""Characters of a step's one-line head."""
PROMPT_CHARS = 320_000
"""Characters that the runs of one prompt take up at most: some 90 thousand tokens."""
TASK_CHARS = 20_000
_LEAST = 200
_FIRST_STEPS, _LAST_STEPS = 3, 5
"""Steps at a run's ends that are shown whole where the run is too long to be shown whole."""
OVERLAP = 4
"""One step in so many of a window is shown for the sake of the steps after it."""


@dataclass(frozen=True)
class Window:
    """The steps that are shown whole, and the others in one line each."""

    steps: tuple[TrajectoryStep, ...]
    before: tuple[TrajectoryStep, ...] = ()
    after: tuple[TrajectoryStep, ...] = ()

    @property
    def note(self) -> str:
        """What a reader should know of it; '' where nothing is left out."""
        if not (self.before or self.after):
            return ""
        total = len(self.before) + len(self.steps) + len(self.after)
        first, last = self.steps[0].number, self.steps[-1].number
        return f"Steps {first} to {last} are shown whole; the rest of the {total} steps in one line each."

    def text(self, max_observation: int = MAX_OBSERVATION) -> str:
        """All of it, in the order of the steps."""
        blocks = [self.note] if self.note else []
        if self.before:
            blocks.append("\n".join(head(step) for step in self.before))
        blocks += [step_text(step, max_observation) for step in self.steps]
        if self.after:
            blocks.append("\n".join(head(step) for step in self.after))
        return "\n\n".join(blocks)


def window_of(trajectory: Trajectory, number: int, size: int) -> Window:
    """The window of about `size` steps in which step `number` is judged; the whole where it is no longer.

    Windows are fixed, so that the prompts of a window's steps share their beginning; each but the first
    begins with the last steps of the one before, so that a step near its edge has its past before it.
    Raises KeyError when there is no such step, ValueError when `size` is not positive.
    """
    if size < 1:
        raise ValueError(f"a window needs at least 1 step, not {size}")
    steps = trajectory.steps
    wanted = trajectory.step(number)
    index = next(place for place, step in enumerate(steps) if step is wanted)
    if len(steps) <= size:
        return Window(steps)
    lead = size // OVERLAP
    stride = size - lead
    # The first window has no step before it to show, so it takes its whole size.
    block = 0 if index < size else 1 + (index - size) // stride
    start = block * stride
    end = start + size
    return Window(steps[start:end], steps[:start], steps[end:])


def step_text(step: TrajectoryStep, max_observation: int = MAX_OBSERVATION) -> str:
    """A step whole, module by module. `max_observation` (characters) bounds each part of it."""
    parts = [("given", step.given)] if step.given else []
    parts += [
        ("memory", step.memory or "(none)"),
        ("reflection", step.reflection or "(none)"),
        ("planning", step.planning or "(none)"),
        ("action", step.action or "(none)"),
        ("observation", step.observation or "(none)"),
    ]
    if step.failure:
        parts.append(("failure on record", step.failure))
    return "\n".join(
        [f"Step {step.number}", *(f"{name}: {cut(text, max_observation)}" for name, text in parts)]
    )


def head(step: TrajectoryStep, limit: int = HEAD_CHARS) -> str:
    """A step in one line of about `limit` characters: its action and the beginning of what came back."""
    action = _line(step.action or step.planning or "(no action)", limit // 2)
    seen = _line(step.observation or "(nothing)", limit // 2)
    failed = f" [{step.failure}]" if step.failure else ""
    return f"step {step.number}: {action} -> {seen}{failed}"


def _line(text: str, limit: int) -> str:
    line = " ".join(text[: limit * 4].split())
    missing = len(text) - limit
    return line if len(line) <= limit and missing <= limit * 3 else f"{line[:limit]} [+{missing} characters]"


LabelledRun = tuple[str, Outcome, Trajectory]
"""A run with the label that the prompt gives it."""


def task_text(task: str) -> str:
    """A task as a prompt shows it."""
    return cut(task, TASK_CHARS)


def all_text(step: TrajectoryStep) -> str:
    """All text of a step, which a quotation of it may be from."""
    parts = (step.given, step.memory, step.reflection, step.planning, step.action, step.observation)
    return "\n".join(part for part in parts if part)


def whole_text(trajectory: Trajectory) -> str:
    """All text of a run, its answer included."""
    return "\n".join([*map(all_text, trajectory.steps), trajectory.answer])


def run_texts(runs: Sequence[LabelledRun], most: int) -> list[dict[str, str]]:
    """The runs for a prompt, each {label, outcome, ended, text}; `most` bounds (characters) each part of a
    step, and is lowered until all runs fit."""
    limit = part_limit([step for *_, trajectory in runs for step in trajectory.steps], most)
    share = PROMPT_CHARS // max(len(runs), 1)
    return [
        {
            "label": label,
            "outcome": "failed" if outcome == "failure" else "succeeded",
            "ended": _ending(trajectory),
            "text": _run_text(trajectory, limit, share),
        }
        for label, outcome, trajectory in runs
    ]


def part_limit(steps: Sequence[TrajectoryStep], most: int) -> int:
    """How many characters of each part, `most` at most, let all `steps` fit into one prompt."""
    limit = most
    while limit > _LEAST and sum(len(step_text(step, limit)) + 2 for step in steps) > PROMPT_CHARS:
        limit = max(limit // 2, _LEAST)
    return limit


def _ending(trajectory: Trajectory) -> str:
    if trajectory.halted:
        return "stopped by its step limit"
    return "with an answer" if trajectory.answer.strip() else "without an answer"


def _run_text(trajectory: Trajectory, limit: int, share: int) -> str:
    """The run whole where its share allows it, else its ends whole and the steps between in a line each."""
    steps = trajectory.steps
    if not steps:
        return f"(no steps are recorded) answer: {cut(trajectory.answer, limit) or '(none)'}"
    whole = [step_text(step, limit) for step in steps]
    if sum(map(len, whole)) <= share or len(steps) <= _FIRST_STEPS + _LAST_STEPS:
        return "\n\n".join(whole)
    between = "\n".join(head(step) for step in steps[_FIRST_STEPS:-_LAST_STEPS])
    note = (
        f"[... steps {steps[_FIRST_STEPS].number} to {steps[-_LAST_STEPS - 1].number} in one line each ...]"
    )
    return "\n\n".join([*whole[:_FIRST_STEPS], f"{note}\n{cut(between, share)}", *whole[-_LAST_STEPS:]])
