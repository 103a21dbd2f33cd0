"""Comparative diagnosis of each mixed task's runs, side by side in waves (PreFlect 3.2.1, diagnosis)."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from forethought.nodes.distiller.checks import diagnosis_problem, slug
from forethought.nodes.distiller.messages import diagnosis_messages
from forethought.nodes.distiller.runs import DistillServices, TaskRuns
from forethought.nodes.support.offline import jobs_for, next_wave
from forethought.nodes.support.state_reader import read_state
from forethought.prompts.distill_replies import ComparativeDiagnosis, DiagnosedError
from forethought.state.distiller import (
    Diagnosis,
    DistillerContext,
    DistillerState,
    Entry,
    Evidence,
)
from forethought.state.offline import Job


async def diagnose_wave(
    state: DistillerState, runtime: Runtime[DistillerContext], *, services: DistillServices
) -> dict[str, Any]:
    """Which tasks are diagnosed next, without a model call; none once all are. A spent budget stops it."""
    done = {*state.get("diagnoses", {}), *state.get("problems", {})}
    left = [key for key in state["tasks"] if key not in done]
    unfinished = f"{len(left)} of {len(state['tasks'])} tasks are not diagnosed"
    return next_wave(state, services.context(runtime), jobs_for("diagnose_task", left), unfinished)


async def diagnose_task(
    job: Job,
    runtime: Runtime[DistillerContext],
    config: RunnableConfig,
    *,
    services: DistillServices,
) -> dict[str, Any]:
    """What separates the task's failed runs from its successful ones; where no valid reply came, why. Raises
    the other ModelErrors."""
    key = job["key"]
    state: DistillerState = read_state(config, ("tasks",))
    runs = await TaskRuns.load(services, key, state["tasks"][key])
    reply, update = await services.ask(
        runtime,
        role="diagnosis",
        about=runs.task,
        problem_key=key,
        messages=diagnosis_messages(runs, services.context(runtime)),
        reply=ComparativeDiagnosis,
        check=lambda reply: diagnosis_problem(reply, runs),
    )
    if reply is None:
        return update
    entries = [_entry(key, number, error) for number, error in enumerate(reply.errors, 1)]
    return {**update, "diagnoses": {key: Diagnosis(comparison=reply.comparison, entries=entries)}}


def entries_of(state: DistillerState) -> dict[str, Entry]:
    """All diagnosed entries by key, in the order of the tasks."""
    diagnoses = state.get("diagnoses", {})
    found = [entry for key in state["tasks"] if key in diagnoses for entry in diagnoses[key]["entries"]]
    return {entry["key"]: entry for entry in found}


def _entry(key: str, number: int, error: DiagnosedError) -> Entry:
    quotes = {
        kind: [Evidence(run=quote.run, step=quote.step, quote=quote.quote) for quote in getattr(error, kind)]
        for kind in ("failure_evidence", "success_evidence")
    }
    return Entry(
        key=f"{key}.{number}",
        task=key,
        error_type=slug(error.error_type),
        description=error.description,
        impact=error.impact,
        avoided=error.avoided,
        failure_evidence=quotes["failure_evidence"],
        success_evidence=quotes["success_evidence"],
    )
