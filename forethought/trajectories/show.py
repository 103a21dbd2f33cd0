"""The text of one or several trajectories for a prompt. Whatever is cut says so, and how much is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from forethought.text import cut, how_many
from forethought.trajectories.types import Outcome, Tool, Trajectory, TrajectoryStep

MAX_OBSERVATION = 6_000
"""Default maximum characters of an observation or a module's output."""
HEAD_CHARS = 160
"""Maximum characters of a step's one-line form."""
PROMPT_CHARS = 320_000
"""Maximum characters of the runs in one prompt: about 90 thousand tokens."""
TASK_CHARS = 20_000
_LEAST = 200
_OWN_WORDS = 10
"""How many times longer than an observation the agent's own text may be."""
_FIRST_STEPS, _LAST_STEPS = 3, 5
"""Steps shown whole at each end of a run that is too long to show whole."""
OVERLAP = 4
"""One step in so many of a window is shown for the sake of the steps after it."""


def window_of(trajectory: Trajectory, number: int, size: int) -> tuple[TrajectoryStep, ...]:
    """The window of about `size` steps in which step `number` is judged; the whole where it is no longer.

    Windows are fixed, so that the prompts of a window's steps share their beginning; each but the first
    begins with the last steps of the one before, so that a step near its edge has its past before it.
    Raises KeyError when there is no such step.
    """
    steps = trajectory.steps
    index = steps.index(trajectory.step(number))
    if len(steps) <= size:
        return steps
    stride = size - size // OVERLAP
    # The first window has no step before it to show, so it takes its whole size.
    block = 0 if index < size else 1 + (index - size) // stride
    return steps[block * stride : block * stride + size]


def condensed_text(
    steps: Sequence[TrajectoryStep],
    whole: Iterable[TrajectoryStep],
    most: int = MAX_OBSERVATION,
    room: int = PROMPT_CHARS,
) -> str:
    """All steps, those of `whole` module by module and the others in a line each, which it says first.

    `most` (characters) bounds each observation, and is lowered until the steps of `whole` fit into `room`
    (characters); what is longer even so is cut.
    """
    chosen = {step.number for step in whole}
    limit = most
    while limit > _LEAST and _size((step for step in steps if step.number in chosen), limit) > room:
        limit = max(limit // 2, _LEAST)
    blocks = []
    for is_whole, group in groupby(steps, lambda step: step.number in chosen):
        shown = [step_text(step, limit) if is_whole else head(step) for step in group]
        blocks += shown if is_whole else ["\n".join(shown)]
    if len(chosen) < len(steps):
        note = f"Of the {len(steps)} steps {len(chosen)} are shown whole and the rest in one line each"
        blocks.insert(0, f"{note}, cut where it says so.")
    return cut("\n\n".join(blocks), room)


def _size(steps: Iterable[TrajectoryStep], limit: int) -> int:
    return sum(len(step_text(step, limit)) + 2 for step in steps)


def step_text(step: TrajectoryStep, max_observation: int = MAX_OBSERVATION) -> str:
    """A step whole, module by module. `max_observation` (characters) bounds what came back; the agent's own
    words and what it was given are cut only where they are many times as long."""
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
    limits = {"observation": max_observation}
    cuts = (f"{name}: {cut(text, limits.get(name, max_observation * _OWN_WORDS))}" for name, text in parts)
    return "\n".join([f"Step {step.number}", *cuts])


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


def world_text(trajectory: Trajectory) -> str:
    """What the agent had, in whole: its world, its instructions, its tools and its files."""
    files = ", ".join(trajectory.files)
    parts = (
        ("", trajectory.world),
        ("Its instructions (system prompt):\n", trajectory.instructions),
        ("Tools that it was offered:\n", "\n".join(map(_tool, trajectory.tools))),
        ("Files that came with the task: ", files),
    )
    return "\n\n".join(f"{title}{text}" for title, text in parts if text)


def _tool(tool: Tool) -> str:
    arguments = ", ".join(map(str, tool.parameters.get("properties") or tool.parameters))
    return f"- {tool.name}({arguments})" + (f": {tool.description}" if tool.description else "")


def shortened(trajectories: Sequence[Trajectory], limit: int, window: int | None = None) -> str:
    """What prompts about these leave out; '' where nothing. `limit` bounds an observation (characters),
    `window` the steps that a prompt shows whole."""
    steps = [step for trajectory in trajectories for step in trajectory.steps]
    long = [len(step.observation) for step in steps if len(step.observation) > limit]
    tasks = sum(len(trajectory.task) > TASK_CHARS for trajectory in trajectories)
    runs = sum(len(trajectory.steps) > (window or len(trajectory.steps)) for trajectory in trajectories)
    parts = (
        f"{how_many(len(long), 'observation')} of more than {limit:,} characters (the longest has "
        f"{max(long):,}; --set max_observation_chars=N shows more)"
        if long
        else "",
        f"{how_many(tasks, 'task')} of more than {TASK_CHARS:,} characters" if tasks else "",
        f"{how_many(runs, 'run')} of more than {window} steps (--set window=N shows more)" if runs else "",
    )
    told = [part for part in parts if part]
    return f"the prompts shorten {'; '.join(told)}" if told else ""


LabelledRun = tuple[str, Outcome, Trajectory]
"""A run with the label that the prompt gives it."""


def task_text(task: str) -> str:
    """A task as a prompt shows it."""
    return cut(task, TASK_CHARS)


def all_text(step: TrajectoryStep) -> str:
    """All that stands in a step, whole, under the names that a prompt shows it with: what is quoted."""
    return "\n".join(f"{name}: {text}" for name, text in step.texts().items())


def whole_text(trajectory: Trajectory) -> str:
    """All text of a run, its answer included."""
    return "\n".join([*map(all_text, trajectory.steps), trajectory.answer])


def run_texts(runs: Sequence[LabelledRun], most: int) -> list[dict[str, str]]:
    """The runs for a prompt, each {label, outcome, ended, text}; `most` bounds (characters) each
    observation, and is lowered where a run is longer than its share of the prompt."""
    share = PROMPT_CHARS // max(len(runs), 1)
    return [
        {
            "label": label,
            "outcome": "failed" if outcome == "failure" else "succeeded",
            "ended": _ending(trajectory),
            "text": _run_text(trajectory, most, share),
        }
        for label, outcome, trajectory in runs
    ]


def _ending(trajectory: Trajectory) -> str:
    if trajectory.halted:
        return "stopped by its step limit"
    return "with an answer" if trajectory.answer.strip() else "without an answer"


def _run_text(trajectory: Trajectory, most: int, room: int) -> str:
    """The run whole where shorter observations make it fit, else its ends whole and the other steps in a
    line each."""
    steps = trajectory.steps
    if not steps:
        return f"(no steps are recorded) answer: {cut(trajectory.answer, most) or '(none)'}"
    fits = _size(steps, min(most, _LEAST)) <= room
    whole = steps if fits else (*steps[:_FIRST_STEPS], *steps[-_LAST_STEPS:])
    return condensed_text(steps, whole, most, room)
