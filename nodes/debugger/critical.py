"""find_critical: the earliest error whose correction would have prevented the failure (AgentDebug 3.2,
stage 2).

`agentdebug` asks once, with the whole run and the labels of stage 1 in view. The other methods are the
paper's baselines of 4.1 and its counterfactual testing; those find a step by trying, and which module of it
was at fault is then asked for. Each check gives the one line that is sent back to the model, or None.

After a failed re-run `locate_again` asks anew, with the attempts in view. Algorithm 1 refines the feedback
for the step that was found first; the prompt of A.5, which holds the attempt's index and the instructions
issued before, may name another step.
"""

from __future__ import annotations

from typing import Any, cast

from langgraph.runtime import Runtime

from forethought.knowledge.error_taxonomy import Taxonomy
from forethought.models.types import ReplyError
from forethought.nodes.debugger.messages import critical_messages, direct_messages
from forethought.nodes.debugger.search import SEARCHES, FoundStep, Search, SearchStopped
from forethought.nodes.debugger.services import DebugServices
from forethought.prompts.debug_replies import NO_ERROR, CriticalError, FailurePoint
from forethought.rollouts.types import RolloutError
from forethought.state.debugger import LABELLED_METHODS, Critical, DebuggerContext, DebuggerState
from forethought.text import one_line
from forethought.trajectories.quotes import misquoted, occurs
from forethought.trajectories.show import all_text
from forethought.trajectories.types import Trajectory

_NO_ERROR_SPELLINGS = {NO_ERROR, "no error", "none", "null"}
NOT_FIRST = ("memory", "reflection")
"""Modules that have nothing to work on in a run's first step."""


async def find_critical(
    state: DebuggerState, runtime: Runtime[DebuggerContext], *, services: DebugServices
) -> dict[str, Any]:
    """The critical error, or why there is none. Raises ModelErrors other than ReplyError."""
    search = Search(state, runtime, services)
    update: dict[str, Any] = {}
    try:
        update = await _find(search)
    except ReplyError as error:
        problem = f"no valid critical error: {error.problem or error}"
        update = {"status": "not_found", "problem": problem}
    except (SearchStopped, RolloutError) as error:
        update = {"status": "failed", "problem": str(error)}
    finally:
        # A re-run that follows begins at the run itself, and puts the head back after it.
        if search.context.method == "counterfactual" and update.get("status") != "running":
            await services.restore(state, search.context)
    return {**update, "usage": search.usage, "probes": search.probes, "notes": search.notes}


async def locate_again(
    state: DebuggerState, runtime: Runtime[DebuggerContext], *, services: DebugServices
) -> dict[str, Any]:
    """The critical error in the light of the failed re-runs; a step that was found by trying stays. Baselines
    have none. Without a usable reply the last guidance is tried once more, since a run need not come out the
    same twice. Raises ModelErrors other than ReplyError."""
    search = Search(state, runtime, services)
    if search.context.rerun != "agentdebug":
        return {}
    update: dict[str, Any] = {}
    try:
        critical = await _locate(search, _found_before(state["critical"]))
        update = {"critical": critical, "guidance": [critical["correction_guidance"]]}
    except ReplyError as error:
        why = error.problem or error
        search.notes.append(f"no new critical error ({why}): retrying with the last guidance")
    except SearchStopped:
        pass  # the next node says that the budget is spent
    return {**update, "usage": search.usage, "notes": search.notes}


def _found_before(critical: Critical) -> FoundStep | None:
    """The step where a search found it by trying."""
    if critical["method"] not in SEARCHES:
        return None
    return FoundStep(critical["critical_step"], "A search found it by trying.", critical.get("proven"))


async def _find(search: Search) -> dict[str, Any]:
    """The critical error and whether the run is made again with it, by the method of the context."""
    method, known = search.context.method, None
    if method in SEARCHES:
        known = await SEARCHES[method](search)
        if known is None:
            problem = "no step was found whose correction would have turned the run"
            return {"status": "not_found", "problem": problem}
    critical = await _locate(search, known)
    if not critical["critical_step"]:
        problem = f"no error in the run explains its failure: {critical['root_cause']}"
        return {"status": "not_found", "problem": problem}
    return {
        "critical": critical,
        "guidance": [critical["correction_guidance"]],
        "status": "running" if search.context.rerun == "agentdebug" else "found",
    }


