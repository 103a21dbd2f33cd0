"""How a job ends, and what is worth another try."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from forethought.journal import JournalError
from forethought.models.allowance import total
from forethought.models.types import ConfigurationError, ModelError, TransportError
from forethought.storage.errors import is_storage_failure, postgres_line
from forethought.text import one_line, sanitize_text
from forethought.tools.files import FilesError

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

Outcome = Literal["done", "waiting", "failed", "cancelled"]
_SHOWN = 500
THREAD_GONE = (
    "its thread is gone, and with it what was done, so that it is not begun anew; if it is to be, submit the "
    "task with another id"
)


@dataclass(frozen=True)
class Ended:
    """How a job ended, for now: one that waits for a person, or failed, can be taken up again."""

    outcome: Outcome
    status: str = ""
    """The run's own: answered, best_effort, budget_exhausted; interrupted; failed."""
    error: str = ""
    usage: Mapping[str, float] = field(default_factory=dict)
    refused: bool = False
    """Whether a model cannot be asked at all, by this worker at least."""
    internal: bool = False
    """Whether the mistake is ours."""


class TryAgain(Exception):
    """What failed may be better in a while: the job goes back into the queue."""

    def __init__(self, line: str, wait_s: float, *, counted: bool = True) -> None:
        super().__init__(line)
        self.wait_s, self.counted = wait_s, counted


@dataclass(frozen=True)
class Retries:
    """How often a job is begun, and the wait before the next time, in seconds."""

    most: int = 5
    first_s: float = 5
    longest_s: float = 300

    def wait_s(self, tries: int) -> float:
        """After so many tries: doubled each time, and shaken, so that jobs do not return all at once."""
        wait: float = min(self.first_s * 2.0 ** (tries - 1), self.longest_s)
        return wait * random.uniform(0.75, 1.25)


def may_pass(error: BaseException) -> bool:
    """Whether the world failed, and the same job may go well later."""
    return isinstance(error, TransportError | JournalError) or (
        is_lost(error) and not getattr(error, "wrong_use", False)
    )


def is_lost(error: BaseException) -> bool:
    """Whether it is the database that failed, as psycopg or the queue says it."""
    queue = getattr(sys.modules.get("procrastinate.exceptions"), "ConnectorException", ())
    return is_storage_failure(error) or isinstance(error, queue)


def failed(error: BaseException, usage: Mapping[str, float], scrub: Callable[[str], str]) -> Ended:
    """A job that ended with an error."""
    known = isinstance(error, ModelError | FilesError | ValueError) or may_pass(error) or is_lost(error)
    return Ended(
        "failed",
        "failed",
        line_of(error, scrub),
        usage,
        refused=isinstance(error, ConfigurationError),
        internal=not known,
    )


def line_of(error: BaseException, scrub: Callable[[str], str]) -> str:
    """An error in one line, without secrets."""
    from forethought.storage.errors import is_postgres

    line = one_line(sanitize_text(postgres_line(error) if is_postgres(error) else str(error)))
    line = line or type(error).__name__
    if not isinstance(error, ModelError | FilesError | ValueError) and not is_lost(error):
        line = f"internal error: {type(error).__name__}: {line}"
    return one_line(scrub(line), _SHOWN)


def of_state(snapshot: StateSnapshot) -> Ended:
    """How a job ended whose run left its thread like this."""
    values, usage = snapshot.values, usage_of(snapshot.values)
    if snapshot.interrupts:
        return Ended("waiting", "interrupted", usage=usage)
    status = str(values.get("status") or "failed")
    if status == "failed" or snapshot.tasks:
        messages = values.get("messages") or []
        said = str(messages[-1].text) if messages else "the run came to no end"
        return Ended("failed", "failed", one_line(said, _SHOWN), usage)
    return Ended("done", status, usage=usage)


def usage_of(values: Mapping[str, Any]) -> dict[str, float]:
    """What a thread has cost so far, summed over its roles."""
    usages = (values.get("usage") or {}).values()
    return cast(dict[str, float], total(*(usage or {} for usage in usages)))
