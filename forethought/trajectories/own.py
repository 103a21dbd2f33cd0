"""The project's own forms: a trajectory as it stands, and a thread of our own agent as one (AgentDebug 3.1).

The agent's prompts name its modules otherwise: what stood in a step's prompt of short-term memory and results
is its memory, its judgement of the last result and of its own move its reflection, the plan that begins with
it, its subtask and its thought its planning. The answer is a last step of its own. Only the present task of
the thread is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from forethought.trajectories.format import Format
from forethought.trajectories.types import Loaded, Trajectory, TrajectoryStep
from forethought.trajectories.values import Json, items, mapping, text

SOURCE = "forethought"
_SUBTASK = "Subtask: "
_CALL = re.compile(r"\s*([A-Za-z_][\w.-]*)\s*\((.*)\)\s*", re.DOTALL)
_MOVE = re.compile(r"\s*(finish|replan|answer)\s*:\s*(.*)", re.DOTALL | re.IGNORECASE)
_FORMS = 'write it as tool({"argument": "value"}), as finish: RESULT or as replan: REASON'
_STEP_LIMITS = ("steps", "moves")
"""Budgets that count as a step limit."""
_TOOL_FAILURES = {"tool", "timeout", "transport"}
"""Causes of a failed step outside the agent: the tool broke, was too slow or unreachable."""


def _is_state(value: object) -> bool:
    whole = mapping(value)
    recorded = isinstance(whole.get("progress"), dict) and isinstance(whole.get("trajectory", []), list)
    return recorded and "task" in whole


def _read_state(value: object, name: str) -> list[Loaded]:
    """The state in `value`, with the effects of its tools unknown."""
    return [Loaded(trajectory=from_state(mapping(value), {}, id=name))]


def _is_trajectory(value: object) -> bool:
    """Also where a field under `trajectory` is missing: the refusal then names it."""
    whole = mapping(value)
    if {"task", "steps"} & set(mapping(whole.get("trajectory"))):
        return True
    steps = whole.get("steps")
    numbered = isinstance(steps, list) and all("number" in mapping(step) for step in steps)
    return numbered and "task" in whole and "progress" not in whole


def _read_trajectory(value: object, name: str) -> list[Loaded]:
    """A `Trajectory`, or a `Loaded` with its reference beside it, as it stands. Raises ValidationError."""
    whole = mapping(value)
    loaded = whole if "trajectory" in whole else {"trajectory": whole}
    return [Loaded.model_validate({**loaded, "trajectory": {"id": name, **mapping(loaded["trajectory"])}})]


FORMATS = (
    Format("forethought trajectory", "task, steps with number", _is_trajectory, _read_trajectory),
    Format("forethought state", "progress, trajectory, task", _is_state, _read_state),
)


def from_state(
    values: Mapping[str, Any],
    effects: Mapping[str, str],
    *,
    id: str = "",
    plans: Sequence[Mapping[str, Any]] = (),
) -> Trajectory:
    """The trajectory of the present task in a thread's state.

    `effects` are the tools' effects by name (read, write, ...), where they are known: then a tool that is not
    among them may have changed something. `plans` are earlier plans, which the state no longer holds and its
    checkpoints do; without them the first step under such a plan shows its review only.
    """
    progress, answer = mapping(values.get("progress")), text(values.get("answer"))
    present = _present(values, progress.get("task", 1))
    known = {text(plan.get("version")): mapping(plan) for plan in (*plans, mapping(values.get("plan")))}
    steps: list[TrajectoryStep] = []
    version: object = None
    for step in present:
        plan = known.get(text(step.get("plan_version")), {})
        opening = "" if step.get("plan_version") == version else _plan(step, plan, values)
        version = step.get("plan_version")
        memory = "\n".join(_recalled(step, present, values))
        steps.append(_step(step, memory, plan, opening, effects))
    if answer:
        before = steps[-1].number if steps else progress.get("base_n")
        steps.append(_answer(values, answer, before + 1 if isinstance(before, int) else 1))
    stopped = text(progress.get("stopped"))
    return Trajectory(
        id=id,
        task=text(values.get("task")) or text(progress.get("task_text")) or "(no task was given)",
        environment="forethought",
        world=_world(values, effects),
        files=tuple(text(mapping(item).get("name")) or text(item) for item in items(values.get("files"))),
        source=SOURCE,
        steps=tuple(steps),
        answer=answer,
        halted=values.get("status") == "budget_exhausted" and stopped in _STEP_LIMITS,
        notes=(f"The run ended because its budget of {stopped} was spent.",)
        if stopped not in ("", *_STEP_LIMITS)
        else (),
    )


def _world(values: Mapping[str, Any], effects: Mapping[str, str]) -> str:
    """Its tools, and what the planner was shown of the files before the first plan."""
    looked = [mapping(file) for file in items(mapping(values.get("look")).get("files"))]
    shown = (f"## {text(file.get('name'))}\n{text(file.get('text'))}" for file in looked if file.get("text"))
    tools = f"Tools that it had: {', '.join(sorted(effects))}." if effects else ""
    files = "\n\n".join(shown)
    return "\n\n".join(filter(None, (tools, files and f"What it was shown of its files at once:\n\n{files}")))


def _present(values: Mapping[str, Any], task: object) -> list[Json]:
    """The steps of `task`, by number. Raises ValueError where one has none."""
    recorded = [mapping(step) for step in items(values.get("trajectory"))]
    present = [step for step in recorded if step.get("task", 1) == task]
    if not all(isinstance(step.get("n"), int) for step in present):
        raise ValueError(
            "a step of the state has no number n; give the state exactly as the agent's graph returns it"
        )
    return sorted(present, key=lambda step: int(step["n"]))


def _step(step: Json, memory: str, plan: Json, opening: str, effects: Mapping[str, str]) -> TrajectoryStep:
    tool, is_call = text(step.get("tool")), step.get("action") == "call"
    # A program of the agent's calls tools too.
    called = [tool, *(text(call.get("tool")) for call in map(mapping, items(step.get("sub_steps"))))]
    broke = not step.get("ok", True) and text(step.get("cause")) in _TOOL_FAILURES
    planning = [
        opening,
        f"{_SUBTASK}{text(step.get('subtask'))}",
        f"Thought: {text(step.get('thought'))}",
        f"Expected: {text(step.get('expected'))}" if step.get("expected") else "",
    ]
    return TrajectoryStep(
        number=int(step["n"]),
        given=_subtask(plan, text(step.get("subtask"))),
        memory=memory,
        reflection=_reflection(step),
        planning="\n".join(filter(None, planning)),
        action=_action(step),
        observation=text(step.get("observation")),
        failure="tool_execution_error" if broke else "",
        tool=tool if is_call else "",
        arguments=mapping(step.get("arguments")) if is_call else {},
        changes_world=is_call
        and bool(effects)
        and any(effects.get(name, "write") == "write" for name in filter(None, called)),
    )


def planned_by_planner(step: TrajectoryStep) -> str:
    """The planner's words in a step read from a state: its plan, where it begins there, and its subtask."""
    plan, _, _ = f"\n{step.planning}".partition(f"\n{_SUBTASK}")
    return f"{plan}\n{step.given}"


