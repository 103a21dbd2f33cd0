"""LangGraph's SQLite checkpointer, whose writes are committed in groups.

Its own makes seven trips to the connection's thread and two commits for each step of a run. Here those that
come together, from one run or many, share a trip and a commit.

A write returns when it is on disk, except what a finished task of a claimed thread leaves: LangGraph writes
the checkpoint behind it next. These writes return at once and share the checkpoint's commit. They are on disk
after a moment, and no later than the checkpoint, the next read and the end of the claim. Where one is lost,
all that the thread writes behind it fails, up to and with the next checkpoint; without one, the claim's end
raises the error. Whatever else ends a run (an error, an interrupt) is waited for.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
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
_NOTHING = "SELECT 1"
_MOMENT_S = 0.005


@dataclass(frozen=True)
class _Insert:
    """A statement that waits for its group."""

    thread_id: str
    query: str
    values: Sequence[Any]
    kept: asyncio.Future[None] | None
    """Done when the write is on disk; None if nobody waits for it."""


class GroupCommitSaver(AsyncSqliteSaver):
    """See the module. The connection's own transactions, under `lock`, are never part of a group."""

    def __init__(self, conn: Any, **kwargs: Any) -> None:
        super().__init__(conn, **kwargs)
        self._waiting: list[_Insert] = []
        self._writer: asyncio.Task[None] | None = None
        self._deferring: set[str] = set()
        """The threads with writes that nobody waits for."""
        self._lost: dict[str, Exception] = {}
        """Errors of such writes by thread, until a checkpoint raises them or a claim begins."""

    @asynccontextmanager
    async def deferring(self, thread_id: str) -> AsyncIterator[None]:
        """Let a thread's writes wait for its checkpoints. Raises, at the end, why one was lost."""
        self._lost.pop(thread_id, None)
        self._deferring.add(thread_id)
        try:
            yield
        finally:
            self._deferring.discard(thread_id)
            error = await self._flush(thread_id)
        if error is not None:
            raise error

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """See BaseCheckpointSaver: with all that was written before."""
        thread_id = str(config["configurable"]["thread_id"])
        if thread_id in self._deferring:
            await self._flush(thread_id)
        return await super().aget_tuple(config)

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
        thread_id = str(names["thread_id"])
        values = [
            thread_id,
            names["checkpoint_ns"],
            checkpoint["id"],
            options.get("checkpoint_id"),
            *self.serde.dumps_typed(checkpoint),
            described.encode("utf-8", "ignore"),
        ]
        try:
            await self._insert(thread_id, _CHECKPOINT, values)
        except Exception:
            self._lost.pop(thread_id, None)
            raise
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
        loop = asyncio.get_running_loop()
        if followed and thread_id in self._deferring:
            self._waiting.append(_Insert(thread_id, query, values, None))
            loop.call_later(_MOMENT_S, self._begin)
            return
        kept: asyncio.Future[None] = loop.create_future()
        self._waiting.append(_Insert(thread_id, query, values, kept))
        self._begin()
        await kept

    async def _flush(self, thread_id: str) -> Exception | None:
        """Return when all of a thread is on disk; what went wrong with it."""
        try:
            await self._insert(thread_id, _NOTHING, ())  # behind all of the thread's, in order
        except Exception as error:
            return error
        return None

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
                self._lost[insert.thread_id] = error
        elif not insert.kept.done():  # else whoever waited was cancelled
            if error is None:
                insert.kept.set_result(None)
            else:
                insert.kept.set_exception(error)

    async def _commit(self, group: Sequence[_Insert]) -> Sequence[Exception | None]:
        """What went wrong with each."""
        lost = dict(self._lost)
        try:
            connection: Any = self.conn  # the way to its thread is private to aiosqlite
            errors: list[Exception | None] = await connection._execute(
                lambda: _commit(connection._conn, group, lost)
            )
            return errors
        except Exception as error:
            return [error] * len(group)


def _commit(
    connection: sqlite3.Connection, group: Sequence[_Insert], failed: dict[str, Exception]
) -> list[Exception | None]:
    """Write a group; what went wrong with each. A thread in which one has `failed` fails from there on."""
    if not failed and _write_all(connection, group) is None:
        return [None] * len(group)
    errors = []
    for insert in group:
        error = failed.get(insert.thread_id) or _write_all(connection, [insert])
        if error is not None:
            failed[insert.thread_id] = error
        errors.append(error)
    return errors


def _write_all(connection: sqlite3.Connection, group: Sequence[_Insert]) -> Exception | None:
    """Write all in one transaction, or none; what went wrong."""
    try:
        with connection:
            for insert in group:
                connection.execute(insert.query, insert.values)
    except Exception as error:
        return error
    return None
