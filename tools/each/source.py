"""The text of one file, and the places of quotes in it."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from forethought.tools.base import ToolEnv
from forethought.tools.documents.reader import load_document
from forethought.tools.folders.passages import Passage, passages


@dataclass(frozen=True)
class Source:
    """A file's text with its places."""

    text: str
    passages: Sequence[Passage] = ()

    def find(self, quote: str) -> int | None:
        """Start of a quote. White space, case and marks between words do not count."""
        at = self.text.find(quote)
        if at >= 0 and not self.text[at + len(quote) : at + len(quote) + 1].isalnum():
            return at
        words = re.findall(r"[^\W_]+", quote)
        if not words:
            return None
        for letters in ("", r"(?:[-\u00ad]\s+)?"):  # a word may be divided at the end of a line
            together = r"[\W_]+".join(letters.join(map(re.escape, word)) for word in words)
            if found := re.search(rf"(?<!\w){together}(?!\w)", self.text, re.IGNORECASE):
                return found.start()
        return None

    def place(self, at: int) -> str:
        """Page, sheet or line of a position."""
        number = bisect_right([passage.start for passage in self.passages], at) - 1
        named = self.passages[number].place if number >= 0 else ""
        return named or f"line {self.text.count(chr(10), 0, at) + 1}"


async def load_source(env: ToolEnv, name: str) -> Source:
    """The text of a given file, from the index of its folder if it has one. Raises ToolError."""
    assert env.store is not None, "a run with files has a storage"
    folders = env.folders
    if (
        folders is not None
        and name not in folders.files
        and (text := await asyncio.to_thread(folders.text, name))
    ):
        return Source(text, await asyncio.to_thread(folders.passages, name))
    document = await load_document(env.store, env.files[name], name, env.settings)
    return Source(*await asyncio.to_thread(passages, document))
