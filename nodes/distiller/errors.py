"""The planning errors of tasks with mixed outcomes (PreFlect 3.2.1, B.2).

Diagnosis compares each task's failed runs with its successful ones, side by side in waves. Aggregation holds
one diagnosed entry after the other against the growing set, since each decision changes what the next one
sees: it is new, merged into an error of the set, or discarded. Then each error's failure and success patterns
are written, side by side again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from langgraph.runtime import Runtime

from forethought.knowledge.planning_errors import BRIEF_FAILURES
from forethought.nodes.distiller.checks import (
    Copies,
    aggregation_problem,
    diagnosis_problem,
    patterns_problem,
    slug,
)
from forethought.nodes.distiller.messages import (
    Case,
    aggregation_messages,
    diagnosis_messages,
    pattern_messages,
)
from forethought.nodes.distiller.take import DistillServices, TaskRuns
from forethought.nodes.support.offline import next_wave, open_jobs, problem_key, stopped
from forethought.prompts.distill_replies import Aggregation, ComparativeDiagnosis, PatternSet, WrittenPattern
from forethought.state.distiller import (
    Decision,
    Diagnosis,
    DistillerContext,
    DistillerState,
    Entry,
    GrownError,
    Patterns,
    WrittenExample,
)
from forethought.state.offline import Job


async def diagnose_wave(
    state: DistillerState, runtime: Runtime[DistillerContext], *, services: DistillServices
) -> dict[str, Any]:
    """Which tasks are diagnosed next, without a model call; none once all are. A spent budget stops it."""
    jobs = open_jobs(state, "diagnose_task", state["tasks"], "diagnoses")
    unfinished = f"{len(jobs)} of {len(state['tasks'])} tasks have no diagnosis yet"
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
    entries = [entry for key in state["tasks"] if key in diagnoses for entry in diagnoses[key]["entries"]]
    return {entry["key"]: entry for entry in entries}


async def aggregate(
    state: DistillerState, runtime: Runtime[DistillerContext], *, services: DistillServices
) -> dict[str, Any]:
    """Decide on the next entry; where no valid reply came, it is left out and the decision says why. Raises
    the other ModelErrors."""
    left = open_entries(state)
    if not left:
        return {}
    if stop := stopped(
        state, services.context(runtime), f"{len(left)} diagnosed errors are not aggregated yet"
    ):
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


async def pattern_wave(
    state: DistillerState, runtime: Runtime[DistillerContext], *, services: DistillServices
) -> dict[str, Any]:
    """Which errors' patterns are written next, without a model call; none once all are. An error with fewer
    failed runs than a diagnosis shows is too narrow: it is left out, and that is said."""
    left = open_jobs(state, "write_patterns", state.get("errors", {}), "patterns")
    jobs = [job for job in left if failed_runs(state, job["key"]) >= BRIEF_FAILURES]
    too_narrow = f"too narrow: fewer than {BRIEF_FAILURES} failed runs show it"
    problems = {problem_key(job): too_narrow for job in left if job not in jobs}
    wave = next_wave(state, services.context(runtime), jobs, f"{len(jobs)} errors have no patterns yet")
    return {**wave, "problems": problems}


async def write_patterns(
    job: Job, runtime: Runtime[DistillerContext], *, services: DistillServices
) -> dict[str, Any]:
    """An error's patterns; where no valid reply came, why. Raises the other ModelErrors."""
    context, name = services.context(runtime), job["key"]
    state: DistillerState = services.read("tasks", "diagnoses", "errors")
    error, entries = state["errors"][name], entries_of(state)
    cases = []
    for number, key in enumerate(error["entries"][: context.max_cases], 1):
        task = entries[key]["task"]
        cases.append(Case(number, entries[key], await TaskRuns.load(services, task, state["tasks"][task])))
    numbered = {case.number: case.runs for case in cases}
    copies = Copies.of(numbered.values())
    reply, update = await services.ask(
        runtime,
        job,
        "patterns",
        pattern_messages(error, cases, context),
        PatternSet,
        lambda reply: patterns_problem(reply, numbered, copies, least_failures=BRIEF_FAILURES),
    )
    if reply is None:
        return update
    patterns = Patterns(
        failures=_examples(reply.failures[: context.max_failures], numbered),
        successes=_examples(reply.successes[: context.max_successes], numbered),
    )
    return {**update, "patterns": {name: patterns}}


def failed_runs(state: DistillerState, name: str) -> int:
    """How many failed runs the evidence of the error's entries is from."""
    entries = entries_of(state)
    keys = state["errors"][name]["entries"]
    return len(
        {(entries[key]["task"], item["run"]) for key in keys for item in entries[key]["failure_evidence"]}
    )


def _examples(patterns: Sequence[WrittenPattern], cases: dict[int, TaskRuns]) -> list[WrittenExample]:
    return [
        WrittenExample(text=pattern.text, task=cases[pattern.case].key, run=pattern.run)
        for pattern in patterns
    ]
