"""Take in files and folders: a small folder file by file, a large one as an index."""

from __future__ import annotations

import mimetypes
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forethought.settings import Settings
from forethought.text import how_many, one_line
from forethought.tools.files import FilesError, distinct_names, from_contents, read
from forethought.tools.folders.index import FolderIndex
from forethought.tools.folders.places import folder_id, index_path
from forethought.tools.folders.scan import SILENT, Progress, Scan, scan
from forethought.tools.folders.walk import Found, walk
from forethought.tools.tables.catalog import TABLES, kind_of_table

if TYPE_CHECKING:
    from forethought.state.agent import FileRef
    from forethought.state.folder import FolderRef

SMALL_FILES, SMALL_BYTES = 30, 5_000_000
"""A folder up to this size is taken in file by file."""
_NAMED = 3
"""Files that a line names."""


@dataclass
class Given:
    """Files and folders as the graph takes them."""

    files: list[FileRef] = field(default_factory=list)
    folders: list[FolderRef] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """A line on each folder: its files, and those that cannot be read."""

    @property
    def channels(self) -> dict[str, list[Any]]:
        """The channels of the graph's input."""
        return {"files": list(self.files)} | ({"folders": list(self.folders)} if self.folders else {})


def take_paths(
    paths: Iterable[str | Path],
    settings: Settings,
    exclude: Sequence[str] = (),
    progress: Progress = SILENT,
    contents: Iterable[tuple[str, bytes]] = (),
) -> Given:
    """Take in files and folders. Blocking.

    Args:
        paths: Files and folders, each taken once.
        settings: The data folder and limits.
        exclude: Patterns of a folder's files to leave out.
        progress: Told about each file of a large folder that is read.
        contents: Files by name and content besides those.

    Raises:
        FilesError: A file is missing or cannot be read, or a folder is too large or holds no file to read.
    """
    given, singles, inside = Given(), list[Path](), list[tuple[str, bytes]]()
    unique = list({path.resolve(): path for path in map(Path, paths)}.values())
    roots = [path for path in unique if path.is_dir()]
    for path in unique:
        if not path.is_dir():
            singles.append(path)
        elif (small := _small(path, exclude)) is None:
            ref, report = index_folder(path, settings, exclude, progress)
            given.folders.append(_renamed(ref, given.folders))
            given.notes.append(news(ref, report))
        else:
            prefix = f"{path.resolve().name}/" if len(roots) > 1 else ""
            for found in small:
                try:
                    if found.reason:
                        raise FilesError(f"{found.name}: {found.reason}")
                    inside.append((prefix + found.name, read(path / found.name, settings)))
                except FilesError as error:
                    given.notes.append(one_line(str(error)))
    named = [
        (name, read(path, settings)) for name, path in zip(distinct_names(singles), singles, strict=True)
    ]
    given.files = from_contents([*contents, *named, *inside], settings)
    return given


def index_folder(
    root: Path, settings: Settings, exclude: Sequence[str] = (), progress: Progress = SILENT
) -> tuple[FolderRef, Scan]:
    """The folder as a run's state names it, its index brought up to date. Blocking.

    Args:
        root: The folder.
        settings: The data folder and limits.
        exclude: Patterns of files to leave out.
        progress: Told about each file that is read.

    Raises:
        FilesError: It is no folder, too large, or the index cannot be written.
    """
    root = root.resolve()
    if not root.is_dir():
        raise FilesError(f"{root.name}: no such folder; check the path")
    try:
        number = folder_id(root, settings)
        index = FolderIndex(index_path(number, settings))
    except (OSError, sqlite3.Error) as error:
        raise FilesError(f"cannot write to {settings.data_dir / 'folders'}: {error}") from error
    try:
        index.set_about(root=str(root), exclude="\n".join(exclude))
        index.use_embeddings(settings)
        report = scan(root, index, settings, exclude, progress)
        index.embed()
        count, _, size = index.counts()
        names = [entry.name for entry in index.entries()]
    except sqlite3.Error as error:
        hint = f"free disk space, or delete {index_path(number, settings)}"
        raise FilesError(f"{root.name}: its index cannot be used ({error}); {hint}") from error
    finally:
        index.close()
    kinds = {(mimetypes.guess_type(name)[0] or "text/plain").partition("/")[0] + "/" for name in names}
    kinds |= {TABLES for name in names if kind_of_table(name) != "document"}
    return {
        "name": root.name or "folder",
        "id": number,
        "count": count,
        "size": size,
        "types": sorted(kinds),
    }, report


