"""Advice from earlier tasks in the state of this one."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict  # the server's schemas need it below Python 3.12


class ShownAdvice(TypedDict):
    """An advice, as this task's prompts show it."""

    id: str
    name: str
    kind: Literal["rule", "fact", "error"]
    source: str
    text: str
    failure: str
    """An example of an error, as is `success`."""
    success: str


class Experience(TypedDict, total=False):
    """Advice from earlier tasks in this one."""

    shown: list[ShownAdvice]
    """Chosen once, at the start of the task."""
    fits: list[str]
    """Ids of the advice that fits the task, by the planner."""
    applied: list[str]
    """Ids of the advice that changed the answer."""
    due: bool
    """Whether the task has ended and its score is still to be kept."""
