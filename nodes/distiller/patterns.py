"""Failure and success patterns of each error, side by side in waves (PreFlect 3.2.1, B.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from forethought.knowledge.planning_errors import BRIEF_FAILURES
from forethought.models.types import ReplyError, reply_spec
from forethought.nodes.distiller.checks import Copies, patterns_problem
from forethought.nodes.distiller.diagnose import entries_of
from forethought.nodes.distiller.messages import Case, pattern_messages
from forethought.nodes.distiller.runs import TaskRuns, kept
from forethought.nodes.distiller.services import DistillServices
from forethought.nodes.support.reading import read_state
from forethought.prompts.distill_replies import PatternSet, WrittenPattern
from forethought.state.bounds import exhausted
from forethought.state.distiller_context import DistillerContext
from forethought.state.distiller_state import DistillerState, ErrorDispatch, Patterns, WrittenExample

READS = ("tasks", "diagnoses", "errors")


async def pattern_wave(
    state: DistillerState, runtime: Runtime[DistillerContext], *, services: DistillServices
) -> dict[str, Any]:
    """Which errors' patterns are written next, without a model call; none once all are. An error with fewer
    failed runs than a diagnosis shows is too narrow: it is left out, and that is said."""
    context = services.context(runtime)
    done = {*state.get("patterns", {}), *state.get("problems", {})}
    left = [name for name in state.get("errors", {}) if name not in done]
    narrow = [name for name in left if failed_runs(state, name) < BRIEF_FAILURES]
    problems = dict.fromkeys(narrow, f"too narrow: fewer than {BRIEF_FAILURES} failed runs show it")
    left = [name for name in left if name not in narrow]
    if left and (why := exhausted(state, context)):
        problem = f"{why}, and {len(left)} errors have no patterns; raise it"
        return {"wave": [], "problems": problems, "status": "stopped", "problem": problem}
    return {"wave": left[: context.max_parallel], "problems": problems}


async def write_patterns(
    dispatch: ErrorDispatch,
    runtime: Runtime[DistillerContext],
    config: RunnableConfig,
    *,
    services: DistillServices,
) -> dict[str, Any]:
    """An error's patterns; where no valid reply came, why. Raises the other ModelErrors."""
    context, name = services.context(runtime), dispatch["error"]
    state = cast(DistillerState, read_state(config, READS))
    error = state["errors"][name]
    cases = await _cases(state, error["entries"][: context.max_cases], services)
    numbered = {case.number: case.runs for case in cases}
    copies = Copies.of(numbered.values())
    runtime.stream_writer({"event": "thinking", "role": "patterns", "about": name})
    try:
        asked = await services.models.ask(
            role="patterns",
            model=context.model,
            messages=pattern_messages(error, cases, context),
            reply=reply_spec(PatternSet),
            check=lambda reply: patterns_problem(reply, numbered, copies, least_failures=BRIEF_FAILURES),
        )
    except ReplyError as failed:
        return {"problems": {name: failed.problem or str(failed)}, "usage": {"patterns": failed.usage}}
    patterns = Patterns(
        failures=_examples(asked.reply.failures[: context.max_failures], numbered),
        successes=_examples(asked.reply.successes[: context.max_successes], numbered),
    )
    return {"patterns": {name: patterns}, "usage": {"patterns": asked.usage}}


def failed_runs(state: DistillerState, name: str) -> int:
    """How many failed runs the evidence of the error's entries is from."""
    entries = entries_of(state)
    keys = state["errors"][name]["entries"]
    return len(
        {(entries[key]["task"], item["run"]) for key in keys for item in entries[key]["failure_evidence"]}
    )


async def _cases(state: DistillerState, keys: Sequence[str], services: DistillServices) -> list[Case]:
    entries = entries_of(state)
    cases = []
    for number, key in enumerate(keys, 1):
        entry = entries[key]
        runs = await kept(services.store, entry["task"], state["tasks"][entry["task"]])
        cases.append(Case(number, entry, runs))
    return cases


def _examples(patterns: Sequence[WrittenPattern], cases: dict[int, TaskRuns]) -> list[WrittenExample]:
    return [
        WrittenExample(text=pattern.text, task=cases[pattern.case].key, run=pattern.run)
        for pattern in patterns
    ]
