"""The prompts of the three stages: what they show of a trajectory, and in which order.

What never changes comes first, then the trajectory, and the question last, so that all steps of a window
share all but their last lines. No prompt is made of anything but the validated trajectory, its labels and
guidance: what a right run would have answered is not here to be shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from forethought.knowledge.error_taxonomy import Taxonomy
from forethought.models.types import Message
from forethought.prompts.debug_replies import MOST_SUSPECTS, NO_ERROR
from forethought.prompts.render import prompt_messages
from forethought.rollouts.policies import steps_shown
from forethought.state.debugger import Branch, DebuggerContext, Label
from forethought.text import number_ranges
from forethought.trajectories.own import SOURCE as OWN
from forethought.trajectories.show import (
    condensed_text,
    head,
    step_text,
    task_text,
    window_of,
    world_text,
)
from forethought.trajectories.types import MODULES, Trajectory, TrajectoryStep

if TYPE_CHECKING:
    from forethought.nodes.debugger.search import FoundStep

Labels = Mapping[str, Mapping[str, Label]]
_AROUND = 1
"""Neighbours of a step with an error that are shown whole with it."""


def label_messages(
    trajectory: Trajectory, number: int, context: DebuggerContext, taxonomy: Taxonomy
) -> list[Message]:
    """Stage 1: which errors the modules of step `number` made."""
    step = trajectory.step(number)
    values = {"taxonomy": taxonomy.text(), "step": head(step), "first": step is trajectory.steps[0]}
    return _about_step("debug_label", trajectory, number, context, **values)


def triage_messages(
    trajectory: Trajectory, context: DebuggerContext, known_failure: bool = True
) -> list[Message]:
    """Which steps of the whole run are to be labelled."""
    return _messages(
        "debug_triage",
        trajectory,
        run_text(trajectory, context),
        halted=trajectory.halted,
        known_failure=known_failure,
        most=MOST_SUSPECTS,
    )


def critical_messages(
    trajectory: Trajectory,
    labels: Labels | None,
    context: DebuggerContext,
    taxonomy: Taxonomy,
    *,
    known: FoundStep | None = None,
    known_failure: bool = True,
    branches: Sequence[Branch] = (),
    correction: str = "",
) -> list[Message]:
    """Stage 2: the critical error. Without `labels` it is looked for in the bare run; `known` is the step,
    where it was found by trying. `branches` are the re-runs so far, all of which failed. Of a run without
    `known_failure` the model may say that it shows no error. `correction` says what a person found wrong."""
    return _messages(
        "debug_critical",
        trajectory,
        run_text(trajectory, context, labelled_steps(labels or {}) if known is None else [known.number]),
        taxonomy=taxonomy.text(),
        halted=trajectory.halted,
        labelled=labels is not None,
        labels=labels_text(labels or {}),
        unexamined=number_ranges(_unexamined(trajectory, labels or {})),
        known=known,
        known_failure=known_failure,
        attempts=_attempts(branches, context),
        correction=correction,
    )


def direct_messages(
    trajectory: Trajectory, context: DebuggerContext, taxonomy: Taxonomy, branches: Sequence[Branch] = ()
) -> list[Message]:
    """The baseline of direct prompting: no labels, no definitions, no method (4.1)."""
    values = {
        "types": [(module, [kind.name for kind in taxonomy.types(module)]) for module in MODULES],
        "attempts": _attempts(branches, context),
        "known": None,
    }
    return _messages("debug_direct", trajectory, run_text(trajectory, context), **values)


def salvage_messages(
    trajectory: Trajectory, number: int, question: str, context: DebuggerContext
) -> list[Message]:
    """Whether the run could have been saved at step `number`: by its correction `alone`, or `still`."""
    values = {"question": question, "step": head(trajectory.step(number))}
    return _about_step("debug_salvage", trajectory, number, context, **values)


def substitution_messages(trajectory: Trajectory, number: int, context: DebuggerContext) -> list[Message]:
    """Which action should have stood in step `number`."""
    values = {
        "step": step_text(trajectory.step(number), context.max_observation_chars),
        "admissible": any(each.given for each in trajectory.steps),
        "own": trajectory.source == OWN,
    }
    return _about_step("debug_substitution", trajectory, number, context, **values)


def run_text(trajectory: Trajectory, context: DebuggerContext, of_interest: Sequence[int] = ()) -> str:
    """The whole run: all steps whole where they fit the window; of a longer one those of interest and their
    neighbours (else the first and the last ones) whole, and the others in a line each."""
    whole = _choose_steps(trajectory, context.window, of_interest)
    return condensed_text(trajectory.steps, whole, context.max_observation_chars)


def _choose_steps(trajectory: Trajectory, size: int, of_interest: Sequence[int]) -> list[TrajectoryStep]:
    """The steps that are shown whole, `size` at most: those of interest first, from the beginning on."""
    count = len(trajectory.steps)
    near = [at for at, step in enumerate(trajectory.steps) if step.number in of_interest]
    around = [at + by for at in near for by in range(-_AROUND, _AROUND + 1)]
    ends = [at for pair in zip(range(count), reversed(range(count)), strict=True) for at in pair]
    wanted = dict.fromkeys([count - 1, *near, *around, *ends])
    return [trajectory.steps[at] for at in wanted if 0 <= at < count][:size]


def labelled_steps(labels: Labels) -> list[int]:
    """Numbers of the steps in which an error was found, in order."""
    return sorted(
        int(number)
        for number, step in labels.items()
        if any(label["error_type"] != NO_ERROR for label in step.values())
    )


def _unexamined(trajectory: Trajectory, labels: Labels) -> list[int]:
    """Numbers of the steps of which not every module has a label."""
    return [step.number for step in trajectory.steps if len(labels.get(str(step.number), {})) < len(MODULES)]


def labels_text(labels: Labels) -> str:
    """The errors of stage 1, step by step; '' when there is none."""
    lines = []
    for number in labelled_steps(labels):
        for module in MODULES:
            label = labels[str(number)].get(module)
            if label is None or label["error_type"] == NO_ERROR:
                continue
            quoted = f' "{label["evidence"]}"' if label["evidence"] else ""
            lines.append(f"step {number}, {module}: {label['error_type']}.{quoted} {label['reasoning']}")
    return "\n".join(lines)


def _attempts(branches: Sequence[Branch], context: DebuggerContext) -> dict[str, Any] | None:
    """The re-runs so far, with the instructions that they were given (A.5), and the last one step by step.

    Verdicts are shown as failure only: a reason could give the accepted answer away.
    """
    if not branches:
        return None
    last = branches[-1]
    steps = [TrajectoryStep.model_validate(step) for step in last["steps"]]
    return {
        "index": len(branches) + 1,
        "earlier": [_attempt_text(branch) for branch in branches],
        "steps": steps_shown(steps, context.max_observation_chars, context.window),
        "answer": last["answer"],
    }


def _attempt_text(branch: Branch) -> str:
    guidance = "\n".join(branch["guidance"])
    ended = f"It answered: {branch['answer']}" if branch["answer"] else f"It ended: {branch['status']}"
    ran = f"from step {branch['from_step']} on, {len(branch['steps'])} of its own"
    return f"Guidance: {guidance}\nSteps: {ran}\n{ended}\nIt failed."


def _about_step(
    template: str, trajectory: Trajectory, number: int, context: DebuggerContext, **values: Any
) -> list[Message]:
    """A question about one step, with its window of the run."""
    window = window_of(trajectory, number, context.window)
    shown = condensed_text(trajectory.steps, window, context.max_observation_chars)
    return _messages(template, trajectory, shown, number=number, **values)


def _messages(template: str, trajectory: Trajectory, shown: str, **values: Any) -> list[Message]:
    return prompt_messages(
        template,
        task=task_text(trajectory.task),
        environment=trajectory.environment,
        world=world_text(trajectory),
        answer=task_text(trajectory.answer),
        trajectory=shown,
        **values,
    )
