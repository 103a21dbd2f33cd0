"""find_critical: the earliest error whose correction would have prevented the failure (AgentDebug 3.2,
stage 2).

`agentdebug` asks once, with the whole run and the labels of stage 1 in view. The other methods are the
paper's baselines of 4.1 and its counterfactual testing; those find a step by trying, and which module of it
was at fault is then asked for. Each check gives the one line that is sent back to the model, or None.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from langgraph.runtime import Runtime

from forethought.knowledge.error_taxonomy import Taxonomy
from forethought.models.allowance import total
from forethought.models.types import ReplyError, Usage, no_usage
from forethought.nodes.debugger.messages import critical_messages, direct_messages
from forethought.nodes.debugger.search import SEARCHES, FoundStep, Prober, SearchStopped
from forethought.nodes.debugger.services import DebugServices
from forethought.nodes.support.offline import exhausted
from forethought.prompts.debug_replies import NO_ERROR, CriticalError, FailurePoint
from forethought.rollouts.types import RolloutError
from forethought.state.debugger import Critical, DebuggerContext, DebuggerState
from forethought.text import one_line
from forethought.trajectories.quotes import occurs
from forethought.trajectories.types import Trajectory, TrajectoryStep

_NO_ERROR_SPELLINGS = {"no_error", "no error", "none", "no-error", "n/a", "null", "noerror", "ok"}
NOT_FIRST = ("memory", "reflection")
"""Modules that the first step of a run has nothing for."""
_QUOTE_CHARS = 120


async def find_critical(
    state: DebuggerState, runtime: Runtime[DebuggerContext], *, services: DebugServices
) -> dict[str, Any]:
    """The critical error, or why there is none. Raises ModelErrors other than ReplyError."""
    context = services.context(runtime)
    trajectory = Trajectory.model_validate(state["subject"])
    if why := exhausted(state, context):
        return {"status": "failed", "problem": f"{why}, before the critical error was looked for: raise it"}
    runtime.stream_writer({"event": "thinking", "role": "critical", "method": context.method})
    if context.method in SEARCHES:
        return await _search(state, runtime, trajectory, context, services)
    try:
        if context.method == "direct":
            found, usage = await _ask_directly(trajectory, context, services)
        else:
            labels = state.get("labels", {}) if context.fine_grained else None
            found, usage = await _ask(state, trajectory, labels, context, services)
    except ReplyError as error:
        return _no_reply_update(error)
    if found["critical_step"]:
        return _critical_update(found, usage, context)
    problem = f"nothing in the run shows an error that doomed it: {found['root_cause']}"
    return {"status": "not_found", "problem": problem, "usage": {"critical": usage}}


async def _ask(
    state: DebuggerState,
    trajectory: Trajectory,
    labels: Any,
    context: DebuggerContext,
    services: DebugServices,
    known: FoundStep | None = None,
) -> tuple[Critical, Usage]:
    """The checked critical error. Raises ReplyError."""

    def check(reply: CriticalError) -> str | None:
        if known and reply.critical_step != known[0]:
            return f"critical_step must be {known[0]}, which was found by trying"
        return critical_problem(reply, trajectory, services.taxonomy)

    failed_guidance = [text for branch in state.get("branches", []) for text in branch.get("guidance", [])]
    messages = critical_messages(
        trajectory, labels, context, services.taxonomy, list(dict.fromkeys(failed_guidance)), known
    )
    asked = await services.ask(context, "critical", messages, CriticalError, check)
    found = asked.reply.model_dump()
    found["error_type"] = canonical(services.taxonomy, found["critical_module"], found["error_type"])
    found["cascading_effects"] = sorted(found["cascading_effects"], key=lambda item: item["step"])
    return cast(Critical, {**found, "method": context.method}), asked.usage


async def _ask_directly(
    trajectory: Trajectory, context: DebuggerContext, services: DebugServices
) -> tuple[Critical, Usage]:
    """Direct prompting (4.1): the bare run, no labels, no evidence. Raises ReplyError."""

    def check(reply: FailurePoint) -> str | None:
        return _place_problem(reply.step, reply.module, reply.error_type, trajectory, services.taxonomy)

    messages = direct_messages(trajectory, context, services.taxonomy)
    asked = await services.ask(context, "critical", messages, FailurePoint, check)
    point = asked.reply
    found = Critical(
        critical_step=point.step,
        critical_module=point.module,
        error_type=canonical(services.taxonomy, point.module, point.error_type),
        root_cause=point.reason,
        evidence="",
        correction_guidance=point.suggestion or point.reason,
        cascading_effects=[],
        method="direct",
    )
    return found, asked.usage


async def _search(
    state: DebuggerState,
    runtime: Runtime[DebuggerContext],
    trajectory: Trajectory,
    context: DebuggerContext,
    services: DebugServices,
) -> dict[str, Any]:
    """A step that was found by trying, and then the module of it that was at fault."""
    prober = Prober(state, runtime, trajectory, context, services)
    update: dict[str, Any]
    try:
        known = await SEARCHES[context.method](prober)
        if known is None:
            why = "no step was found whose correction would have turned the run"
            update = {"status": "not_found", "problem": why}
        elif why := exhausted(state, context, prober.total_usage):
            raise SearchStopped(f"{why}, when step {known[0]} was found")
        else:
            labels = state.get("labels") if context.fine_grained else None
            found, usage = await _ask(state, trajectory, labels or None, context, services, known)
            update = _critical_update(found, usage, context)
    except ReplyError as error:
        update = _no_reply_update(error)
    except (SearchStopped, RolloutError) as error:
        update = {"status": "failed", "problem": str(error)}
    usages = update.get("usage", {})
    for role, usage in prober.usage.items():
        usages[role] = total(usages.get(role, no_usage()), usage)
    return {**update, "usage": usages, "probes": prober.probes, "notes": prober.notes}


def _no_reply_update(error: ReplyError) -> dict[str, Any]:
    problem = f"no valid critical error: {error.problem or error}"
    return {"status": "not_found", "problem": problem, "usage": {"critical": error.usage}}


def _critical_update(critical: Critical, usage: Usage, context: DebuggerContext) -> dict[str, Any]:
    """The critical error, and whether the run is made again with it."""
    return {
        "critical": critical,
        "guidance": [critical["correction_guidance"]],
        "status": "running" if context.rerun == "agentdebug" else "found",
        "usage": {"critical": usage},
    }


def is_no_error(error_type: str) -> bool:
    """Whether a model means that there is no error."""
    return error_type.strip().strip("`'\"").casefold() in _NO_ERROR_SPELLINGS


def canonical(taxonomy: Taxonomy, module: str, error_type: str) -> str:
    """The taxonomy's own name of a type that was checked before, or no_error."""
    return NO_ERROR if is_no_error(error_type) else taxonomy.resolve(module, error_type) or error_type


