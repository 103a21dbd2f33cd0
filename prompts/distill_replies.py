"""The types of the distiller's replies (PreFlect 3.2.1). Field names are a contract, as in `replies`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from forethought.prompts.replies import ListOf, Reply, Text


class Quote(Reply):
    """Words of a run that show something."""

    run: str = Field(min_length=1, description="The run's label, such as F1 or S1.")
    step: int = Field(ge=1, description="The number of the step.")
    quote: str = Field(min_length=1, description="Words copied exactly from that step.")


class DiagnosedError(Reply):
    """A planning error that separates a task's failed runs from its successful ones."""

    failure_evidence: list[Quote] = Field(min_length=1, description="Passages of failed runs that show it.")
    impact: str = Field(min_length=1, description="What it led to in the failed runs.")
    success_evidence: list[Quote] = Field(
        min_length=1, description="Passages of successful runs that show how it was avoided."
    )
    avoided: str = Field(min_length=1, description="How the successful runs got round it or resolved it.")
    description: str = Field(min_length=1, description="What was deficient in the plan, in general terms.")
    error_type: str = Field(min_length=1, description="A few words that name the deficiency, in snake_case.")


class ComparativeDiagnosis(Reply):
    """3.2.1, diagnosis: what separates a task's failed runs from its successful ones."""

    comparison: Text = Field(default="", description="Where the runs part, and what decided their outcomes.")
    errors: ListOf[DiagnosedError] = Field(default_factory=list)


class Aggregation(Reply):
    """3.2.1, aggregation: what one diagnosed entry is to the set of errors so far."""

    reasoning: Text = Field(default="", description="Which errors of the set come near, and what decides.")
    decision: Literal["new", "merge", "discard"]
    name: Text = Field(default="", description="new: its name; merge: the name of the error that it joins.")
    description: Text = Field(
        default="", description="new, merge: the error's whole description as it then stands; discard: empty."
    )


class WrittenPattern(Reply):
    """A stretch of a run retold so that it can be recognised in a plan about something else."""

    case: int = Field(ge=1, description="The number of the case that it retells.")
    run: str = Field(min_length=1, description="The label of the run that it retells.")
    text: str = Field(min_length=1, description="Two to four sentences, without the case's subject.")


class PatternSet(Reply):
    """3.2.1, aggregation: an error's failure and success patterns."""

    failures: list[WrittenPattern] = Field(min_length=1)
    successes: list[WrittenPattern] = Field(min_length=1)
