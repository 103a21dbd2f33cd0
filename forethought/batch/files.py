"""Contents of jobs' files in the database, so that every worker has them, whatever machine it is on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from forethought.batch.opening import Queue
from forethought.tools.files import FilesError, FileStore


async def share(queue: Queue, references: Iterable[Mapping[str, Any]], store: FileStore) -> None:
    """Put the contents of files that are kept here into the database. Raises FilesError, psycopg.Error."""
    for content_hash in dict.fromkeys(str(reference["hash"]) for reference in references):
        again = "UPDATE forethought_files SET shared_at = now() WHERE hash = ? RETURNING hash"
        if await queue.threads.rows(again, (content_hash,)):
            continue
        content = await asyncio.to_thread(store.get, content_hash)
        cipher = queue.threads.cipher
        await queue.threads.rows(
            "INSERT INTO forethought_files (hash, content) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING",
            (content_hash, cipher.encrypt(content)[1] if cipher else content),
        )


async def fetch(queue: Queue, references: Iterable[Mapping[str, Any]], store: FileStore) -> None:
    """Keep the contents of a job's files here, as far as they are not. Raises FilesError, psycopg.Error."""
    for reference in references:
        content_hash = str(reference["hash"])
        if await asyncio.to_thread(store.has, content_hash):
            continue
        found = await queue.threads.rows(
            "SELECT content FROM forethought_files WHERE hash = ?", (content_hash,)
        )
        if not found:
            raise FilesError(
                f"{reference['name']}: its content is not in the database; submit the task again"
            )
        content = bytes(found[0][0])
        cipher = queue.threads.cipher
        kept = await asyncio.to_thread(store.put, cipher.decrypt("aes", content) if cipher else content)
        if kept != content_hash:
            raise FilesError(f"{reference['name']}: its content in the database is damaged; submit it again")