def _plan(step: Json, plan: Json, values: Mapping[str, Any]) -> str:
    """The plan that begins with `step`, and what the reflector said of it."""
    version, lines = step.get("plan_version"), []
    if plan:
        lines.append(f"Plan {text(version)}: {text(plan.get('why'))}".rstrip(": "))
        for name, facts in (("Known", plan.get("known")), ("To be found out", plan.get("open"))):
            lines += [f"{name}: {'; '.join(map(text, items(facts)))}"] if facts else []
        for subtask in map(mapping, items(plan.get("subtasks"))):
            after = ", ".join(map(text, items(subtask.get("depends_on"))))
            lines.append(
                f"- {text(subtask.get('id'))}: {text(subtask.get('description'))}"
                + (f" (after {after})" if after else "")
            )
        if plan.get("evaluation"):
            lines.append(f"The planner's evaluation: {text(plan['evaluation'])}")
    for review in map(mapping, items(values.get("plan_reviews"))):
        of_this = (review.get("task"), review.get("plan_version")) == (step.get("task"), version)
        if not of_this or review.get("skipped"):
            continue
        lines += [
            f"The reflector found {text(error.get('error_type'))}: {text(error.get('evidence'))}"
            for error in map(mapping, items(review.get("errors")))
        ]
        if review.get("changes"):
            lines.append(f"The reflector's changes: {text(review['changes'])}")
    return "\n".join(lines)


