"""A folder that a run was given."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict  # the server's schemas need it below Python 3.12


class FolderRef(TypedDict):
    """A folder given to the run. Its files are listed and searched in an index on this machine, not in the
    state."""

    name: str
    id: str
    """Of the index; made from the folder's path with a secret."""
    count: int
    """Files in it."""
    size: int
    """Bytes of all of them."""
    types: list[str]
    """Media types of its files without the part after the slash, such as `image/`; and `table/`."""
    news: NotRequired[str]
    """The files that were added, changed or removed since the last task."""
