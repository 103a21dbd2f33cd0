"""Comparative diagnosis of each mixed task's runs, side by side in waves (PreFlect 3.2.1, diagnosis)."""

from __future__ import annotations

from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from forethought.models.types import ReplyError, reply_spec
from forethought.nodes.distiller.checks import diagnosis_problem, slug
from forethought.nodes.distiller.messages import diagnosis_messages
from forethought.nodes.distiller.runs import kept
from forethought.nodes.distiller.services import DistillServices
from forethought.nodes.support.reading import read_state
from forethought.prompts.distill_replies import ComparativeDiagnosis, DiagnosedError, Quote
from forethought.state.bounds import exhausted
from forethought.state.distiller_context import DistillerContext
from forethought.state.distiller_state import (
    Diagnosis,
    DistillerState,
    Entry,
    Evidence,
    TaskDispatch,
)


async def diagnose_wave(
    state: DistillerState, runtime: Runtime[DistillerContext], *, services: DistillServices
) -> dict[str, Any]:
    """Which tasks are diagnosed next, without a model call; none once all are. A spent budget stops it."""
    context = services.context(runtime)
    done = {*state.get("diagnoses", {}), *state.get("problems", {})}
    left = [key for key in state["tasks"] if key not in done]
    if left and (why := exhausted(state, context)):
        problem = f"{why}, and {len(left)} of {len(state['tasks'])} tasks are not diagnosed; raise it"
        return {"wave": [], "status": "stopped", "problem": problem}
    return {"wave": left[: context.max_parallel]}


async def diagnose_task(
    dispatch: TaskDispatch,
    runtime: Runtime[DistillerContext],
    config: RunnableConfig,
    *,
    services: DistillServices,
) -> dict[str, Any]:
    """What separates the task's failed runs from its successful ones; where no valid reply came, why. Raises
    the other ModelErrors."""
    context, key = services.context(runtime), dispatch["task"]
    state = cast(DistillerState, read_state(config, ("tasks",)))
    runs = await kept(services.store, key, state["tasks"][key])
    runtime.stream_writer({"event": "thinking", "role": "diagnosis", "about": runs.task})
    try:
        asked = await services.models.ask(
            role="diagnosis",
            model=context.model,
            messages=diagnosis_messages(runs, context),
            reply=reply_spec(ComparativeDiagnosis),
            check=lambda reply: diagnosis_problem(reply, runs),
        )
    except ReplyError as error:
        return {"problems": {key: error.problem or str(error)}, "usage": {"diagnosis": error.usage}}
    entries = [_entry(key, number, found) for number, found in enumerate(asked.reply.errors, 1)]
    diagnosis = Diagnosis(comparison=asked.reply.comparison, entries=entries)
    return {"diagnoses": {key: diagnosis}, "usage": {"diagnosis": asked.usage}}


def entries_of(state: DistillerState) -> dict[str, Entry]:
    """All diagnosed entries by key, in the order of the tasks."""
    diagnoses = state.get("diagnoses", {})
    found = [entry for key in state["tasks"] if key in diagnoses for entry in diagnoses[key]["entries"]]
    return {entry["key"]: entry for entry in found}


def _entry(key: str, number: int, found: DiagnosedError) -> Entry:
    return Entry(
        key=f"{key}.{number}",
        task=key,
        error_type=slug(found.error_type),
        description=found.description,
        impact=found.impact,
        avoided=found.avoided,
        failure_evidence=[_evidence(quote) for quote in found.failure_evidence],
        success_evidence=[_evidence(quote) for quote in found.success_evidence],
    )


def _evidence(quote: Quote) -> Evidence:
    return Evidence(run=quote.run, step=quote.step, quote=quote.quote)
