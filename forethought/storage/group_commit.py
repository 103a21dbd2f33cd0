"""LangGraph's SQLite checkpointer, whose writes are committed in groups.

Its own makes seven trips to the connection's thread and two commits for each step of a run. Here those that
come together, from one run or many, share a trip and a commit.

A write returns when it is on disk, but for what a task that came to its end leaves: LangGraph writes the
checkpoint behind it next, waiting for the task's writes first. These return at once, share the checkpoint's
commit, and are on disk no later than it, or after a moment where it does not come yet. What goes wrong with
them is raised by the thread's next write. Whatever else ends a run (an error, an interrupt) is waited for.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

_CHECKPOINT = (
    "INSERT OR REPLACE INTO checkpoints "
    "(thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_WRITES = (
    "INSERT OR {} INTO writes "
    "(thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value) VALUES "
)
_WRITE = "(?, ?, ?, ?, ?, ?, ?, ?, ?)"
_MOMENT_S = 0.005


@dataclass(frozen=True)
class _Insert:
    """A statement that waits for its group."""

    thread_id: str
    query: str
    values: Sequence[Any]
    kept: asyncio.Future[None] | None
    """Done when it is on disk; None: nobody waits for it."""


class GroupCommitSaver(AsyncSqliteSaver):
    """See the module. The connection's own transactions, under `lock`, are never part of a group."""

    def __init__(self, conn: Any, **kwargs: Any) -> None:
        super().__init__(conn, **kwargs)
        self._waiting: list[_Insert] = []
        self._writer: asyncio.Task[None] | None = None
        self._failed: dict[str, Exception] = {}
        """What went wrong, by thread, with a write for which nobody waited."""

    async def flush(self) -> None:
        """Return when all is on disk. Raises what went wrong with it and was not raised yet."""
        self._begin()
        if self._writer is not None:
            await self._writer
        if self._failed:
            raise self._failed.popitem()[1]

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """See BaseCheckpointSaver. Raises sqlite3.Error."""
        options = config["configurable"]
        names = {"thread_id": options["thread_id"], "checkpoint_ns": options["checkpoint_ns"]}
        described = json.dumps(get_checkpoint_metadata(config, metadata), ensure_ascii=False)
        await self._insert(
            str(names["thread_id"]),
            _CHECKPOINT,
            [
                str(names["thread_id"]),
                names["checkpoint_ns"],
                checkpoint["id"],
                options.get("checkpoint_id"),
                *self.serde.dumps_typed(checkpoint),
                described.encode("utf-8", "ignore"),
            ],
        )
        return {"configurable": {**names, "checkpoint_id": checkpoint["id"]}}

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """See BaseCheckpointSaver. Raises sqlite3.Error."""
        if not writes:
            return
        options = config["configurable"]
        names = [str(options[name]) for name in ("thread_id", "checkpoint_ns", "checkpoint_id")]
        values: list[Any] = []
        for at, (channel, value) in enumerate(writes):
            values += [*names, task_id, task_path, WRITES_IDX_MAP.get(channel, at), channel]
            values += self.serde.dumps_typed(value)
        special = [channel in WRITES_IDX_MAP for channel, _ in writes]
        query = _WRITES.format("REPLACE" if all(special) else "IGNORE") + ", ".join([_WRITE] * len(writes))
        # Only LangGraph gives a path: that of the task whose writes they are.
        await self._insert(names[0], query, values, followed=bool(task_path) and not any(special))

    async def _insert(
        self, thread_id: str, query: str, values: Sequence[Any], *, followed: bool = False
    ) -> None:
        """Write it, or have it written in a moment if it is `followed` by a checkpoint."""
        await self.setup()
        if thread_id in self._failed:
            raise self._failed.pop(thread_id)
        loop = asyncio.get_running_loop()
        if followed:
            self._waiting.append(_Insert(thread_id, query, values, None))
            loop.call_later(_MOMENT_S, self._begin)
            return
        kept: asyncio.Future[None] = loop.create_future()
        self._waiting.append(_Insert(thread_id, query, values, kept))
        self._begin()
        await kept
        if thread_id in self._failed:
            raise self._failed.pop(thread_id)

    def _begin(self) -> None:
        if self._waiting and self._writer is None:
            self._writer = asyncio.create_task(self._write())

    async def _write(self) -> None:
        """Write whatever waits, group by group."""
        try:
            while self._waiting:
                async with self.lock:
                    group, self._waiting = self._waiting, []
                    errors = await self._commit(group)
                for insert, error in zip(group, errors, strict=True):
                    self._settle(insert, error)
        finally:
            self._writer = None

    def _settle(self, insert: _Insert, error: Exception | None) -> None:
        if insert.kept is None:
            if error is not None:
                self._failed[insert.thread_id] = error
        elif not insert.kept.done():  # else whoever waited was cancelled
            if error is None:
                insert.kept.set_result(None)
            else:
                insert.kept.set_exception(error)

    async def _commit(self, group: Sequence[_Insert]) -> Sequence[Exception | None]:
        """What went wrong with each."""
        try:
            connection: Any = self.conn  # the way to its thread is private to aiosqlite
            errors: list[Exception | None] = await connection._execute(
                lambda: _commit(connection._conn, group)
            )
            return errors
        except Exception as error:
            return [error] * len(group)


def _commit(connection: sqlite3.Connection, group: Sequence[_Insert]) -> list[Exception | None]:
    """Write a group; what went wrong with each. Where one fails, each is tried by itself."""
    try:
        with connection:
            for insert in group:
                connection.execute(insert.query, insert.values)
        return [None] * len(group)
    except Exception as error:
        if len(group) == 1:
            return [error]
        return [_commit(connection, [insert])[0] for insert in group]
