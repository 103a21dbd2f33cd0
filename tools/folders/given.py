"""The files given to a run, whether one by one or by the folder: their names, texts and passages."""

from __future__ import annotations

import fnmatch
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from forethought.settings import Settings
from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.reader import members_apart
from forethought.tools.files import FilesError, FileStore
from forethought.tools.folders.index import OF_ONE_FILE, FolderIndex
from forethought.tools.folders.passages import Passage
from forethought.tools.folders.places import index_path
from forethought.tools.folders.records import Entry, Hit
from forethought.tools.folders.scan import content_of
from forethought.tools.folders.walk import Found
from forethought.tools.threads import SharedWork

if TYPE_CHECKING:
    from forethought.state.agent import FileRef
    from forethought.state.folder import FolderRef


@dataclass(frozen=True)
class Folder:
    """A folder of a run."""

    name: str
    index: FolderIndex
    prefix: str
    """The beginning of its files' names: '' unless another folder or a file could have one of them."""

    @property
    def root(self) -> Path:
        """Its path on this machine."""
        return Path(self.index.about("root"))


@dataclass(frozen=True)
class Folders:
    """The folders of a run, and its other files. Every answer comes from an index."""

    refs: Sequence[FolderRef]
    settings: Settings
    files: Mapping[str, str] = field(default_factory=dict)
    """Name -> content hash of the files that were given one by one."""
    store: FileStore | None = None
    """The storage of those files."""

    @cached_property
    def each(self) -> list[Folder]:
        """The folders that are indexed on this machine. Raises FilesError if one is not."""
        found = []
        for ref in self.refs:
            path = index_path(ref["id"], self.settings)
            if not path.exists():
                raise FilesError(f"the folder {ref['name']} is not indexed on this machine: give it again")
            index = FolderIndex(path)
            index.use_embeddings(self.settings)
            is_shared = len(self.refs) > 1 or index.entries(list(self.files))
            found.append(Folder(ref["name"], index, f"{ref['name']}/" if is_shared else ""))
        return found

    @cached_property
    def searched(self) -> list[Folder]:
        """The folders, and an index in memory of the other files."""
        if not self.files or self.store is None:
            return self.each
        return [*self.each, Folder("", index_in_memory(self.files, self.store, self.settings), "")]

    def counts(self) -> tuple[int, int]:
        """How many files there are, and how many of them have no text."""
        counts = [folder.index.counts() for folder in self.searched]
        return sum(count[0] for count in counts), sum(count[1] for count in counts)

    def entries(self, pattern: str = "") -> list[Entry]:
        """The files whose names match `pattern`, by name: see `matches`."""
        found = [
            replace(e, name=folder.prefix + e.name)
            for folder in self.searched
            for e in folder.index.entries()
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

    def passages(self, name: str) -> list[Passage]:
        """The passages of the file called `name`, in order."""
        found = self._of(name)
        return found[0].index.passages(found[1].hash) if found else []

    def search(
        self, query: str, limit: int = 20, names: Sequence[str] | None = None, of_one: int = OF_ONE_FILE
    ) -> list[Hit]:
        """The passages that fit `query` best, best first.

        Args:
            query: Words, or a question.
            limit: Number of passages.
            names: Search only the files of these names.
            of_one: Passages of one file before other files come.
        """
        hits: list[Hit] = []
        for folder in self.searched:
            start = folder.prefix
            own = None if names is None else [n.removeprefix(start) for n in names if n.startswith(start)]
            found = folder.index.search(query, limit, own, of_one)
            hits += [replace(hit, name=start + hit.name) for hit in found]
        if len(self.searched) > 1:
            hits.sort(key=lambda hit: -hit.score)
        return hits[:limit]

    def _of(self, name: str) -> tuple[Folder, Entry] | None:
        for folder in self.searched:
            if name.startswith(folder.prefix):
                for entry in folder.index.entries([name.removeprefix(folder.prefix)]):
                    return folder, entry
        return None


_in_memory = SharedWork[FolderIndex](size=8)


def index_in_memory(files: Mapping[str, str], store: FileStore, settings: Settings) -> FolderIndex:
    """An index of stored files, made once a process: nothing of them is written to the disk."""

    def make() -> FolderIndex:
        index = FolderIndex()
        index.use_embeddings(settings)
        for name, content_hash in files.items():
            try:
                data = store.get(content_hash)
            except FilesError as error:
                index.put(Found(name, 0, 0, str(error)), None)
                continue
            index.put(Found(name, len(data), 0), content_of(data, content_hash, name, settings))
        index.embed()
        return index

    return _in_memory.start((store.root, *sorted(files.items())), make).result()


FEW = 6
"""Files that an origin names."""


def file_origins(names: Iterable[str]) -> str:
    """The origin of text from these files: a few names, and the number of the others."""
    unique = list(dict.fromkeys(names))
    few = [f"file:{name}" for name in unique[:FEW]]
    return ", ".join([*few, f"{len(unique) - FEW} more files"] if len(unique) > FEW else few)


def folder_origin(folders: Folders) -> str:
    """The origin of a list of files."""
    return ", ".join(f"folder:{ref['name']}" for ref in folders.refs) or file_origins(folders.files)


def matches(name: str, pattern: str) -> bool:
    """Whether a name fits a pattern: `*.docx` in any folder, `2025/*`, or a part of the name; '' fits all."""
    name, pattern = name.casefold(), pattern.casefold().strip()
    if not any(c in pattern for c in "*?["):
        return pattern in name
    return fnmatch.fnmatchcase(name, pattern) or (
        "/" not in pattern and fnmatch.fnmatchcase(name, f"*/{pattern}")
    )


def _bytes(folder: Folder, entry: Entry, settings: Settings) -> bytes:
    path = folder.root / entry.name
    holder = next((one for one in path.parents if one.is_file()), None)
    try:
        data = (holder or path).read_bytes()
        if holder:
            members = members_apart(data, str(holder.relative_to(folder.root)), settings)
            data = next((one.data for one in members if one.name == entry.name), b"")
    except (OSError, Unreadable) as error:
        reason = error.strerror if isinstance(error, OSError) else error.what
        raise FilesError(f"{entry.name}: cannot be read any more: {reason}") from error
    if hashlib.sha256(data).hexdigest() != entry.hash:
        raise FilesError(f"{entry.name}: has changed since the folder was indexed; give the folder again")
    return data


class AllFiles(Mapping[str, str]):
    """Name -> content hash of all files of a run. A folder's index is read only if it is asked."""

    def __init__(self, files: Mapping[str, str], folders: Folders) -> None:
        self._files, self._folders = files, folders

    def __getitem__(self, name: str) -> str:
        if name in self._files:
            return self._files[name]
        for folder in self._folders.each:
            if isinstance(name, str) and name.startswith(folder.prefix):
                for entry in folder.index.entries([name.removeprefix(folder.prefix)]):
                    if entry.hash:
                        return entry.hash
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        yield from self._files
        for folder in self._folders.each:
            names = (folder.prefix + entry.name for entry in folder.index.entries() if entry.hash)
            yield from (name for name in names if name not in self._files)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Access(TypedDict):
    """The part of a tool's environment about files."""

    files: Mapping[str, str]
    folders: Folders
    store: FileStore


def access(
    given: Iterable[FileRef | str], refs: Sequence[FolderRef], settings: Settings, store: FileStore
) -> Access:
    """The files and folders of a state as tools reach them.

    Args:
        given: The state's files.
        refs: The state's folders.
        settings: The data folder.
        store: The storage of the files.
    """
    files = {item["name"]: item["hash"] for item in given if not isinstance(item, str)}
    folders = Folders(refs, settings, files, store)
    if not refs:
        return {"files": files, "folders": folders, "store": store}
    both = WithFolders(store.root, store.cipher, folders)
    return {"files": AllFiles(files, folders), "folders": folders, "store": both}


@dataclass(frozen=True)
class WithFolders(FileStore):
    """A run's storage. It reads files of folders from the folders themselves."""

    folders: Folders | None = field(default=None, compare=False)

    def get(self, content_hash: str) -> bytes:
        """The content. Raises FilesError when it is not stored, or is gone or changed in its folder."""
        if self.folders is not None:
            for folder in self.folders.each:
                if name := folder.index.name_of(content_hash):
                    return _bytes(folder, folder.index.entries([name])[0], self.folders.settings)
        return super().get(content_hash)
