"""take: which tasks have runs with both outcomes, and are no task of an evaluation (PreFlect 3.2.1, B.1)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.runtime import Runtime

from forethought.nodes.distiller.runs import chosen, keep, labelled
from forethought.nodes.distiller.services import DistillServices
from forethought.state.distiller_context import DistillerContext
from forethought.state.distiller_state import DistillerState, MixedTask
from forethought.state.reducers import CLEAR
from forethought.trajectories.questions import Questions, normalised
from forethought.trajectories.read import all_from_json
from forethought.trajectories.types import Loaded


async def take(
    state: DistillerState, runtime: Runtime[DistillerContext], *, services: DistillServices
) -> dict[str, Any]:
    """Sort what is given by task and keep the tasks of mixed outcome; with nothing given, go on with what the
    thread holds. Raises ValueError for what is no trajectory."""
    context = services.context(runtime)
    await asyncio.to_thread(services.models.verify, [context.model])
    given = state.get("trajectories") or []
    if not given and state.get("tasks"):
        return {"status": "running", "problem": "", "wave": []}
    loaded = distinct([item for number, raw in enumerate(given, 1) for item in _read(raw, number)])
    files = state.get("files") or {}
    groups = by_task(loaded)
    questions = Questions(state.get("exclude") or [])
    refused = [key for key, runs in groups.items() if questions.hold(runs[0].trajectory.task)]
    tasks: dict[str, MixedTask] = {}
    for key, runs in groups.items():
        if key not in refused and _is_mixed(runs):
            compared = chosen(runs, context.max_runs)
            tasks[f"t{len(tasks) + 1}"] = MixedTask(
                task=runs[0].trajectory.task,
                runs=labelled(compared, files),
                stored=await keep(services.store, compared),
            )
    seen = _counts(loaded, groups, refused, len(tasks))
    return {
        **_cleared(),
        "tasks": tasks,
        "seen": seen,
        "excluded": [groups[key][0].trajectory.task for key in refused],
        "models": {"model": context.model},
        "status": "running" if tasks else "no_mixed",
        "problem": "" if tasks else no_mixed_line(seen),
    }


def by_task(loaded: Sequence[Loaded]) -> dict[str, list[Loaded]]:
    """The runs of each task, by its normalised text."""
    groups: dict[str, list[Loaded]] = {}
    for item in loaded:
        groups.setdefault(normalised(item.trajectory.task), []).append(item)
    return groups


def distinct(loaded: Sequence[Loaded]) -> list[Loaded]:
    """Each run once: what is the same but for its id was read twice."""
    found: dict[str, Loaded] = {}
    for item in loaded:
        bare = item.trajectory.model_copy(update={"id": "", "source": "", "notes": ()})
        found.setdefault(bare.model_dump_json(), item)
    return list(found.values())


def no_mixed_line(seen: Mapping[str, int]) -> str:
    """What was seen where there is nothing to compare, and what to do."""
    parts = [
        f"{seen[name]} {words}"
        for name, words in (
            ("only_success", "with successes only"),
            ("only_failure", "with failures only"),
            ("unjudged", "without a known outcome"),
            ("excluded", "refused as tasks of an evaluation"),
        )
        if seen[name]
    ]
    return (
        f"no task has both successful and failed runs: {seen['trajectories']} trajectories of "
        f"{seen['tasks']} tasks were read" + (f", {', '.join(parts)}" if parts else "") + "; collect more "
        "runs a task, or harder tasks"
    )


def _is_mixed(runs: Sequence[Loaded]) -> bool:
    return {"success", "failure"} <= {run.reference.outcome for run in runs}


def _counts(
    loaded: Sequence[Loaded], groups: Mapping[str, Sequence[Loaded]], refused: Sequence[str], mixed: int
) -> dict[str, int]:
    outcomes = [
        {run.reference.outcome for run in runs} - {"unknown"}
        for key, runs in groups.items()
        if key not in refused
    ]
    return {
        "trajectories": len(loaded),
        "tasks": len(groups),
        "mixed": mixed,
        "only_success": outcomes.count({"success"}),
        "only_failure": outcomes.count({"failure"}),
        "unjudged": outcomes.count(set()),
        "excluded": len(refused),
    }


def _read(raw: Any, number: int) -> list[Loaded]:
    try:
        return all_from_json(raw, f"trajectory-{number}")
    except ValueError as error:
        raise ValueError(f"trajectory {number}: {error}") from error


def _cleared() -> dict[str, Any]:
    """The channels of an earlier distillation on the thread, and the input, emptied."""
    of_keys = ("diagnoses", "patterns", "reviews", "problems", "usage")
    empty: dict[str, Any] = {name: {CLEAR: None} for name in of_keys}
    lists: dict[str, Any] = {"wave": [], "decisions": [], "notes": [], "trajectories": [], "exclude": []}
    return {**empty, **lists, "errors": {}, "files": {}, "final": {}}
