"""A stored file as a document: read once, in a process apart, within a time limit, and kept for the next
call.
"""

from __future__ import annotations

from concurrent.futures import TimeoutError as TooSlow
from pathlib import PurePosixPath

from forethought.tools.base import ToolError
from forethought.tools.documents.apart import document_apart
from forethought.tools.documents.document import Document, Unreadable
from forethought.tools.files import FileStore
from forethought.tools.given_files import stored_bytes
from forethought.tools.threads import SharedWork

LONGEST_S = 60.0

_documents: SharedWork[Document] = SharedWork(8)


def document_text(store: FileStore, content_hash: str, name: str) -> str:
    """The whole text of a stored file, as Markdown. Raises ToolError."""
    return load_document(store, content_hash, name).text


def load_document(store: FileStore, content_hash: str, name: str, seconds: float = LONGEST_S) -> Document:
    """A stored file as a document; concurrent calls for one file share one reading.

    Raises ToolError when the file cannot be read, or not within `seconds`.
    """
    key = (store, content_hash, PurePosixPath(name).suffix.lower())
    reading = _documents.start(
        key, lambda: document_apart(stored_bytes(store, content_hash, name), name, LONGEST_S)
    )
    try:
        return reading.result(timeout=seconds)
    except TooSlow as error:
        raise ToolError(
            f"{name} takes longer than {seconds:g} seconds to read",
            cause="timeout",
            hint="Ask the user for the part that matters, as a file of its own.",
        ) from error
    except Unreadable as error:
        raise ToolError(f"{name} {error.what}", cause=error.cause, hint=error.hint) from error