def read_again(refs: Iterable[FolderRef], settings: Settings) -> Given:
    """Bring the indexes of a thread's folders up to date. Blocking.

    The result has only folders with changes, now or in the last task. A folder that is gone keeps its index.
    """
    given = Given()
    for ref in refs:
        path = index_path(ref["id"], settings)
        index = FolderIndex(path) if path.exists() else None
        root, exclude = (index.about("root"), index.about("exclude")) if index else ("", "")
        if index:
            index.close()
        if not root or not Path(root).is_dir():
            given.notes.append(f"{one_line(ref['name'])}: the folder is gone; its last state is used")
            continue
        try:
            fresh, report = index_folder(Path(root), settings, exclude.split("\n") if exclude else ())
        except FilesError as error:
            given.notes.append(f"{one_line(str(error))}; its last state is used")
            continue
        told = changes(report)
        if told or ref.get("news"):
            given.folders.append({**fresh, "name": ref["name"], "news": "; ".join(told)})
        if told:
            given.notes.append(news(fresh, report))
    return given


def news(ref: FolderRef, report: Scan) -> str:
    """A scan in a line."""
    said = [f"{one_line(ref['name'])}: {how_many(ref['count'], 'file')}"]
    said += changes(report) if len(report.added) < ref["count"] else []
    if report.unreadable:
        listed = [f"{name} {reason}" for name, reason in report.unreadable]
        said.append(f"{len(listed):,} cannot be read ({_some(listed)})")
    return "; ".join(said)


def changes(report: Scan) -> list[str]:
    """The files that a scan found added, changed and removed: a few words each."""
    found = (("added", report.added), ("changed", report.changed), ("removed", report.removed))
    return [f"{len(names):,} {what} ({_some(names)})" for what, names in found if names]


def _some(names: Sequence[str]) -> str:
    more = f", {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(one_line(name, 120) for name in names[:_NAMED]) + more


def _small(folder: Path, exclude: Sequence[str]) -> list[Found] | None:
    """The files of a small folder; None of a larger one. Raises FilesError if there are none."""
    found, size = list[Found](), 0
    for each in walk(folder, exclude):
        found.append(each)
        size += each.size
        if len(found) > SMALL_FILES or size > SMALL_BYTES:
            return None
    if all(each.reason for each in found):
        why = f" ({_some([f'{each.name} {each.reason}' for each in found])})" if found else ""
        raise FilesError(
            f"{one_line(str(folder))}: has no files to read{why}; hidden files and those that"
            " .gitignore names are left out: name such a file itself"
        )
    return found


def _renamed(ref: FolderRef, others: Sequence[FolderRef]) -> FolderRef:
    """The folder under a name that no other one of the run has."""
    name, number = ref["name"], 1
    while name in [other["name"] for other in others]:
        number += 1
        name = f"{ref['name']} ({number})"
    return {**ref, "name": name}


def known_folder(ref: object, settings: Settings) -> FolderRef:
    """A folder that a client names by its reference. Raises FilesError unless it is indexed here."""
    if not (isinstance(ref, dict) and isinstance(ref.get("id"), str) and isinstance(ref.get("name"), str)):
        raise FilesError("a folder must be named in `files`, or as it was taken in before")
    if not index_path(ref["id"], settings).exists():
        raise FilesError(f"the folder {one_line(ref['name'], 100)} is not indexed here: give it again")
    types = [kind for kind in ref.get("types", []) if isinstance(kind, str)]
    count, size = int(ref.get("count", 0)), int(ref.get("size", 0))
    known: FolderRef = {"name": ref["name"], "id": ref["id"], "count": count, "size": size, "types": types}
    if ref.get("news"):
        known["news"] = one_line(ref["news"], 1_000)
    return known
