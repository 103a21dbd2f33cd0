"""A lesson: what failed in a task, why, and what worked, kept for later tasks (what SAMULE and PreFlect name
as future work).

A lesson fades. Its strength is 1 when it is learned, halves every 90 days in which it neither helped nor was
found again, and is multiplied by min(1, 2 (helped + 1) / (helped + hurt + 2)) squared: one task that did not
pass although the lesson was shown to it leaves 0.44, two leave 0.25, and the third takes it under the floor
of 0.2, under which a lesson is shown no more and is dropped. Unused, it lasts about 209 days.

A lesson that was made of text from outside may hold an order that somebody planted there, for every later
task. So it is quarantined: no prompt shows it until a person confirms it.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Literal

from pydantic import BaseModel, Field

HALF_LIFE = timedelta(days=90)
FLOOR = 0.2


class Lesson(BaseModel):
    """One lesson as the Store keeps it. Its key there is `id`."""

    id: str
    task: str
    """The beginning of the task that it comes from."""
    failed: str
    why: str = ""
    worked: str
    """What worked, or what to do instead."""
    error_type: str = ""
    """The new planning error that it names, if any."""
    thread: str = ""
    number: int = 1
    """Which task of the thread, from 1."""
    steps: list[int] = Field(default_factory=list)
    """Numbers of the thread's steps that show it."""
    origin: str = "user"
    """Where the text of the thread came from, as in nodes/support/origins.py."""
    outside: list[str] = Field(default_factory=list)
    """The parts of `origin` that somebody else may have written."""
    confirmed: Literal["", "person"] = ""
    found: int = 1
    """How often it was learned."""
    made: datetime
    renewed: datetime
    """When it was learned, was learned again, or helped."""
    used: int = 0
    """Finished tasks that it was shown to."""
    helped: int = 0
    hurt: int = 0

    @property
    def quarantined(self) -> bool:
        """Whether no prompt may show it yet."""
        return bool(self.outside) and not self.confirmed

    def text(self) -> str:
        """The lesson as prompts show it."""
        lines = [f"Task: {self.task}", f"What failed: {self.failed}"]
        if self.why:
            lines.append(f"Why: {self.why}")
        return "\n".join([*lines, f"What works: {self.worked}"])

    def strength(self, now: datetime) -> float:
        """From 1 (new, or helping) towards 0; see the module's text."""
        age = max((now - self.renewed) / HALF_LIFE, 0.0)
        record = min(1.0, 2 * (self.helped + 1) / (self.helped + self.hurt + 2))
        return float(record**2 * 0.5**age)

    def with_outcome(self, now: datetime, *, passed: bool) -> Lesson:
        """The lesson with the outcome of a task that it was shown to counted."""
        counts = {"used": self.used + 1, "helped": self.helped + passed, "hurt": self.hurt + (not passed)}
        return self.model_copy(update={**counts, "renewed": now if passed else self.renewed})


def lesson_id(thread: str, number: int) -> str:
    """The id of the lesson of a task: the same task leaves the same one when it is done again."""
    return hashlib.sha256(f"{thread}/{number}".encode()).hexdigest()[:10]


def now_utc() -> datetime:
    """The time, as lessons are dated."""
    return datetime.now(UTC)
