"""The files given to a run, whether one by one or by the folder: their names, texts and passages.

A run's state holds a folder's id alone. The id cannot be guessed, since it is made with a secret of the data
folder: a client of a server reaches no folder but those that were given to it.
"""

from __future__ import annotations

import fnmatch
import hashlib
import hmac
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from forethought.settings import Settings
from forethought.tools.files import FilesError, FileStore
from forethought.tools.folders.index import Entry, FolderIndex, Hit
from forethought.tools.folders.scan import Progress, Scan, scan

if TYPE_CHECKING:
    from forethought.state.agent import FolderRef


def index_folder(
    root: Path,
    settings: Settings,
    exclude: Sequence[str] = (),
    progress: Progress = lambda done, total: None,
) -> tuple[FolderRef, Scan]:
    """The folder as a run's state names it, its index brought up to date. Blocking.

    Args:
        root: The folder.
        settings: Where indexes are kept, and the limits of a reading.
        exclude: Patterns of files to leave out.
        progress: Told about each file that is read.

    Raises:
        FilesError: It is no folder, or too large.
    """
    root = root.resolve()
    if not root.is_dir():
        raise FilesError(f"{root.name}: no such folder; check the path")
    number = folder_id(root, settings)
    index = FolderIndex(index_path(number, settings))
    try:
        report = scan(root, index, settings, exclude, progress)
        index.set_about(root=str(root), exclude="\n".join(exclude))
        count, _, size = index.counts()
    finally:
        index.close()
    return {"name": root.name or "folder", "id": number, "count": count, "size": size}, report


def folder_id(root: Path, settings: Settings) -> str:
    """The id of a folder: always the same, and not to be guessed from its path."""
    return hmac.new(_secret(settings), str(root).encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:32]


def index_path(number: str, settings: Settings) -> Path:
    """Where the index of a folder is or would be. Raises FilesError for what is no id."""
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


@dataclass(frozen=True)
class Folder:
    """A folder of a run."""

    ref: FolderRef
    index: FolderIndex
    prefix: str
    """What its files' names begin with: '' where it is the run's only folder."""

    @property
    def root(self) -> Path:
        """Where it is on this machine."""
        return Path(self.index.about("root"))


@dataclass(frozen=True)
class Folders:
    """The folders of a run. Everything is read from the indexes: no call opens a file but `data`."""

    refs: Sequence[FolderRef]
    settings: Settings

    @cached_property
    def each(self) -> list[Folder]:
        """The folders that are indexed on this machine."""
        found = []
        for ref in self.refs:
            path = index_path(ref["id"], self.settings)
            if path.exists():
                found.append(Folder(ref, FolderIndex(path), f"{ref['name']}/" if len(self.refs) > 1 else ""))
        return found

    def counts(self) -> tuple[int, int]:
        """How many files there are, and how many of them have no text."""
        counts = [folder.index.counts() for folder in self.each]
        return sum(count[0] for count in counts), sum(count[1] for count in counts)

    def entries(self, pattern: str = "") -> list[Entry]:
        """The files whose names match `pattern`, by name: see `matches`."""
        found = [
            replace(e, name=folder.prefix + e.name) for folder in self.each for e in folder.index.entries()
        ]
        return [entry for entry in found if matches(entry.name, pattern)]

    def entry(self, name: str) -> Entry | None:
        """The file called `name`."""
        found = self._of(name)
        return replace(found[1], name=name) if found else None

    def text(self, name: str) -> str:
        """The whole text of the file called `name` ('' if it has none)."""
        found = self._of(name)
        return found[0].index.text(found[1].hash) if found else ""

    def data(self, name: str) -> bytes:
        """The bytes of the file called `name`. Raises FilesError if it is gone or changed."""
        found = self._of(name)
        if found is None:
            raise FilesError(f"{name}: no such file in the folder")
        return _bytes(found[0], found[1])

    def search(self, query: str, limit: int = 20, names: Sequence[str] | None = None) -> list[Hit]:
        """The passages that fit `query` best, best first, of all files or of those called `names`."""
        hits: list[Hit] = []
        for folder in self.each:
            own = (
                None
                if names is None
                else [n.removeprefix(folder.prefix) for n in names if n.startswith(folder.prefix)]
            )
            hits += [replace(h, name=folder.prefix + h.name) for h in folder.index.search(query, limit, own)]
        return sorted(hits, key=lambda hit: -hit.score)[:limit]

    def _of(self, name: str) -> tuple[Folder, Entry] | None:
        for folder in self.each:
            if name.startswith(folder.prefix):
                for entry in folder.index.entries([name.removeprefix(folder.prefix)]):
                    return folder, entry
        return None


def matches(name: str, pattern: str) -> bool:
    """Whether a name fits a pattern: `*.docx` in any folder, `2025/*`, or a part of the name; '' fits all."""
    name, pattern = name.casefold(), pattern.casefold().strip()
    if not any(c in pattern for c in "*?["):
        return pattern in name
    return fnmatch.fnmatchcase(name, pattern) or (
        "/" not in pattern and fnmatch.fnmatchcase(name, f"*/{pattern}")
    )


def _bytes(folder: Folder, entry: Entry) -> bytes:
    try:
        data = (folder.root / entry.name).read_bytes()
    except OSError as error:
        raise FilesError(f"{entry.name}: cannot be read any more: {error.strerror}") from error
    if hashlib.sha256(data).hexdigest() != entry.hash:
        raise FilesError(f"{entry.name}: has changed since the folder was indexed; give the folder again")
    return data


class AllFiles(Mapping[str, str]):
    """Name -> content hash of all files of a run; those of folders are looked up when they are asked for."""

    def __init__(self, files: Mapping[str, str], folders: Folders) -> None:
        self._files, self._folders = files, folders

    def __getitem__(self, name: str) -> str:
        if name in self._files:
            return self._files[name]
        entry = self._folders.entry(name)
        if entry is None or not entry.hash:
            raise KeyError(name)
        return entry.hash

    def __iter__(self) -> Iterator[str]:
        yield from self._files
        yield from (e.name for e in self._folders.entries() if e.hash and e.name not in self._files)

    def __len__(self) -> int:
        return len(self._files) + self._folders.counts()[0]


@dataclass(frozen=True)
class WithFolders(FileStore):
    """A run's storage, which finds the contents of its folders' files where they are."""

    folders: Folders | None = None

    def get(self, content_hash: str) -> bytes:
        """The content. Raises FilesError when it is not stored, or is gone or changed in its folder."""
        for folder in self.folders.each if self.folders else ():
            if name := folder.index.name_of(content_hash):
                return _bytes(folder, folder.index.entries([name])[0])
        return super().get(content_hash)
