"""LangSmith's run exports: a tree of runs, or a flat list whose runs name their parents.

A step is a model's run and the tool runs up to the next model's. Chains only frame them: the outermost one
has the task and the answer. A tool run before any model's is a step of its own. Errors that runs record
become failures of their step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

from forethought.trajectories.openai_messages import Turn, conversation, plain_modules
from forethought.trajectories.types import Loaded, Reference, Trajectory, TrajectoryStep
from forethought.trajectories.values import Json, arguments, first, items, mapping, text

SOURCE = "langsmith"
_TASK_KEYS = ("task", "question", "input", "query", "prompt", "messages")
_ANSWER_KEYS = ("answer", "output", "result", "text", "content", "messages")
_LIMIT = re.compile(
    r"GraphRecursionError|[Rr]ecursion limit of \d+|max(?:imum)?[ _]iterations? (?:reached|exceeded)"
)
_GOLD = re.compile(r"expected|gold|ground_?truth|reference|correct|label|target", re.IGNORECASE)
"""Inputs of an evaluated run that hold what a right one answers."""
_MODEL_RUNS, _TOOL_RUNS = ("llm", "chat_model"), ("tool", "retriever")


def matches(value: object) -> bool:
    """Whether `value` is a run, or a list of runs."""
    runs = _listed(value)
    return bool(runs) and all("run_type" in mapping(run) for run in runs)


def read(value: object, name: str) -> list[Loaded]:
    """The traces in `value`, one trajectory each."""
    runs = [mapping(run) for run in _listed(value)]
    known = {text(run.get("id")) for run in runs} - {""}
    roots = [run for run in runs if text(run.get("parent_run_id")) not in known]
    children: dict[str, list[Json]] = {}
    for run in runs:
        if (parent := text(run.get("parent_run_id"))) in known:
            children.setdefault(parent, []).append(run)
    read_roots = [_trace(root, children) for root in roots]
    return [
        loaded.model_copy(
            update={"trajectory": loaded.trajectory.model_copy(update={"id": f"{name}-{number}"})}
        )
        if not loaded.trajectory.id
        else loaded
        for number, loaded in enumerate(read_roots, 1)
    ]


def _listed(value: object) -> list[Any]:
    return items(value) or items(mapping(value).get("runs")) or ([value] if isinstance(value, dict) else [])


def _trace(root: Json, children: dict[str, list[Json]]) -> Loaded:
    """One trace as a trajectory."""
    turns: list[Turn] = []
    task = _told(mapping(root.get("inputs")), _TASK_KEYS, last=False)
    for run in _walk(root, children):
        kind, error = text(run.get("run_type")), text(run.get("error"))
        if kind in _MODEL_RUNS:
            turns.append(_model_turn(run, error))
            task = task or _told(mapping(run.get("inputs")), _TASK_KEYS, last=False)
        elif kind in _TOOL_RUNS:
            _add_tool(turns, run, error)
    trouble = text(root.get("error"))
    if trouble and turns and trouble not in "\n".join(turns[-1].observed):
        turns[-1].observed.append(f"[run ended with an error] {trouble}")
    trajectory = Trajectory(
        id=text(first(root, "trace_id", "id")),
        task=task or "(no task was given)",
        source=SOURCE,
        steps=tuple(_step(number, turn) for number, turn in enumerate(turns, 1)),
        answer=_told(mapping(root.get("outputs")), _ANSWER_KEYS, last=True),
        halted=bool(_LIMIT.search(trouble)),
        notes=() if turns else ("The trace has no model run and no tool run.",),
    )
    gold = _told(mapping(root.get("reference_outputs")), _ANSWER_KEYS, last=True)
    return Loaded(trajectory=trajectory, reference=Reference(gold=(gold,) if gold else ()))


def _walk(root: Json, children: dict[str, list[Json]]) -> Iterator[Json]:
    """All runs of a trace, each once, in the order in which they began."""
    pending, seen = [root], set[int]()
    while pending:
        run = pending.pop()
        if id(run) in seen:
            continue
        seen.add(id(run))
        yield run
        below = [mapping(child) for child in items(run.get("child_runs"))]
        below += children.get(text(run.get("id")), [])
        pending += sorted(below, key=_begun, reverse=True)


def _begun(run: Json) -> tuple[str, str]:
    return text(run.get("dotted_order")), text(run.get("start_time"))


def _model_turn(run: Json, error: str) -> Turn:
    """A model's run as a turn, in whichever of the known forms its outputs are."""
    outputs = mapping(run.get("outputs"))
    message: Any = first(outputs, "message", "output")
    generations = items(outputs.get("generations"))
    while generations and isinstance(generations[0], list):
        generations = generations[0]
    if generations:
        message = first(mapping(generations[0]), "message", "text")
    elif choices := items(outputs.get("choices")):
        message = {**mapping(choices[0]), **mapping(mapping(choices[0]).get("message"))}
    elif listed := items(outputs.get("messages")):
        message = listed[-1]
    if isinstance(message, dict):
        inner = mapping(message.get("kwargs")) or mapping(message.get("data")) or message
        turns = conversation([{**inner, "role": "assistant"}]).turns
        turn = turns[0]
    else:
        turn = Turn(said=text(message) if message is not None else text(outputs or None))
    if error:
        turn.failure = "llm_limit"
        turn.observed.append(f"[model error] {error}")
    return turn


def _add_tool(turns: list[Turn], run: Json, error: str) -> None:
    """A tool's run as the observation of the turn that called it, or as a turn of its own."""
    call = {"name": text(run.get("name")) or "(unnamed)", "arguments": _inputs(run)}
    if not turns:
        turns.append(Turn(calls=[call]))
    elif not turns[-1].calls:
        turns[-1].calls.append(call)  # a model that calls in plain words, which an agent parsed
    said = _told(mapping(run.get("outputs")), _ANSWER_KEYS, last=True)
    if error:
        turns[-1].failure = "tool_execution_error"
        said = f"[tool error] {error}" if not said else f"{said}\n[tool error] {error}"
    if said:
        turns[-1].observed.append(said)


def _inputs(run: Json) -> Json:
    given = mapping(run.get("inputs"))
    return arguments(given["input"]) if set(given) == {"input"} else given


def _told(values: Json, keys: tuple[str, ...], *, last: bool) -> str:
    """The words in a run's inputs or outputs: under a known key, or all of it as JSON."""
    if not values:
        return ""
    found = first(values, *keys)
    listed = found
    while isinstance(listed, list) and listed and isinstance(listed[0], list):
        listed = listed[0]
    if isinstance(listed, list):
        messages = [mapping(mapping(item).get("kwargs")) or mapping(item) for item in listed]
        chosen = [item for item in messages if first(item, "role", "type") in ("user", "human")]
        message = (messages[-1] if last else (chosen or messages)[0]) if messages else {}
        return text(message.get("content"))
    if isinstance(found, dict):
        inner = mapping(found.get("kwargs")) or found
        return text(first(inner, "content", "answer", "output", "text") or inner)
    if found is None and not last:
        values = {key: value for key, value in values.items() if not _GOLD.search(key)}
    return text(found) if found is not None else text(values or None)


def _step(number: int, turn: Turn) -> TrajectoryStep:
    calls = turn.calls
    failure: Literal["", "tool_execution_error", "llm_limit"] = turn.failure
    parts = plain_modules(turn)
    return TrajectoryStep(
        number=number,
        observation="\n".join(turn.observed),
        failure=failure,
        tool=calls[0]["name"] if len(calls) == 1 else "",
        arguments=calls[0]["arguments"] if len(calls) == 1 else {},
        **parts,
    )
