"""A stored file as a document: read once, in a process apart, and kept for the next call."""

from __future__ import annotations

from pathlib import PurePosixPath

from forethought.tools.base import ToolError
from forethought.tools.documents.apart import document_apart
from forethought.tools.documents.document import Document, Unreadable
from forethought.tools.files import FileStore
from forethought.tools.given_files import stored_bytes
from forethought.tools.threads import SharedWork

LONGEST_S = 60.0

_documents: SharedWork[Document] = SharedWork(8)


def load_document(store: FileStore, content_hash: str, name: str) -> Document:
    """A stored file as a document; concurrent calls for one file share one reading. Raises ToolError."""
    key = (store, content_hash, PurePosixPath(name).suffix.lower())
    reading = _documents.start(
        key, lambda: document_apart(stored_bytes(store, content_hash, name), name, LONGEST_S)
    )
    try:
        return reading.result()
    except Unreadable as error:
        raise ToolError(f"{name} {error.what}", cause=error.cause, hint=error.hint) from error
