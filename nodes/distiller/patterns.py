"""Failure and success patterns of each error, side by side in waves (PreFlect 3.2.1, B.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime

from forethought.knowledge.planning_errors import BRIEF_FAILURES
from forethought.nodes.distiller.checks import Copies, patterns_problem
from forethought.nodes.distiller.errors import entries_of
from forethought.nodes.distiller.messages import Case, pattern_messages
from forethought.nodes.distiller.runs import DistillServices, TaskRuns
from forethought.nodes.support.offline import next_wave, open_jobs, problem_key
from forethought.prompts.distill_replies import PatternSet, WrittenPattern
from forethought.state.distiller import (
    DistillerContext,
    DistillerState,
    Patterns,
    WrittenExample,
)
from forethought.state.offline import Job


async def pattern_wave(
    state: DistillerState, runtime: Runtime[DistillerContext], *, services: DistillServices
) -> dict[str, Any]:
    """Which errors' patterns are written next, without a model call; none once all are. An error with fewer
    failed runs than a diagnosis shows is too narrow: it is left out, and that is said."""
    left = open_jobs(state, "write_patterns", state.get("errors", {}), "patterns")
    jobs = [job for job in left if failed_runs(state, job["key"]) >= BRIEF_FAILURES]
    too_narrow = f"too narrow: fewer than {BRIEF_FAILURES} failed runs show it"
    problems = {problem_key(job): too_narrow for job in left if job not in jobs}
    wave = next_wave(state, services.context(runtime), jobs, f"{len(jobs)} errors have no patterns")
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
