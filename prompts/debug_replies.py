"""The types of the debugger's replies (AgentDebug 3.2, A.5). Field names are a contract, as in `replies`.

A.5 asks for the step first and for what followed from it last; here findings stand before verdicts.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from forethought.knowledge.error_taxonomy import load_taxonomy
from forethought.prompts.replies import ListOf, Reply, Text
from forethought.trajectories.types import MODULES

NO_ERROR = "no_error"


def error_type(description: str, *modules: str) -> Any:
    """A field whose schema lists the types of these modules. Other spellings are read as well, and resolved
    by the taxonomy."""
    names = (kind.name for module in modules for kind in load_taxonomy().types(module))
    extra: Any = {"enum": [*dict.fromkeys(names), NO_ERROR]}
    return Field(min_length=1, description=description, json_schema_extra=extra)


class ModuleLabel(Reply):
    """What one module of a step did wrong, if anything."""

    evidence: Text = Field(
        default="", description="Words copied exactly from the trajectory; empty for no_error."
    )
    reasoning: Text = Field(
        default="", description="Why this fits the type's definition; empty for no_error."
    )
    error_type: str


class MemoryLabel(ModuleLabel):
    """A label of the memory."""

    error_type: str = error_type("A type of this module, or no_error.", "memory")


class ReflectionLabel(ModuleLabel):
    """A label of the reflection."""

    error_type: str = error_type("A type of this module, or no_error.", "reflection")


class PlanningLabel(ModuleLabel):
    """A label of the planning."""

    error_type: str = error_type("A type of this module, or no_error.", "planning")


class ActionLabel(ModuleLabel):
    """A label of the action."""

    error_type: str = error_type("A type of this module, or no_error.", "action")


class SystemLabel(ModuleLabel):
    """A label of what lies outside the agent."""

    error_type: str = error_type("A type of this module, or no_error.", "system")


class StepLabels(Reply):
    """AgentDebug 3.2, stage 1: one label a module of one step."""

    memory: MemoryLabel
    reflection: ReflectionLabel
    planning: PlanningLabel
    action: ActionLabel
    system: SystemLabel


MOST_SUSPECTS = 4
"""Steps that a triage names at most."""


class Suspect(Reply):
    """A step that is to be examined closely."""

    reason: Text = Field(default="", description="What may have gone wrong there.")
    step: int = Field(ge=1)


class Triage(Reply):
    """The steps of a run at which it may have been lost."""

    suspects: ListOf[Suspect]


class CascadingEffect(Reply):
    """What the critical error led to in a later step."""

    step: int
    impact: Text = ""


class CriticalError(Reply):
    """AgentDebug 3.2, stage 2: the earliest error whose correction would have prevented the failure."""

    cascading_effects: ListOf[CascadingEffect] = Field(
        default_factory=list, description="Later steps that went wrong because of it, from the end back."
    )
    root_cause: str = Field(min_length=1, description="The fundamental problem, in a sentence or two.")
    evidence: str = Field(min_length=1, description="Words of the run that show it, copied exactly.")
    critical_step: int = Field(ge=0, description="The number of the step.")
    critical_module: Literal["memory", "reflection", "planning", "action", "system"]
    error_type: str = error_type("A type of that module.", *MODULES)
    correction_guidance: str = Field(
        min_length=1, description="What to do instead, as an instruction for the agent that runs again."
    )


class Substitution(Reply):
    """A corrected action for one step (3.2, counterfactual testing)."""

    thought: Text = ""
    action: str = Field(min_length=1, description="The corrected action, as the agent would have written it.")


class Salvage(Reply):
    """Whether a corrected action at one step would have saved the run (baselines of 4.1)."""

    reasoning: Text = ""
    saved: bool


class FailurePoint(Reply):
    """Direct prompting and the vanilla debugger (4.1, 4.2): what went wrong, where, what to do instead."""

    reason: str = Field(min_length=1)
    step: int = Field(ge=1)
    module: Literal["memory", "reflection", "planning", "action", "system"]
    error_type: str = error_type("A type of that module.", *MODULES)
    suggestion: Text = ""


class SelfFeedback(Reply):
    """Self-Refine: why the trajectory has not finished its task (4.2)."""

    feedback: str = Field(min_length=1)


class Candidates(Reply):
    """Tree of Thoughts: different next actions (4.2)."""

    actions: list[str] = Field(min_length=1)


class CandidateValues(Reply):
    """Tree of Thoughts: how promising each candidate is, 0 to 1, in their order (4.2)."""

    values: list[Annotated[float, Field(ge=0, le=1)]] = Field(min_length=1)


class ModularStep(Reply):
    """A policy's step in an environment, module by module (AgentDebug 3.1)."""

    memory: Text = ""
    reflection: Text = ""
    planning: Text = ""
    action: str = Field(min_length=1)


class Judgement(Reply):
    """A model judge's verdict on an answer, against what a right one must be."""

    reasoning: Text = ""
    correct: bool


class AssertionVerdict(Reply):
    """Whether a statement holds."""

    number: int
    reasoning: Text = Field(default="", description="What decides it.")
    holds: bool


class AssertionVerdicts(Reply):
    """Statements judged one by one: a rubric's criteria, tau2's natural-language assertions."""

    verdicts: ListOf[AssertionVerdict] = Field(default_factory=list)


def check_numbers(reply: AssertionVerdicts, count: int) -> str | None:
    """What is wrong with the numbers of the verdicts, which must go from 1 to `count`; None where nothing."""
    numbers, wanted = [verdict.number for verdict in reply.verdicts], list(range(1, count + 1))
    return None if numbers == wanted else f"verdicts must have the numbers {wanted}, in order; got {numbers}"
