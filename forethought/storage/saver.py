"""The checkpointer of every command, whichever database is behind it.

Besides what LangGraph asks of one it knows the threads and their branches, holds a thread for this process,
refuses checkpoints that are damaged, and seals what it writes where there is a key.

A node's update and the edge behind it are written one after the other. LangGraph saves what a cancelled task
had written so far (a sibling failed, Ctrl-C came), and on resume takes the task for done: a tool agent
cancelled between its proposal and its edge would lose its executor. So of a task that ended in an error only
the error is kept, and it simply runs again.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from datetime import datetime
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)

from forethought.storage.checkpoint_form import problem_of
from forethought.storage.errors import StorageError
from forethought.storage.sealing import MARK, NO_KEY, Sealer

_ERROR = "__error__"
_PRIVATE = "forethought"
"""How the names of those metadata begin that may hold a person's words."""


class ThreadSaver(BaseCheckpointSaver[str]):
    """Threads in a database."""

    shown: str
    """The database as it may be told to a person."""
    sealer: Sealer | None = None

    # What it knows of threads.

    @abstractmethod
    async def rows(self, query: str, given: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query, whose parameters are written `?`."""

    async def newest(self, limit: int, without: Sequence[str] = ()) -> list[str]:
        """Ids of the `limit` threads that were written to last, except those that begin with `without`."""
        kept = "".join(" AND substr(thread_id, 1, ?) <> ?" for _ in without)
        query = (
            f"SELECT thread_id, MAX(checkpoint_id) AS newest FROM checkpoints WHERE checkpoint_ns = ''{kept} "
            "GROUP BY thread_id ORDER BY newest DESC LIMIT ?"
        )
        given = [item for prefix in without for item in (len(prefix), prefix)]
        return [str(row[0]) for row in await self.rows(query, (*given, limit))]

    async def beginning_with(self, prefix: str) -> list[str]:
        """Ids of the threads that begin with `prefix`."""
        query = "SELECT DISTINCT thread_id FROM checkpoints WHERE substr(thread_id, 1, ?) = ?"
        return [str(row[0]) for row in await self.rows(query, (len(prefix), prefix))]

    async def tree(self, thread_id: str) -> dict[str, str | None]:
        """The parent of each checkpoint of a thread."""
        query = (
            "SELECT checkpoint_id, parent_checkpoint_id FROM checkpoints "
            "WHERE thread_id = ? AND checkpoint_ns = ''"
        )
        return {str(row[0]): row[1] for row in await self.rows(query, (thread_id,))}

    async def begun(self, thread_id: str) -> datetime | None:
        """When the thread's first checkpoint was made; None where it has none."""
        query = "SELECT MIN(checkpoint_id) FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''"
        first = (await self.rows(query, (thread_id,)))[0][0]
        if first is None:
            return None
        found = await self.aget_tuple({"configurable": {"thread_id": thread_id, "checkpoint_id": first}})
        return datetime.fromisoformat(found.checkpoint["ts"]) if found else None

    # What retention needs.

    tables: Sequence[str]
    """Those that hold a thread's rows."""
    contents: Sequence[tuple[str, str]]
    """Those of them that hold what the serializer wrote, and in which column; its form is in `type`."""

    @abstractmethod
    async def has_table(self, name: str) -> bool:
        """Whether the database has this table."""

    @abstractmethod
    def stream(self, query: str, given: Sequence[Any] = ()) -> AsyncIterator[tuple[Any, ...]]:
        """The rows of a query, a few at a time."""

    @abstractmethod
    async def transact(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> None:
        """Carry out all of the statements, or none."""

    @abstractmethod
    async def size(self) -> int:
        """Bytes of the database's threads on disk."""

    @abstractmethod
    async def shrink(self) -> None:
        """Give space that is not used any more back, as far as the database does."""

    # One process a thread.

    @abstractmethod
    def claim(self, thread_id: str) -> AbstractAsyncContextManager[None]:
        """Hold a thread for this process. Raises StorageError when another one holds it."""

    @abstractmethod
    async def claimed(self, thread_ids: Iterable[str]) -> set[str]:
        """Those of the threads that some process holds now."""

    async def check_held(self, thread_id: str) -> None:
        """Raises StorageError when this process has lost the thread that it held."""

    # What LangGraph asks.

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """See BaseCheckpointSaver. Raises StorageError for a checkpoint that is damaged."""
        with _told_of(config):
            found = await super().aget_tuple(config)
        return self._checked(found) if found else None

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """See BaseCheckpointSaver. Raises StorageError for a checkpoint that is damaged."""
        listed = super().alist(config, filter=filter, before=before, limit=limit)
        while True:
            with _told_of(config):
                found = await anext(listed, None)
            if found is None:
                return
            yield self._checked(found)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """See BaseCheckpointSaver. Raises StorageError when the thread is no longer held."""
        await self.check_held(config["configurable"]["thread_id"])
        if self.sealer is not None:
            metadata = _sealed(metadata, self.sealer)
            config = {**config, "metadata": _sealed(config.get("metadata") or {}, self.sealer)}
        return await super().aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store a task's writes, or only its error if it has one."""
        await self.check_held(config["configurable"]["thread_id"])
        errors = [write for write in writes if write[0] == _ERROR]
        await super().aput_writes(config, errors or writes, task_id, task_path)

    def with_allowlist(self, extra_allowlist: Collection[tuple[str, ...]]) -> BaseCheckpointSaver[str]:
        """See BaseCheckpointSaver: what this one reads is settled, whatever LANGGRAPH_STRICT_MSGPACK says."""
        return self

    def _checked(self, found: CheckpointTuple) -> CheckpointTuple:
        """The checkpoint with its metadata opened. Raises StorageError unless it has a checkpoint's form."""
        problem = problem_of(found)
        if problem:
            raise _named(StorageError(problem), found.config["configurable"]["thread_id"])
        metadata: Any = found.metadata
        for name, value in found.metadata.items():
            if isinstance(value, str) and value.startswith(MARK):
                if self.sealer is None:
                    raise _named(StorageError(NO_KEY), found.config["configurable"]["thread_id"])
                metadata = {**metadata, name: self.sealer.open_text(value)}
        return found._replace(metadata=metadata)


def _sealed(metadata: Any, sealer: Sealer) -> Any:
    return {
        name: sealer.seal_text(value)
        if name.startswith(_PRIVATE) and isinstance(value, str) and not value.startswith(MARK)
        else value
        for name, value in metadata.items()
    }


@contextmanager
def _told_of(config: RunnableConfig | None) -> Iterator[None]:
    """While a checkpoint is read: what goes wrong is a StorageError that names the thread."""
    thread_id = (config or {}).get("configurable", {}).get("thread_id", "")
    try:
        yield
    except StorageError as error:
        raise _named(error, thread_id) from error
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        # What the libraries make of rows that no program wrote.
        raise _named(StorageError("is damaged"), thread_id) from error


def _named(error: StorageError, thread_id: object) -> StorageError:
    """The error with the thread that it is about."""
    return StorageError(f"thread {str(thread_id)[:100]}: its checkpoint cannot be read: {error}")
