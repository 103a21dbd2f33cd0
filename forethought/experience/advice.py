"""An advice of a person or from a failure, kept for later tasks (SAMULE's reflections, PreFlect's planning
errors).

Text from outside, of which an advice is made, may hold an order that an attacker planted. It is quarantined:
no prompt shows it until a person confirms it. A person's own words need no proof and are adopted at once.
"""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

Kind = Literal["rule", "fact", "error"]
State = Literal["adopted", "probation", "quarantined", "retired", "replaced", "dropped"]
Source = Literal["person", "learn", "distill", "synthesize", "import", "packaged"]
Outcome = Literal["shown", "applied", "helped", "harmed"]
Part = Annotated[str, StringConstraints(strip_whitespace=True, max_length=1_000)]

IN_USE: tuple[State, ...] = ("adopted", "probation")
MOST_TASKS = 100
"""Tasks whose outcome an advice remembers, so that no task counts twice."""


class Proof(BaseModel):
    """How often a re-run with the correction turned the failure into a success (AgentDebug, step 2)."""

    status: Literal["proven", "suggested", "unknown"] = "unknown"
    flips: int = 0
    runs: int = 0
    control_flips: int = 0
    control_runs: int = 0
    low: float = 0.0
    high: float = 0.0
    """Interval of the difference between the two rates of flips."""


class Gate(BaseModel):
    """The effect of the advice at the plan checkpoints of past tasks (PreFlect's question)."""

    prevented: int = 0
    broken: int = 0
    runs: int = 0
    low: float = 0.0
    high: float = 0.0
    """Interval of (prevented - broken) / runs."""


class Advice(BaseModel):
    """One advice as the Store keeps it. Its key there is `id`."""

    id: str
    name: str = Field(pattern=r"^[a-z0-9_]{1,60}$")
    kind: Kind = "rule"
    applies: Part
    """Retrieval text: when the advice applies, without names of people."""
    wrong: Part = ""
    instead: Part = Field(min_length=1)
    """What to do instead, or the fact itself. Prompts show this sentence alone, so it names its case."""
    failure: Part = ""
    success: Part = ""
    state: State = "adopted"
    replaces: list[str] = Field(default_factory=list)
    replaced_by: str = ""
    source: Source
    level: Literal["", "micro", "meso", "macro"] = ""
    thread: str = ""
    number: int = 0
    """Which task of the thread, from 1."""
    steps: list[int] = Field(default_factory=list)
    """Numbers of the thread's steps that show the failure."""
    origin: str = "user"
    """The origin of its text, as in nodes/support/origins.py."""
    outside: list[str] = Field(default_factory=list)
    """The parts of `origin` that another author may have written."""
    proof: Proof = Proof()
    gate: Gate = Gate()
    shown: int = 0
    """Finished tasks whose prompts showed it."""
    applied: int = 0
    """Answers that it changed."""
    helped: int = 0
    harmed: int = 0
    tasks: dict[str, Outcome] = Field(default_factory=dict)
    """The newest outcomes by task, so that a task that is resumed or judged again counts once."""
    made: datetime
    last_used: datetime | None = None

    @property
    def in_use(self) -> bool:
        """Whether prompts may show it."""
        return self.state in IN_USE

    def with_outcome(self, task: str, outcome: Outcome, now: datetime) -> Advice:
        """Count a task's outcome, in place of the one that the same task had before.

        An advice that did harm at least twice, and more than twice as often as good, is retired.
        """
        old, tasks = self.tasks.get(task), {**self.tasks, task: outcome}
        helped = self.helped + (outcome == "helped") - (old == "helped")
        harmed = self.harmed + (outcome == "harmed") - (old == "harmed")
        bad = harmed >= 2 and harmed > 2 * helped
        counts = {
            "shown": self.shown + (old is None),
            "applied": self.applied + (outcome != "shown") - (old not in (None, "shown")),
            "helped": helped,
            "harmed": harmed,
            "tasks": dict(list(tasks.items())[-MOST_TASKS:]),
            "last_used": now,
        }
        return self.model_copy(update={**counts, "state": "retired" if bad and self.in_use else self.state})


def advice_id(*parts: object) -> str:
    """The id of an advice made from these parts: the same thread and task give the same one."""
    return hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest()[:10]


def name_of(text: str) -> str:
    """A name made of the first words of a text."""
    return "_".join(re.findall(r"[a-z0-9]+", text.casefold())[:5])[:60].strip("_") or "advice"


def task_key(thread: str, number: int) -> str:
    """The key of a task in an advice's outcomes."""
    return advice_id(thread, number)


def now_utc() -> datetime:
    """The time, as advice is dated."""
    return datetime.now(UTC)
