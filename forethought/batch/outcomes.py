"""How a job ends, and which errors are worth another try."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from forethought.journal import JournalError
from forethought.models.allowance import total
from forethought.models.types import ModelError, TransportError
from forethought.storage.errors import is_postgres, is_storage_failure, postgres_line
from forethought.text import sanitize_text
from forethought.tools.files import FilesError

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

Outcome = Literal["done", "waiting", "failed", "cancelled"]
_SHOWN = 500


@dataclass(frozen=True)
class JobResult:
    """How a job ended, for now: one that waits for a person, or failed, can be retried."""

    outcome: Outcome
    status: str = ""
    """The run's own: answered, best_effort, budget_exhausted; interrupted; failed."""
    error: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    refused: bool = False
    """Whether a model cannot be asked at all, by this worker at least."""


class TryAgain(Exception):
    """What failed may be better in a while: the job goes back into the queue."""

    def __init__(self, line: str, wait_s: float) -> None:
        super().__init__(line)
        self.wait_s = wait_s


def is_lost(error: BaseException | None) -> bool:
    """Whether it is the database that failed, as psycopg or the queue says it."""
    if error is None:
        return False
    connector = getattr(sys.modules.get("procrastinate.exceptions"), "ConnectorException", ())
    return is_storage_failure(error) or isinstance(error, connector)


def may_pass(error: BaseException) -> bool:
    """Whether the world failed, and the same job may go well later."""
    return isinstance(error, TransportError | JournalError) or (
        is_lost(error) and not getattr(error, "wrong_use", False)
    )


def is_internal(error: BaseException) -> bool:
    """Whether the mistake is ours."""
    return not isinstance(error, ModelError | FilesError | ValueError | JournalError) and not is_lost(error)


def error_line(error: BaseException, redact: Callable[[str], str]) -> str:
    """An error in one line, without secrets."""
    text = sanitize_text(postgres_line(error) if is_postgres(error) else str(error))
    line = " ".join(text.split()) or type(error).__name__
    if is_internal(error):
        line = f"internal error: {type(error).__name__}: {line}"
    return redact(line)[:_SHOWN]


def of_state(snapshot: StateSnapshot) -> JobResult:
    """How a job ended whose run left its thread like this."""
    values, usage = snapshot.values, usage_of(snapshot.values)
    if snapshot.interrupts:
        return JobResult("waiting", "interrupted", usage=usage)
    status = str(values.get("status") or "failed")
    if status == "failed" or snapshot.tasks:
        messages = values.get("messages") or []
        text = str(messages[-1].text) if messages else "the run came to no end"
        return JobResult("failed", "failed", " ".join(text.split())[:_SHOWN], usage)
    return JobResult("done", status, usage=usage)


def usage_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a thread has cost so far, summed over its roles."""
    return dict(total(*(values.get("usage") or {}).values()))
