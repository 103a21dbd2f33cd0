"""The planning errors of tasks with mixed outcomes (PreFlect 3.2.1).

Diagnosis compares each task's failed runs with its successful ones, side by side in waves. Aggregation holds
one diagnosed entry after the other against the growing set, since each decision changes what the next one
sees: it is new, merged into an error of the set, or discarded.
"""

from __future__ import annotations

from typing import Any, cast

from langgraph.runtime import Runtime

from forethought.nodes.distiller.checks import Copies, aggregation_problem, diagnosis_problem, slug
from forethought.nodes.distiller.messages import aggregation_messages, diagnosis_messages
from forethought.nodes.distiller.runs import DistillServices, TaskRuns
from forethought.nodes.support.offline import next_wave, open_jobs, problem_key, stopped
from forethought.prompts.distill_replies import Aggregation, ComparativeDiagnosis
from forethought.state.distiller import (
    Decision,
    Diagnosis,
    DistillerContext,
    DistillerState,
    Entry,
    GrownError,
)
from forethought.state.offline import Job


async def diagnose_wave(
    state: DistillerState, runtime: Runtime[DistillerContext], *, services: DistillServices
) -> dict[str, Any]:
    """Which tasks are diagnosed next, without a model call; none once all are. A spent budget stops it."""
    jobs = open_jobs(state, "diagnose_task", state["tasks"], "diagnoses")
    unfinished = f"{len(jobs)} of {len(state['tasks'])} tasks are not diagnosed"
    return next_wave(state, services.context(runtime), jobs, unfinished)


async def diagnose_task(
    job: Job, runtime: Runtime[DistillerContext], *, services: DistillServices
) -> dict[str, Any]:
    """What separates the task's failed runs from its successful ones; where no valid reply came, why. Raises
    the other ModelErrors."""
    key = job["key"]
    state: DistillerState = services.read("tasks")
    runs = await TaskRuns.load(services, key, state["tasks"][key])
    reply, update = await services.ask(
        runtime,
        job,
        "diagnosis",
        diagnosis_messages(runs, services.context(runtime)),
        ComparativeDiagnosis,
        lambda reply: diagnosis_problem(reply, runs),
    )
    if reply is None:
        return update
    entries = []
    for number, error in enumerate(reply.errors, 1):
        about = {"key": f"{key}.{number}", "task": key, "error_type": slug(error.error_type)}
        entries.append(cast(Entry, {**error.model_dump(), **about}))
    return {**update, "diagnoses": {key: Diagnosis(comparison=reply.comparison, entries=entries)}}


def entries_of(state: DistillerState) -> dict[str, Entry]:
    """All diagnosed entries by key, in the order of the tasks."""
    diagnoses = state.get("diagnoses", {})
    found = [entry for key in state["tasks"] if key in diagnoses for entry in diagnoses[key]["entries"]]
    return {entry["key"]: entry for entry in found}


async def aggregate(
    state: DistillerState, runtime: Runtime[DistillerContext], *, services: DistillServices
) -> dict[str, Any]:
    """Decide on the next entry; where no valid reply came, it is left out and the decision says why. Raises
    the other ModelErrors."""
    left = open_entries(state)
    if not left:
        return {}
    if stop := stopped(state, services.context(runtime), f"{len(left)} diagnosed errors are not aggregated"):
        return stop
    entry, errors = left[0], state.get("errors", {})
    job = Job(node="aggregate", key=entry["key"])
    copies = Copies.of([await TaskRuns.load(services, entry["task"], state["tasks"][entry["task"]])])
    reply, update = await services.ask(
        runtime,
        job,
        "aggregation",
        aggregation_messages(entry, errors),
        Aggregation,
        lambda reply: aggregation_problem(reply, list(errors), copies),
    )
    if reply is None:
        reason = update["problems"][problem_key(job)]
        decision = Decision(entry=entry["key"], decision="failed", name="", reasoning=reason)
    else:
        name = slug(reply.name)
        decision = Decision(entry=entry["key"], decision=reply.decision, name=name, reasoning=reply.reasoning)
        update["errors"] = grown(errors, decision, reply.description)
    return {**update, "decisions": [*state.get("decisions", []), decision]}


def open_entries(state: DistillerState) -> list[Entry]:
    """Entries on which nothing is decided yet, in their order."""
    decided = {decision["entry"] for decision in state.get("decisions", [])}
    return [entry for key, entry in entries_of(state).items() if key not in decided]


def grown(errors: dict[str, GrownError], decision: Decision, description: str) -> dict[str, GrownError]:
    """The set after the decision."""
    if decision["decision"] == "discard":
        return errors
    name = decision["name"]
    before = errors[name]["entries"] if name in errors else []
    changed = GrownError(name=name, description=description.strip(), entries=[*before, decision["entry"]])
    return {**errors, name: changed}
