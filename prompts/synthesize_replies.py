"""The types of the synthesizer's replies (SAMULE 3.2.1). Field names are a contract, as in `replies`."""

from __future__ import annotations

from pydantic import Field

from forethought.prompts.replies import ListOf, Reply, Text


class TrialReflection(Reply):
    """Micro level: one failed trial against the reference."""

    comparison: Text = Field(
        default="", description="Where the trial parts from what is right. It is not kept."
    )
    reflection: str = Field(
        min_length=1, description="What went wrong and a new plan, without the reference."
    )


class NewErrorType(Reply):
    """An error type that the taxonomy lacks."""

    definition: str = Field(min_length=1, description="How a step shows it, in general terms.")
    name: str = Field(min_length=1, description="Two to five words in snake_case.")


class TaxonomyGrowth(Reply):
    """Meso level: what the trials of one task add to the taxonomy."""

    rationale: Text = Field(
        default="", description="Which errors the trials show, and which types cover them."
    )
    new_types: ListOf[NewErrorType] = Field(
        default_factory=list, description="Types that the taxonomy lacks; empty if it covers all."
    )


class StepError(Reply):
    """An error type that a step shows."""

    critique: str = Field(min_length=1, description="What is wrong with the step and what came of it.")
    error_type: str = Field(min_length=1, description="A name of the taxonomy.")


class StepLabel(Reply):
    """The labels of one step."""

    step: int = Field(ge=1, description="The number of the step.")
    errors: ListOf[StepError] = Field(default_factory=list, description="Empty if the step shows none.")


class StepLabels(Reply):
    """Meso level: the labels of a stretch of a trial's steps."""

    steps: list[StepLabel] = Field(min_length=1, description="Each step that is asked for, once.")


class TypeReflection(Reply):
    """Macro level: what recurs in trajectories of different tasks that show one error type."""

    cites: list[str] = Field(min_length=1, description="Ids of the trajectories that it rests on.")
    reflection: str = Field(min_length=1, description="What recurs, and a plan that avoids it.")


class MergedReflection(Reply):
    """The final reflection on one trial."""

    reflection: str = Field(min_length=1, description="At most six sentences, without the reference.")
