"""The synthesizer's prompts: what never changes first, what is asked now last (SAMULE, appendix C)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forethought.models.types import Message
from forethought.prompts.render import prompt_messages
from forethought.state.synthesizer import (
    ErrorReflection,
    ErrorType,
    Finding,
    SynthesizerContext,
    TaskRecord,
    TrialRecord,
)
from forethought.text import cut
from forethought.trajectories.show import (
    PROMPT_CHARS,
    condensed_text,
    run_texts,
    step_text,
    task_text,
    world_text,
)
from forethought.trajectories.types import Trajectory

WHOLE_CHARS = 80_000
"""Maximum characters of a trial shown whole while some of its steps are labelled."""
CASE_STEPS = 4
"""Maximum faulty steps of one trajectory shown for a reflection on their error type."""

Tried = tuple[TrialRecord, Trajectory]


def reflect_messages(
    task: TaskRecord, tried: Tried, references: Sequence[str], before: str, context: SynthesizerContext
) -> list[Message]:
    """Micro level: one failed trial against the reference (figure 3). `before` is the reflection that the
    trial was guided by."""
    trial, trajectory = tried
    return prompt_messages(
        "synthesize_reflect",
        task=task_text(task["task"]),
        background="\n\n".join(dict.fromkeys(filter(None, (trial["background"], world_text(trajectory))))),
        trial=_trial_texts([tried], context)[0],
        answer=cut(trajectory.answer, context.max_observation_chars),
        references=[task_text(text) for text in references],
        before=before,
    )


def type_messages(
    task: TaskRecord,
    trials: Sequence[Tried],
    taxonomy: Sequence[ErrorType],
    references: Sequence[str],
    context: SynthesizerContext,
) -> list[Message]:
    """Meso level: all trials of a task against the taxonomy so far (figure 4)."""
    return prompt_messages(
        "synthesize_types",
        taxonomy=taxonomy,
        task=task_text(task["task"]),
        background=next((trial["background"] for trial, _ in trials if trial["background"]), ""),
        trials=_trial_texts(trials, context),
        references=[task_text(text) for text in references],
    )


def label_messages(
    task: TaskRecord,
    tried: Tried,
    steps: Sequence[int],
    taxonomy: Sequence[ErrorType],
    rationale: str,
    references: Sequence[str],
    context: SynthesizerContext,
) -> list[Message]:
    """Meso level: a stretch of a trial's steps against the taxonomy (figure 5). The prompts of a trial
    that is shown whole differ in their last line alone."""
    trial = {**_trial_texts([tried], context)[0], "text": _around(tried[1], steps, context)}
    return prompt_messages(
        "synthesize_label",
        taxonomy=taxonomy,
        task=task_text(task["task"]),
        background=tried[0]["background"],
        rationale=rationale,
        references=[task_text(text) for text in references],
        trial=trial,
        steps=list(steps),
    )


def error_messages(
    error: ErrorType,
    cases: Sequence[tuple[TaskRecord, Tried, Mapping[int, str]]],
    context: SynthesizerContext,
) -> list[Message]:
    """Macro level: the steps of one error type in trajectories of different tasks (figure 6)."""
    limit = min(context.max_observation_chars, PROMPT_CHARS // (CASE_STEPS * 6 * max(len(cases), 1)))
    texts = [
        {
            "id": trial["id"],
            "task": trial["task"],
            "outcome": "failed" if trial["outcome"] == "failure" else "succeeded",
            "text": "\n\n".join(
                [
                    f"The task: {cut(task['task'], limit)}",
                    *(
                        f"{step_text(trajectory.step(step), limit)}\nCritique of step {step}: {critique}"
                        for step, critique in list(critiques.items())[:CASE_STEPS]
                    ),
                ]
            ),
        }
        for task, (trial, trajectory), critiques in cases
    ]
    return prompt_messages(
        "synthesize_error", name=error["name"], definition=error["definition"], cases=texts
    )


def merge_messages(
    task: TaskRecord,
    micro: str,
    path: Mapping[int, Sequence[Finding]],
    macros: Mapping[str, ErrorReflection],
) -> list[Message]:
    """The reflections of all levels on one trial."""
    critiques = [
        {"step": step, "error_type": finding["error_type"], "text": finding["critique"]}
        for step, findings in path.items()
        for finding in findings
    ]
    return prompt_messages(
        "synthesize_merge",
        task=task_text(task["task"]),
        micro=micro,
        critiques=critiques,
        macros=[{"error_type": name, "text": item["reflection"]} for name, item in macros.items()],
    )


def _trial_texts(trials: Sequence[Tried], context: SynthesizerContext) -> list[dict[str, str]]:
    """The trials as {label, outcome, ended, text}, all of them within one prompt's bound."""
    runs = [(str(trial["number"]), trial["outcome"], trajectory) for trial, trajectory in trials]
    return run_texts(runs, context.max_observation_chars)


def _around(trajectory: Trajectory, steps: Sequence[int], context: SynthesizerContext) -> str:
    """The trial whole where it fits; else the steps in question whole and the others in a line each."""
    limit, recorded = context.max_observation_chars, trajectory.steps
    text = condensed_text(recorded, recorded, limit)
    if len(text) <= WHOLE_CHARS:
        return text
    return condensed_text(recorded, [step for step in recorded if step.number in steps], limit)
