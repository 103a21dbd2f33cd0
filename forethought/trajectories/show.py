"""The text of a trajectory for a prompt. Whatever is cut says so, and how much is missing."""

from __future__ import annotations

from dataclasses import dataclass

from forethought.text import cut
from forethought.trajectories.types import Trajectory, TrajectoryStep

MAX_OBSERVATION = 6_000
"""Characters of one observation, or of one module's output, unless told."""
HEAD_CHARS = 160
"""Characters of a step's one-line head."""
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
