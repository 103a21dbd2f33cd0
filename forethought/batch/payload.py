"""What a job is to do: its task, the references of its files, and its Context."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from forethought.tools.files import FilesError, FileStore

if TYPE_CHECKING:
    from forethought.batch.queue import Queue

Json = dict[str, Any]


class Payload(BaseModel):
    """What a job is given, as its row keeps it."""

    task: str
    files: list[Json] = []
    context: Json = {}

    @property
    def digest(self) -> str:
        """The same for the same payload."""
        return digest(self.model_dump_json())


def digest(text: str) -> str:
    """Hexadecimal SHA-256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


async def share_files(
    queue: Queue, connection: Any, references: Iterable[Mapping[str, Any]], store: FileStore
) -> None:
    """Put the contents of files that are kept here into the database, within a transaction.

    Raises FilesError, psycopg.Error.
    """
    for content_hash in dict.fromkeys(str(reference["hash"]) for reference in references):
        query = "SELECT 1 FROM forethought_files WHERE hash = %s"
        if await (await connection.execute(query, (content_hash,))).fetchone():
            continue
        content, cipher = await asyncio.to_thread(store.get, content_hash), queue.threads.cipher
        await connection.execute(
            "INSERT INTO forethought_files (hash, content) VALUES (%s, %s) ON CONFLICT (hash) DO NOTHING",
            (content_hash, cipher.encrypt(content)[1] if cipher else content),
        )


async def fetch_files(queue: Queue, references: Iterable[Mapping[str, Any]], store: FileStore) -> None:
    """Keep the contents of a job's files here, as far as they are not. Raises FilesError, psycopg.Error."""
    for reference in references:
        content_hash = str(reference["hash"])
        if await asyncio.to_thread(store.has, content_hash):
            continue
        query = "SELECT content FROM forethought_files WHERE hash = ?"
        rows = await queue.threads.rows(query, (content_hash,))
        if not rows:
            raise FilesError(f"{reference['name']}: not in the database; submit the task again")
        content, cipher = bytes(rows[0][0]), queue.threads.cipher
        await asyncio.to_thread(store.put, cipher.decrypt("aes", content) if cipher else content)
