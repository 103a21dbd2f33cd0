"""The threads of a database, to be read."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from forethought.app.threads.entries import LONGEST, list_threads
from forethought.app.threads.thread import is_debugging
from forethought.app.viewer.readings import reading_progress
from forethought.app.viewer.runs import Json, UnknownThread
from forethought.settings import Settings
from forethought.storage import EXPERIENCE, address_of, open_experience
from forethought.tools.files import FileStore
from forethought.users import LOCAL_USER

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.types import StateSnapshot

    from forethought.experience.advice import Advice
    from forethought.storage.saver import ThreadSaver


class LocalThreads:
    """See Threads. `saver` is open as long as they are read."""

    poll_s = 0.5

    def __init__(self, saver: ThreadSaver, settings: Settings) -> None:
        from forethought.graph.agent import build_agent
        from forethought.graph.debugger import build_debugger

        self._saver, self._settings = saver, settings
        self._graph = build_agent(settings=settings.model_copy(update={"tools": None}), checkpointer=saver)
        self._debugger = build_debugger(settings, saver)

    @property
    def files(self) -> FileStore:
        """See Threads."""
        return FileStore.of(self._settings)

    async def threads(self, limit: int) -> list[Json]:
        """See Threads."""
        return await list_threads(self._saver, limit, debuggings=True, width=LONGEST)

    async def snapshot(self, thread_id: str, checkpoint: str = "") -> StateSnapshot:
        """See Threads."""
        named = {"checkpoint_id": checkpoint} if checkpoint else {}
        config: RunnableConfig = {"configurable": {"thread_id": thread_id, **named}}
        graph = self._debugger if is_debugging(thread_id) else self._graph
        snapshot: StateSnapshot = await graph.aget_state(config)
        if snapshot.created_at is None:
            raise UnknownThread(f"{thread_id} with this checkpoint" if checkpoint else thread_id)
        return snapshot

    async def tree(self, thread_id: str) -> Mapping[str, str | None]:
        """See Threads."""
        return await self._saver.tree(thread_id)

    async def plans(self, thread_id: str, checkpoint: str = "") -> list[Json]:
        """See Threads. A plan's channel is kept as its writes, so one query finds them."""
        named = {"checkpoint_id": checkpoint} if checkpoint else {}
        config: RunnableConfig = {"configurable": {"thread_id": thread_id, "checkpoint_ns": "", **named}}
        channels = await self._saver.aget_delta_channel_history(config=config, channels=["plan"])
        return [value for _, _, value in channels["plan"]["writes"] if value]

    async def debuggings(self, thread_id: str) -> list[str]:
        """See Threads."""
        from forethought.app.debug.session import debugging_of

        prefix = f"{debugging_of(thread_id)}:"
        found = {name: name.removeprefix(prefix) for name in await self._saver.with_prefix(prefix)}
        return sorted((name for name in found if found[name].isdecimal()), key=lambda name: int(found[name]))

    async def is_running(self, thread_id: str) -> bool:
        """See Threads."""
        return bool(await self._saver.locked_threads([thread_id]))

    async def mark(self, thread_id: str) -> str:
        """See Threads."""
        if not (head := await self._saver.head(thread_id)):
            raise UnknownThread(thread_id)
        if not await self.is_running(thread_id):
            return head
        return f"{head}-running{await asyncio.to_thread(reading_progress, self.files, thread_id)}"

    async def experience(self) -> Mapping[str, Sequence[Advice]]:
        """See Threads. There is none before something was taught."""
        from forethought.experience.book import advice_of

        address = address_of(self._settings)
        if not address.beside(EXPERIENCE).exists:
            return {}
        async with open_experience(address, create=False) as store:
            return await advice_of(store, LOCAL_USER)
