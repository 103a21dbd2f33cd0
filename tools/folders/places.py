"""The places of folders' indexes.

A run's state holds a folder's id alone. The id cannot be guessed, since it is made with a secret of the data
folder: a client of a server reaches no folder but those that were given to it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from pathlib import Path

from forethought.settings import Settings
from forethought.tools.files import FilesError
from forethought.tools.folders.index import FolderIndex


@dataclass(frozen=True)
class Kept:
    """A folder that was read before."""

    root: Path
    counts: tuple[int, int, int]
    """Files, those without a text, bytes."""
    path: Path
    """Of the index."""

    @property
    def disk(self) -> int:
        """Bytes of the index."""
        return sum(path.stat().st_size for path in self._parts())

    def contents(self) -> dict[str, str]:
        """The hash of each file's content by name."""
        index = FolderIndex(self.path)
        found = {entry.name: entry.hash for entry in index.entries()}
        index.close()
        return found

    def forget(self) -> None:
        """Delete the index."""
        for path in self._parts():
            path.unlink(missing_ok=True)

    def _parts(self) -> list[Path]:
        return sorted(self.path.parent.glob(f"{self.path.name}*"))


def kept_folders(settings: Settings) -> list[Kept]:
    """The folders that were read before."""
    found = []
    for path in sorted((settings.data_dir / "folders").glob("*.sqlite")):
        index = FolderIndex(path)
        found.append(Kept(Path(index.about("root")), index.counts(), path))
        index.close()
    return found


def folder_id(root: Path, settings: Settings) -> str:
    """The id of a folder: always the same, and not to be guessed from its path."""
    return hmac.new(_secret(settings), str(root).encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:32]


def index_path(number: str, settings: Settings) -> Path:
    """The path of a folder's index. Raises FilesError if `number` is no id."""
    if not (len(number) == 32 and all(c in "0123456789abcdef" for c in number)):
        raise FilesError("a folder's id must be 32 hexadecimal digits: give the folder again")
    return settings.data_dir / "folders" / f"{number}.sqlite"


def _secret(settings: Settings) -> bytes:
    path = settings.data_dir / "folders" / "secret"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            with path.open("x") as file:
                path.chmod(0o600)
                file.write(secrets.token_hex(32))
        except FileExistsError:
            pass
    return path.read_bytes()
