"""What is checked of a label and of a critical error before it is believed (AgentDebug 3.2).

Each check gives the one line that is sent back to the model, or None.
"""

from __future__ import annotations

from collections.abc import Iterable

from forethought.knowledge.error_taxonomy import Taxonomy
from forethought.prompts.debug_replies import NO_ERROR, CriticalError, FailurePoint
from forethought.text import one_line
from forethought.trajectories.quotes import occurs
from forethought.trajectories.types import Trajectory, TrajectoryStep

_PARTS = ("given", "memory", "reflection", "planning", "action", "observation", "failure")
_NONE = {"no_error", "no error", "none", "no-error", "n/a", "null", "noerror", "ok"}
NOT_FIRST = ("memory", "reflection")
"""Modules that the first step of a run has nothing for."""


def is_no_error(error_type: str) -> bool:
    """Whether a model means that there is no error."""
    return error_type.strip().strip("`'\"").casefold() in _NONE


def canonical(taxonomy: Taxonomy, module: str, error_type: str) -> str:
    """The taxonomy's own name of a type that was checked before, or no_error."""
    return NO_ERROR if is_no_error(error_type) else taxonomy.resolve(module, error_type) or error_type


def said(step: TrajectoryStep) -> str:
    """All that stands in a step, whole, under the names that a prompt shows it with."""
    return "\n".join(f"{name}: {text}" for name in _PARTS if (text := getattr(step, name)))


def quote_problem(quote: str, trajectory: Trajectory, first: Iterable[int] = ()) -> str | None:
    """Why `quote` is no evidence: it stands nowhere in the run. The steps `first` are searched first."""
    if not quote.strip():
        return "the evidence is empty: copy the words that show the error"
    numbers = set(first)
    steps = sorted(trajectory.steps, key=lambda step: step.number not in numbers)
    if any(occurs(quote, said(step)) for step in steps) or occurs(quote, trajectory.task):
        return None
    return (
        f'the evidence "{one_line(quote, 120)}" does not stand in the run: copy one passage letter by '
        "letter, without leaving anything out or joining passages"
    )


def critical_problem(reply: CriticalError, trajectory: Trajectory, taxonomy: Taxonomy) -> str | None:
    """Why a critical error cannot be right, all reasons in one line. Step 0 is no step: none was found."""
    if reply.critical_step == 0:
        none = is_no_error(reply.error_type)
        return (
            None if none else "critical_step 0 means that no error can be shown: error_type must be no_error"
        )
    return _together(
        place_problem(reply.critical_step, reply.critical_module, reply.error_type, trajectory, taxonomy)
        or _evidence_problem(reply, trajectory),
        _cascade_problem(reply, trajectory),
    )


def point_problem(reply: FailurePoint, trajectory: Trajectory, taxonomy: Taxonomy) -> str | None:
    """Why the place of a failure cannot be right."""
    return place_problem(reply.step, reply.module, reply.error_type, trajectory, taxonomy)


def place_problem(
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
    if occurs(reply.evidence, said(trajectory.step(reply.critical_step))):
        return None
    elsewhere = [step.number for step in trajectory.steps if occurs(reply.evidence, said(step))]
    found = f"; it stands in step {', '.join(map(str, elsewhere[:5]))}" if elsewhere else ""
    quote = one_line(reply.evidence, 120)
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


def _together(*problems: str | None) -> str | None:
    return "; ".join(filter(None, problems)) or None
