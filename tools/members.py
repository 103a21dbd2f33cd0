"""Files in given files become given files themselves: attachments, and what is in archives and documents."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from forethought.tools.files import FilesError, FileStore, reference

if TYPE_CHECKING:
    from forethought.settings import Settings
    from forethought.state.agent import FileRef


def with_members(files: Sequence[FileRef], store: FileStore, settings: Settings) -> list[FileRef]:
    """The files and, after them, the files in them, named as `mail.eml/q3.xlsx`. Blocking.

    Of a file that cannot be opened no members are taken: its text says why. Members that an earlier call
    returned are not files of their own: they go with the file that holds them.
    """
    names = {file["name"] for file in files}
    own = [file for file in files if not holders(file["name"]) & names]
    return [*own, *(member for file in own for member in _members(file, store, settings))]


def holders(name: str) -> set[str]:
    """The names that a file which holds one of this name can have."""
    parts = name.split("/")
    return {"/".join(parts[:end]) for end in range(1, len(parts))}


def _members(file: FileRef, store: FileStore, settings: Settings) -> list[FileRef]:
    from forethought.tools.documents.document import Unreadable
    from forethought.tools.documents.members import holder_kind
    from forethought.tools.documents.reader import members_apart

    with suppress(FilesError, Unreadable):
        data = store.get(file["hash"])
        if holder_kind(data, file["name"]):
            members = members_apart(data, file["name"], settings)
            return [
                reference(each.name, store.put(each.data), each.data) for each in members if not each.reason
            ]
    return []