def quote_problem(quote: str, trajectory: Trajectory, first: Iterable[int] = ()) -> str | None:
    """Why `quote` is no evidence: it stands nowhere in the run. The steps `first` are searched first."""
    if not quote.strip():
        return "the evidence is empty: copy the words that show the error"
    numbers = set(first)
    steps = sorted(trajectory.steps, key=lambda step: step.number not in numbers)
    if any(occurs(quote, _text(step)) for step in steps) or occurs(quote, trajectory.task):
        return None
    return (
        f'the evidence "{one_line(quote, _QUOTE_CHARS)}" does not stand in the run: copy one passage letter '
        "by letter, without leaving anything out or joining passages"
    )


def critical_problem(reply: CriticalError, trajectory: Trajectory, taxonomy: Taxonomy) -> str | None:
    """Why a critical error cannot be right, all reasons in one line. Step 0 is no step: none was found."""
    if reply.critical_step == 0:
        if is_no_error(reply.error_type):
            return None
        return "critical_step 0 means that no error can be shown: error_type must be no_error"
    problems = (
        _place_problem(reply.critical_step, reply.critical_module, reply.error_type, trajectory, taxonomy)
        or _evidence_problem(reply, trajectory),
        _cascade_problem(reply, trajectory),
    )
    return "; ".join(filter(None, problems)) or None


def _place_problem(
    number: int, module: str, error_type: str, trajectory: Trajectory, taxonomy: Taxonomy
) -> str | None:
    """Why no error of this type can be in this module of this step."""
    numbers = [step.number for step in trajectory.steps]
    if number not in numbers:
        return f"there is no step {number}: the steps are numbered {numbers[0]} to {numbers[-1]}"
    if number == numbers[0] and module in NOT_FIRST:
        return f"step {number} is the run's first: it has no {module} that could be at fault"
    if is_no_error(error_type):
        return "error_type must name an error: the run failed"
    return taxonomy.problem(module, error_type)


def _evidence_problem(reply: CriticalError, trajectory: Trajectory) -> str | None:
    if reply.critical_module == "system":
        return quote_problem(reply.evidence, trajectory, [reply.critical_step])
    if occurs(reply.evidence, _text(trajectory.step(reply.critical_step))):
        return None
    elsewhere = [str(step.number) for step in trajectory.steps if occurs(reply.evidence, _text(step))]
    found = f"; it stands in step {', '.join(elsewhere[:5])}" if elsewhere else ""
    quote = one_line(reply.evidence, _QUOTE_CHARS)
    return (
        f'the evidence "{quote}" does not stand in step {reply.critical_step}{found}: '
        "copy one passage of that step letter by letter, or name the step in which the error was made"
    )


def _cascade_problem(reply: CriticalError, trajectory: Trajectory) -> str | None:
    numbers = {step.number for step in trajectory.steps}
    if unknown := [item.step for item in reply.cascading_effects if item.step not in numbers]:
        return f"cascading_effects names steps that there are not: {', '.join(map(str, unknown))}"
    early = [item.step for item in reply.cascading_effects if item.step <= reply.critical_step]
    if early:
        return (
            f"cascading_effects names step {', '.join(map(str, early))}, which is not later than the "
            f"critical step {reply.critical_step}: a cause comes before its effects; leave that entry out, "
            "or name the earlier step as critical if it is the cause"
        )
    return None


def _text(step: TrajectoryStep) -> str:
    """All that stands in a step, whole, under the names that a prompt shows it with."""
    return "\n".join(f"{name}: {text}" for name, text in step.texts().items())
