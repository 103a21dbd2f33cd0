"""The checkpointer of every command, whichever database is behind it.

Besides what LangGraph asks of one it knows the threads and their branches, locks a thread for this process,
and tells in one line of a checkpoint that cannot be read.

A node's update and the edge behind it are written one after the other. LangGraph saves what a cancelled task
had written so far (a sibling failed, Ctrl-C came), and on resume takes the task for done: a tool agent
cancelled between its proposal and its edge would lose its executor. So of a task that ended in an error only
the error is kept, and it simply runs again.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)

from forethought.storage.encryption import Cipher
from forethought.storage.errors import StorageError
from forethought.storage.locks import ThreadLocks, hold
from forethought.storage.serializer import OutOfLine

_ERROR = "__error__"


class ThreadSaver(BaseCheckpointSaver[str]):
    """Threads in a database."""

    shown: str
    """The database's name for messages."""
    cipher: Cipher | None
    locks: ThreadLocks
    contents: Sequence[tuple[str, str]]
    """The tables and columns with serialized values."""
    inlines_texts = False
    """Whether LangGraph would write texts into the checkpoint's row, unencrypted and without NUL."""

    # The threads of the database.

    @abstractmethod
    async def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query, whose parameters are written `?`."""

    @abstractmethod
    async def has_table(self, name: str) -> bool:
        """Whether the database has this table."""

    @abstractmethod
    async def size(self) -> int:
        """Bytes of the database's threads on disk."""

    async def shrink(self) -> None:
        """Give unused space back, where the database does not reuse it by itself."""

    async def newest(self, limit: int, without: Sequence[str] = ()) -> list[str]:
        """Ids of the `limit` threads that were written to last, except those that begin with `without`."""
        conditions = "".join(" AND substr(thread_id, 1, ?) <> ?" for _ in without)
        query = (
            "SELECT thread_id, MAX(checkpoint_id) AS newest FROM checkpoints "
            f"WHERE checkpoint_ns = ''{conditions} GROUP BY thread_id ORDER BY newest DESC LIMIT ?"
        )
        values = [item for prefix in without for item in (len(prefix), prefix)]
        return [str(row[0]) for row in await self.rows(query, (*values, limit))]

    async def with_prefix(self, prefix: str) -> list[str]:
        """Ids of the threads that begin with `prefix`."""
        query = "SELECT DISTINCT thread_id FROM checkpoints WHERE substr(thread_id, 1, ?) = ?"
        return [str(row[0]) for row in await self.rows(query, (len(prefix), prefix))]

    async def head(self, thread_id: str) -> str:
        """Id of the checkpoint that was written last; '' for an unknown thread."""
        query = "SELECT MAX(checkpoint_id) FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''"
        return str((await self.rows(query, (thread_id,)))[0][0] or "")

    async def tree(self, thread_id: str) -> dict[str, str | None]:
        """The parent of each checkpoint of a thread."""
        query = (
            "SELECT checkpoint_id, parent_checkpoint_id FROM checkpoints "
            "WHERE thread_id = ? AND checkpoint_ns = ''"
        )
        return {str(row[0]): row[1] for row in await self.rows(query, (thread_id,))}

    # One process a thread.

    @asynccontextmanager
    async def claim(self, thread_id: str) -> AsyncIterator[None]:
        """Lock a thread for this process. Raises StorageError when another one runs it."""
        async with hold(self.locks, thread_id) as held:
            if not held:
                raise StorageError(
                    f"thread {thread_id[:100]} is running in another process; wait for it, or stop it"
                )
            yield

    async def locked_threads(self, thread_ids: Iterable[str]) -> set[str]:
        """Those of the threads that some process runs now."""
        return await self.locks.locked(thread_ids)

    # What LangGraph asks.

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """See BaseCheckpointSaver. Raises StorageError for a checkpoint that cannot be read."""
        try:
            found = await super().aget_tuple(config)
            if found:
                found.checkpoint["channel_values"]  # damaged bytes can be read as a number
            return found
        except (StorageError, KeyError, TypeError, ValueError, AttributeError, NotImplementedError) as error:
            thread_id = config["configurable"].get("thread_id", "")
            why = str(error) if isinstance(error, StorageError) else "it is damaged"
            raise StorageError(f"thread {thread_id[:100]}: its checkpoint cannot be read: {why}") from error

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """See BaseCheckpointSaver. Raises StorageError when the thread's lock was lost."""
        await self.locks.check(config["configurable"]["thread_id"])
        if self.inlines_texts:
            values = {
                name: OutOfLine(value) if isinstance(value, str) else value
                for name, value in checkpoint["channel_values"].items()
            }
            checkpoint = {**checkpoint, "channel_values": values}
        return await super().aput(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store a task's writes, or only its error if it has one. Raises as `aput` does."""
        await self.locks.check(config["configurable"]["thread_id"])
        errors = [write for write in writes if write[0] == _ERROR]
        await super().aput_writes(config, errors or writes, task_id, task_path)
