"""The text that Forethought shows a model: first look, `read_file`, python's files and tables."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

from forethought.nodes.support.first_look import look_at
from forethought.settings import Settings
from forethought.tools.base import Observation, ToolEnv, ToolError
from forethought.tools.documents.reader import load_content
from forethought.tools.files import FileStore, from_contents
from forethought.tools.members import with_members
from forethought.tools.read_file import read_file

T = TypeVar("T")
MOST_PARTS = 4
"""Parts of a file that are read, besides the last one."""


class Seen:
    """The texts of a file and of the files in it. `seconds` is the longest call."""

    def __init__(self, name: str, data: bytes, settings: Settings) -> None:
        self.texts = {"look": "", "read": "", "files": "", "tables": ""}
        self.seconds = 0.0
        store = FileStore.of(settings)
        self._files = with_members(from_contents([(name, data)], settings), store, settings)
        names = {file["name"]: file["hash"] for file in self._files}
        self._env = ToolEnv(settings, files=names, store=store)

    async def see(self, question: str, *, read_only: bool = False) -> None:
        """Fill the texts. With `read_only` only what `read_file` shows."""
        env = self._env
        assert env.store is not None
        if not read_only:
            look = look_at(self._files, question, env.store, env.settings, env.sizes.looked, env.sizes.part)
            self.texts["look"] = "\n".join(file["text"] for file in (await self._timed(look))["files"])
        for name, content_hash in env.files.items():
            async for text in self._parts(name):
                self.texts["read"] += f"{text}\n\n"
            if read_only:
                continue
            try:
                content = await self._timed(load_content(env.store, content_hash, name, env.settings))
                self.texts["files"] += f"{content.text}\n\n"
                self.texts["tables"] += f"{content.tables!r}\n"
            except ToolError as error:
                self.texts["files"] += f"{error.message}. {error.hint}\n"

    async def _timed(self, call: Coroutine[Any, Any, T]) -> T:
        began = time.monotonic()
        try:
            return await call
        finally:
            self.seconds = max(self.seconds, time.monotonic() - began)

    async def _parts(self, name: str) -> AsyncIterator[str]:
        """What `read_file` shows, part by part."""
        number, last = 1, 1
        while number <= last:
            try:
                seen = await self._timed(read_file(self._env, name, part=number))
            except ToolError as error:
                yield f"{error.message}. {error.hint}"
                return
            assert isinstance(seen, Observation)
            yield seen.text
            total = re.search(r"part \d+ of (\d+)", seen.text[:500]) if seen.partial else None
            last = int(total[1]) if total else 1
            number = last if number == MOST_PARTS else number + 1