async def _locate(search: Search, known: FoundStep | None) -> Critical:
    return await (_ask_directly(search) if search.context.method == "direct" else _ask(search, known))


async def _ask(search: Search, known: FoundStep | None) -> Critical:
    """The checked critical error; `known` is its step, where a search has found it. Raises ReplyError."""
    context, trajectory, taxonomy = search.context, search.trajectory, search.services.taxonomy
    branches = search.state.get("branches", [])
    known_failure = bool(branches or search.state["verdict"]["by"])

    def check(reply: CriticalError) -> str | None:
        if known and reply.critical_step != known.number:
            return f"critical_step must be {known.number}, which was found by trying"
        if known_failure and reply.critical_step == 0:
            return "the run is known to have failed: name the step that did most to make it fail"
        return critical_problem(reply, trajectory, taxonomy)

    is_labelled = context.fine_grained and context.method in LABELLED_METHODS
    labels = search.state.get("labels", {}) if is_labelled else None
    messages = critical_messages(
        trajectory, labels, context, taxonomy, known=known, known_failure=known_failure, branches=branches
    )
    reply = await search.ask("critical", messages, CriticalError, check)
    critical = reply.model_dump()
    critical["error_type"] = canonical(taxonomy, reply.critical_module, reply.error_type)
    critical["cascading_effects"] = sorted(critical["cascading_effects"], key=lambda item: item["step"])
    if known and known.proven is not None:
        critical["proven"] = known.proven
    return cast(Critical, {**critical, "method": context.method})


async def _ask_directly(search: Search) -> Critical:
    """Direct prompting (4.1): the bare run, no labels, no evidence. Raises ReplyError."""
    trajectory, taxonomy = search.trajectory, search.services.taxonomy

    def check(reply: FailurePoint) -> str | None:
        return _place_problem(reply.step, reply.module, reply.error_type, trajectory, taxonomy)

    messages = direct_messages(trajectory, search.context, taxonomy, search.state.get("branches", []))
    point = await search.ask("critical", messages, FailurePoint, check)
    return Critical(
        critical_step=point.step,
        critical_module=point.module,
        error_type=canonical(taxonomy, point.module, point.error_type),
        root_cause=point.reason,
        evidence="",
        correction_guidance=point.suggestion or point.reason,
        cascading_effects=[],
        method="direct",
    )


def is_no_error(error_type: str) -> bool:
    """Whether a model means that there is no error."""
    return error_type.strip().casefold() in _NO_ERROR_SPELLINGS


def canonical(taxonomy: Taxonomy, module: str, error_type: str) -> str:
    """The taxonomy's own name of a type that was checked before, or no_error."""
    return NO_ERROR if is_no_error(error_type) else taxonomy.resolve(module, error_type) or error_type


def quote_problem(quote: str, trajectory: Trajectory) -> str | None:
    """Why `quote` is no evidence: it stands nowhere in the run."""
    if not quote.strip():
        return "the evidence is empty: copy the words that show the error"
    if any(occurs(quote, text) for text in (*map(all_text, trajectory.steps), trajectory.task)):
        return None
    return (
        f'the evidence "{one_line(quote, 120)}" does not stand in the run: copy one passage letter '
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
        return "error_type must name an error of the step that is named"
    return taxonomy.problem(module, error_type)


def _evidence_problem(reply: CriticalError, trajectory: Trajectory) -> str | None:
    if reply.critical_module == "system":
        return quote_problem(reply.evidence, trajectory)
    texts = {step.number: all_text(step) for step in trajectory.steps}
    problem = misquoted(reply.evidence, texts, reply.critical_step)
    return f"the evidence {problem}, or name the step in which the error was made" if problem else None


def _cascade_problem(reply: CriticalError, trajectory: Trajectory) -> str | None:
    later = {step.number for step in trajectory.steps if step.number > reply.critical_step}
    wrong = [str(effect.step) for effect in reply.cascading_effects if effect.step not in later]
    if not wrong:
        return None
    return (
        f"cascading_effects names step {', '.join(wrong)}, which is no step after the critical step "
        f"{reply.critical_step}: a cause comes before its effects; leave that entry out, or name the earlier "
        "step as critical if it is the cause"
    )
