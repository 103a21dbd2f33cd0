"""What the viewer needs of the place where threads are kept and runs are carried out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from forethought.app.errors import explain
from forethought.app.options import WrongSetting
from forethought.app.report import unfinished, waiting, with_like

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from forethought.experience.advice import Advice
    from forethought.tools.files import FileStore

Json = dict[str, Any]


NO_QUESTION = "This question no longer needs a reply. Any open questions are below."


class UnknownThread(LookupError):
    """There is no such thread, or it is another user's."""


class Refused(ValueError):
    """What was asked for cannot be done: one line that says why and what to do."""


@contextmanager
def refusals() -> Iterator[None]:
    """Raise what the user can correct as Refused, in one line; internal errors pass."""
    try:
        yield
    except Refused:
        raise
    except WrongSetting as error:
        raise Refused(f"Settings, {error.key.replace('_', ' ').capitalize()}: {error.reason}.") from error
    except Exception as error:
        failure = explain(error)
        if failure.internal:
            raise
        raise Refused(failure.line) from error


def check_finished(snapshot: StateSnapshot) -> None:
    """Raises Refused if the thread cannot take another task."""
    if unfinished(snapshot):
        raise Refused("This thread has an unfinished task: resume it, or start a new thread.")


def check_answered(snapshot: StateSnapshot) -> None:
    """Raises Refused if there is no answer that could be wrong."""
    check_finished(snapshot)
    if not snapshot.values.get("answer"):
        raise Refused("This thread has no answer yet.")


def replies_to(snapshot: StateSnapshot, replies: Mapping[str, Json]) -> Json:
    """The replies to all questions that they decide, by id. Raises Refused if a question is gone."""
    questions = [waiting(item) for item in snapshot.interrupts]
    if not replies.keys() <= {question["id"] for question in questions}:
        raise Refused(NO_QUESTION)
    return with_like(replies, questions)


class Threads(Protocol):
    """Threads in a database or on a LangGraph server, as one user sees them."""

    poll_s: float
    """Seconds between two looks at a thread's mark."""

    async def threads(self, limit: int) -> list[Json]:
        """The newest threads and debuggings, as `forethought.app.threads.entries.entry` makes them, with the
        whole task and answer."""
        ...

    async def snapshot(self, thread_id: str, checkpoint: str = "") -> StateSnapshot:
        """The thread's newest state, or that of a checkpoint. Raises UnknownThread."""
        ...

    @property
    def files(self) -> FileStore:
        """Where the user's files and readings are."""
        ...

    async def tree(self, thread_id: str) -> Mapping[str, str | None]:
        """The parent of each checkpoint, by id. Raises UnknownThread."""
        ...

    async def plans(self, thread_id: str, checkpoint: str = "") -> list[Json]:
        """The plans that were written on the way to a state, oldest first, as far as that is quick."""
        ...

    async def debuggings(self, thread_id: str) -> list[str]:
        """Ids of the debuggings of a thread, which are threads of the debugger's graph, oldest first."""
        ...

    async def is_running(self, thread_id: str) -> bool:
        """Whether some process carries the thread out at this moment."""
        ...

    async def mark(self, thread_id: str) -> str:
        """A text that differs whenever the thread has changed; cheap. Raises UnknownThread."""
        ...

    async def experience(self) -> Mapping[str, Sequence[Advice]]:
        """The user's advice by collection (`experience_namespace` of the runs)."""
        ...


class Runs(Threads, Protocol):
    """Threads whose runs can be started, continued and stopped."""

    async def begin(
        self,
        task: str,
        files: Sequence[tuple[str, bytes]] = (),
        settings: Mapping[str, str] | None = None,
        thread_id: str = "",
    ) -> str:
        """Begin a task, in a new thread or as the next one of a thread. Returns the thread's id.

        `task` is sanitized and not empty, `files` are names and contents, `settings` fields of the Context
        as text. Raises Refused.
        """
        ...

    async def reply(self, thread_id: str, replies: Mapping[str, Json]) -> None:
        """Answer questions by their ids, {decision, value, reason} each, and go on. Raises Refused."""
        ...

    async def resume(self, thread_id: str) -> None:
        """Go on with what was stopped or has failed. Raises Refused."""
        ...

    async def fork(self, thread_id: str, before: int, guidance: str) -> None:
        """Go back to just before a step, and run on from there. Raises Refused."""
        ...

    async def wrong(self, thread_id: str, why: str) -> None:
        """Keep what a person says is wrong with the last answer, and answer again. Raises Refused."""
        ...

    async def stop(self, thread_id: str) -> None:
        """Stop the run that is under way; its finished steps are kept. Raises Refused."""
        ...
