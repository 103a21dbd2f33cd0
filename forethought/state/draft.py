"""An answer, and what it rests on."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict  # the server's schemas need it below Python 3.12


class Check(TypedDict):
    """How the work followed a sign or a condition of the task."""

    about: str
    done: str
    ok: Literal["yes", "no"]


class Draft(TypedDict, total=False):
    """The best answer so far."""

    answer: str
    used_steps: list[int]
    evaluation: str
    """The defects that its author named, or the checks that failed, one per line."""
    checks: list[Check]
    """Missing if the answer was scored."""
    score: int
    round: int
    advice: list[str]
    """Ids of the advice that changed it. Missing if none did."""
    expected_reply: str
    """What the person is expected to say next, if predicted (SAMULE 3.2.3)."""


class Source(TypedDict):
    """A step that the answer rests on."""

    n: int
    subtask: str
    tool: str | None
    origin: str
