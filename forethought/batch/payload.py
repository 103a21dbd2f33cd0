"""What a job is to do: its task, the references of its files, and its Context."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from forethought.batch.queue import Queue
from forethought.state.context import Context
from forethought.tools.files import FilesError, FileStore

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


def read_payload(queue: Queue, text: str) -> tuple[Payload, Context]:
    """The payload of a job's row.

    Raises StorageError for another key, ValueError for a row that cannot be read.
    """
    try:
        payload = Payload.model_validate_json(queue.decrypt(text))
        return payload, Context.model_validate(payload.context)
    except ValidationError as error:
        raise ValueError("its row cannot be read; submit the task again with another id") from error


async def share_files(queue: Queue, references: Iterable[Mapping[str, Any]], store: FileStore) -> None:
    """Put the contents of files that are kept here into the database. Raises FilesError, psycopg.Error."""
    for content_hash in dict.fromkeys(str(reference["hash"]) for reference in references):
        again = "UPDATE forethought_files SET shared_at = now() WHERE hash = ? RETURNING hash"
        if await queue.rows(again, (content_hash,)):
            continue
        content, cipher = await asyncio.to_thread(store.get, content_hash), queue.threads.cipher
        await queue.rows(
            "INSERT INTO forethought_files (hash, content) VALUES (?, ?) ON CONFLICT (hash) DO NOTHING",
            (content_hash, cipher.encrypt(content)[1] if cipher else content),
        )


async def fetch_files(queue: Queue, references: Iterable[Mapping[str, Any]], store: FileStore) -> None:
    """Keep the contents of a job's files here, as far as they are not. Raises FilesError, psycopg.Error."""
    for reference in references:
        content_hash = str(reference["hash"])
        if await asyncio.to_thread(store.has, content_hash):
            continue
        found = await queue.rows("SELECT content FROM forethought_files WHERE hash = ?", (content_hash,))
        if not found:
            raise FilesError(
                f"{reference['name']}: its content is not in the database; submit the task again"
            )
        content, cipher = bytes(found[0][0]), queue.threads.cipher
        await asyncio.to_thread(store.put, cipher.decrypt("aes", content) if cipher else content)