def _subtask(plan: Json, key: str) -> str:
    """A subtask as its worker was given it, or its name where the plan is not known."""
    for subtask in map(mapping, items(plan.get("subtasks"))):
        if subtask.get("id") == key:
            lines = [f"{key}: {text(subtask.get('description'))}"]
            lines += [f"Suggested tool: {text(subtask['tool'])}"] if subtask.get("tool") else []
            lines += [f"Expected result: {text(subtask['expected'])}"] if subtask.get("expected") else []
            return "\n".join(lines)
    return key


def _recalled(step: Json, present: Sequence[Json], values: Mapping[str, Any]) -> list[str]:
    """The memories and results that stood in the step's prompt, from their ids in `shown`."""
    earlier = [old for old in present if int(old["n"]) < int(step["n"])]
    lines = []
    for shown in map(text, items(step.get("shown"))):
        kind, _, key = shown.partition(":")
        if kind == "result":
            finished = [old for old in earlier if old.get("subtask") == key and old.get("finished")]
            result = mapping(mapping(values.get("results")).get(key)).get("text")
            seen = text(finished[-1].get("observation") if finished else result)
            lines.append(f"Result of {key}: {seen}" if seen else f"Result of {key}")
        elif kind == "failure":
            lines += [
                f"Step {key} failed: {_action(old)}: {text(old.get('cause'))}: {text(old.get('observation'))}"
                for old in earlier
                if text(old["n"]) == key
            ]
        elif kind == "rejected":
            lines.append(f"A move of step {key} that was rejected before it was made")
        else:
            lines.append(shown)
    return lines


def _reflection(step: Json) -> str:
    lines = []
    if (surprise := text(step.get("surprise"))) and surprise != "none":
        lines.append(f"Surprise at the last result: {surprise}")
    if evaluation := text(step.get("evaluation")):
        lines.append(f"Evaluation of its move (score {text(step.get('score'))} of 10): {evaluation}")
    return "\n".join(lines)


def _action(step: Json) -> str:
    """tool(arguments) | finish: result | replan: reason."""
    action = text(step.get("action"))
    if action == "call":
        called = json.dumps(mapping(step.get("arguments")), ensure_ascii=False, sort_keys=True, default=str)
        return f"{text(step.get('tool'))}({called})"
    if action == "none":
        return "none: no usable move was proposed"
    return f"{action}: {text(step.get('observation'))}"


def _answer(values: Mapping[str, Any], answer: str, number: int) -> TrajectoryStep:
    """The answer as the step in which it was written."""
    draft = mapping(values.get("draft"))
    used = ", ".join(map(text, items(draft.get("used_steps"))))
    evaluation, score = text(draft.get("evaluation")), text(draft.get("score") or "")
    return TrajectoryStep(
        number=number,
        given="Write the answer to the task from all steps.",
        memory=f"The answer rests on steps {used}." if used else "",
        reflection=f"Evaluation of the draft (score {score} of 10): {evaluation or 'no defect was named'}"
        if score
        else "",
        action=f"answer: {answer}",
    )


def move_of(action: str) -> tuple[str, str]:
    """('finish' | 'replan' | 'answer', its text), or ('', '') where `action` is a call."""
    match = _MOVE.fullmatch(action)
    return (match[1].lower(), match[2].strip()) if match else ("", "")


def call_of(action: str) -> tuple[str, Json]:
    """Tool and arguments of a call that is written as the trajectory shows calls: tool({...}).

    Raises ValueError where it is no call.
    """
    match = _CALL.fullmatch(action)
    try:
        arguments = json.loads(match[2].strip() or "{}") if match else None
    except ValueError:
        arguments = None
    if match is None or not isinstance(arguments, dict):
        raise ValueError(f"the corrected action is no move of the agent's ({action[:80]!r}): {_FORMS}")
    return match[1], arguments
