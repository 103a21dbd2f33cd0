"""The type of the learner's reply. Field names are a contract, as in `replies`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from forethought.prompts.replies import ListOf, Reply, Text


class AdviceDraft(Reply):
    """What a failed task teaches later ones."""

    diagnosis: Text = Field(default="", description="What went wrong in this run, and why. It is not kept.")
    replaces: ListOf[str] = Field(
        default_factory=list, description="Labels of earlier advice that this includes or contradicts."
    )
    kind: Literal["rule", "fact", "error"]
    name: str = Field(pattern=r"^[a-z0-9_]{1,60}$", description="Two to five words in snake_case.")
    applies: str = Field(min_length=1, description="The kind of task, without names of people.")
    wrong: Text = Field(default="", description="What goes wrong there.")
    instead: str = Field(min_length=1, description="What to do instead, or the fact.")
    failure: Text = Field(default="", description="The failure in one sentence.")
    success: Text = Field(default="", description="How a right run goes, in one sentence.")
