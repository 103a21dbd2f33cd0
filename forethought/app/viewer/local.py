"""The threads of the local database, which the viewer's own process runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence

from forethought.app.viewer.local_threads import LocalThreads
from forethought.app.viewer.runs import Json


class LocalRuns(LocalThreads):
    """See Runs. `saver` is open as long as the viewer runs."""

    async def begin(self, task: str, files: Sequence[tuple[str, bytes]], thread_id: str = "") -> str:
        raise NotImplementedError

    async def reply(self, thread_id: str, replies: Mapping[str, Json]) -> None:
        raise NotImplementedError

    async def resume(self, thread_id: str) -> None:
        raise NotImplementedError

    async def fork(self, thread_id: str, before: int, guidance: str) -> None:
        raise NotImplementedError

    async def stop(self, thread_id: str) -> None:
        raise NotImplementedError

    async def changes(self, thread_id: str) -> AsyncIterator[None]:
        raise NotImplementedError
        yield
