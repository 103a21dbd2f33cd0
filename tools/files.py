"""Files given to a run: kept by content hash, named by clients, never found by a path that a client chose.

A `FileRef` in the state carries a name and a hash. Another machine that shares the storage can so go on
with a thread, and no state holds a local path. Where the operator has set a key, contents are encrypted;
their names are still those of the plain contents, so that who has a file can tell whether it is kept.
"""

from __future__ import annotations

import base64
import hashlib
import mimetypes
import os
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from forethought.json_files import write_bytes
from forethought.storage.encryption import NO_KEY, Cipher, cipher_of
from forethought.storage.errors import StorageError
from forethought.tools.kinds import binary_kind, picture_kind, sound_kind

if TYPE_CHECKING:
    from forethought.settings import Settings
    from forethought.state.agent import FileRef

FILE_MARK = b"forethought-sealed-1\n"
"""The first bytes of an encrypted file."""
HASH = re.compile(r"[0-9a-f]{64}")
MEGABYTE = 1_000_000
LONGEST_NAME = 200
"""Characters."""
_DEEPEST = 12
"""Parts of a relative name."""


class FilesError(Exception):
    """A file cannot be taken in, stored or found; the message is one line that says what to do."""


@dataclass(frozen=True)
class FileStore:
    """Contents by SHA-256 in a folder. Writing is atomic and idempotent: processes may share the folder."""

    root: Path
    cipher: Cipher | None = None
    """Encrypts the contents. Contents stored before there was a key stay readable."""

    @classmethod
    def of(cls, settings: Settings) -> FileStore:
        """The storage of the operator's choice. Raises StorageError when encryption cannot be had."""
        return cls(settings.blobs_dir, cipher_of(settings.key))

    def path(self, content_hash: str) -> Path:
        """Where a content is or would be kept. Raises FilesError unless given 64 lower-case hex digits."""
        if not isinstance(content_hash, str) or not HASH.fullmatch(content_hash):
            raise FilesError("a file's hash must be 64 lower-case hexadecimal digits (SHA-256)")
        return self.root / content_hash

    def has(self, content_hash: str) -> bool:
        """Whether a content is kept, which counts as its use: retention deletes what was long unused."""
        path = self.path(content_hash)
        with suppress(OSError):  # it is not there, or another user's
            os.utime(path)
        return path.is_file()

    def put(self, data: bytes) -> str:
        """Keep `data` and return its hash. Raises FilesError when the folder cannot be written."""
        content_hash = hashlib.sha256(data).hexdigest()
        target = self.path(content_hash)
        try:
            if not self.has(content_hash):
                content = FILE_MARK + self.cipher.encrypt(data)[1] if self.cipher else data
                write_bytes(target, content, mode=0o600)
        except OSError as error:
            raise FilesError(f"cannot store a file in {self.root}: {_reason(error)}") from error
        return content_hash

    def get(self, content_hash: str) -> bytes:
        """The content. Raises FilesError when it is not stored, cannot be read or is not what was stored."""
        try:
            if not self.has(content_hash):
                raise FilesError("the file's content is not stored here; send the file again")
            data = self.path(content_hash).read_bytes()
        except OSError as error:
            raise FilesError(f"cannot read a stored file in {self.root}: {_reason(error)}") from error
        if data.startswith(FILE_MARK) and hashlib.sha256(data).hexdigest() != content_hash:
            try:
                if self.cipher is None:
                    raise StorageError(NO_KEY)
                data = self.cipher.decrypt("aes", data.removeprefix(FILE_MARK))
            except StorageError as error:
                raise FilesError(f"the stored content of the file cannot be read: {error}") from error
        if hashlib.sha256(data).hexdigest() != content_hash:
            raise FilesError("the stored content of the file is damaged; send the file again")
        return data


def take_in(item: Any, *, store: FileStore, settings: Settings) -> FileRef:
    """Take in a file as a client names it and return its reference.

    Args:
        item: The name of a file inside `settings.files_dir`, or {name, data: base64}, or {name, hash} of a
            stored file.
        store: Where contents are kept.
        settings: The operator's folder and size limit.

    Raises:
        FilesError: The item has another form, or the file is missing, too large or outside the folder.
    """
    if isinstance(item, str):
        return take_in_bytes(
            item, _read(named_file(item, settings), item, settings), store=store, settings=settings
        )
    if not isinstance(item, Mapping):
        raise FilesError(
            "a file must be a name, or an object with name and data (base64), or with name and hash"
        )
    name = item.get("name")
    if not isinstance(name, str) or not name.strip():
        raise FilesError("a file needs a name, such as prices.csv")
    name, data, content_hash = relative_name(name), item.get("data"), item.get("hash")
    if (data is None) == (content_hash is None):
        raise FilesError(f"{name}: give either data (base64) or hash (of a file stored before)")
    if content_hash is None:
        try:
            content = base64.b64decode("".join(str(data).split()), validate=True)
        except ValueError as error:
            raise FilesError(f"{name}: data is not valid base64") from error
        return take_in_bytes(name, content, store=store, settings=settings)
    if not store.has(content_hash):
        raise FilesError(f"{name}: no file with this hash is stored here; send its data")
    return reference(name, content_hash, store.get(content_hash))


def take_in_bytes(name: str, data: bytes, *, store: FileStore, settings: Settings) -> FileRef:
    """Take in content that is at hand already. Raises FilesError when it is too large."""
    name = relative_name(name)
    _check_size(name, len(data), settings)
    return reference(name, store.put(data), data)


def from_paths(paths: Iterable[str | Path], settings: Settings) -> list[FileRef]:
    """Store files that a person names by their paths, each path once, as the graph's input names them.

    Two files of one name keep the folders that tell them apart, as in `2025/rent.txt`. Reads and writes the
    disk. Raises FilesError: missing, a folder, unreadable, too large, or the storage cannot be written.
    """
    unique = list(dict.fromkeys(map(Path, paths)))
    named = zip(distinct_names(unique), unique, strict=True)
    return from_contents(((name, read(path, settings)) for name, path in named), settings)


def from_contents(contents: Iterable[tuple[str, bytes]], settings: Settings) -> list[FileRef]:
    """Store contents with the names that they came under; see `from_paths`. Raises FilesError."""
    store = FileStore.of(settings)
    files: dict[str, FileRef] = {}
    for proposed, data in contents:
        name = free_name(relative_name(proposed), files)
        files[name] = take_in_bytes(name, data, store=store, settings=settings)
    return list(files.values())


def read(path: Path, settings: Settings) -> bytes:
    """The bytes of a file that a person names. Raises FilesError."""
    return _read(path, str(path), settings)


def safe_name(name: str) -> str:
    """`name` without path separators, control and format characters, and at most 200 characters long."""
    safe = "".join(" " if c.isspace() else c for c in unicodedata.normalize("NFC", name))
    safe = "".join(c for c in safe if unicodedata.category(c)[0] != "C")
    safe = re.sub(r"[/\\]+", "_", re.sub(r"^(\./)+", "", safe)).strip(" ")
    if safe.strip("._ ") == "":
        return "file"
    if len(safe) > LONGEST_NAME:
        suffix = PurePosixPath(safe).suffix[:20]
        safe = safe[: LONGEST_NAME - len(suffix)].rstrip() + suffix
    return safe


def relative_name(name: str) -> str:
    """`name` with its folders, such as `2025/rent.txt`, each part safe; it leads nowhere else."""
    parts = [part for part in re.split(r"[/\\]+", name) if part.strip() not in ("", ".", "..")]
    return "/".join(map(safe_name, parts[-_DEEPEST:])) or "file"


def distinct_names(paths: Sequence[Path]) -> list[str]:
    """A name for each path: its last part, with as many folders as tell it from others of that name."""
    alike: dict[str, list[Path]] = {}
    for path in paths:
        alike.setdefault(path.name.casefold(), []).append(Path(os.path.abspath(path)))
    names = []
    for path in paths:
        others, parts, length = alike[path.name.casefold()], Path(os.path.abspath(path)).parts, 1
        while length < len(parts) and sum(other.parts[-length:] == parts[-length:] for other in others) > 1:
            length += 1
        names.append("/".join(parts[-length:]))
    return names


def free_name(name: str, used: Collection[str]) -> str:
    """`name`, or 'a (2).csv' for 'a.csv' when it is in use already (upper and lower case count as one)."""
    lowered = {other.casefold() for other in used}
    suffix, number, free = PurePosixPath(name).suffix, 1, name
    stem = name.removesuffix(suffix)
    while free.casefold() in lowered:
        number += 1
        ending = f" ({number}){suffix}"
        free = stem[: LONGEST_NAME - len(ending)] + ending
    return free


def named_file(name: str, settings: Settings) -> Path:
    """The path of `name` in the operator's folder, all links followed. Raises FilesError."""
    folder, shown = settings.files_dir, safe_name(name)
    if folder is None:
        raise FilesError("named files need a folder: set FORETHOUGHT_FILES_DIR, or send the data")
    try:
        root = folder.resolve()
        path = (root / name).resolve()
    # A loop of links is a RuntimeError before Python 3.13, a zero byte a ValueError.
    except (OSError, RuntimeError, ValueError) as error:
        raise FilesError(f"{shown}: no such file in the files folder; check the name") from error
    if not path.is_relative_to(root):
        raise FilesError(f"{shown}: the path leads out of the files folder; name a file inside it")
    return path


def _read(path: Path, shown: str, settings: Settings) -> bytes:
    """The bytes of a regular file; at most one byte more than the limit is ever read."""
    shown = "".join(c if c.isprintable() else "?" for c in shown)
    limit = int(settings.max_file_mb * MEGABYTE)
    try:
        if path.is_dir():
            raise FilesError(f"{shown}: is a folder; name the files in it individually")
        if path.exists() and not path.is_file():
            raise FilesError(f"{shown}: is not a regular file; name a regular file")
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError as error:
        raise FilesError(f"{shown}: no such file; check the path") from error
    except (OSError, ValueError) as error:
        raise FilesError(f"{shown}: cannot be read: {_reason(error)}") from error
    _check_size(shown, len(data), settings)
    return data


def reference(name: str, content_hash: str, data: bytes) -> FileRef:
    """What the state holds of a stored file."""
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    if kind == "application/octet-stream" and not binary_kind(data) and b"\0" not in data:
        kind = "text/plain"
    # Tools for pictures and sounds are offered by the type, which a name may not tell.
    if (picture := picture_kind(data)) and not kind.startswith("image/"):
        kind = f"image/{picture}"
    if (sound := sound_kind(data)) and not kind.startswith(("audio/", "video/")):
        kind = f"audio/{sound}"
    return {"name": name, "hash": content_hash, "size": len(data), "type": kind}


def _check_size(shown: str, size: int, settings: Settings) -> None:
    if size > int(settings.max_file_mb * MEGABYTE):
        allowed = f"{settings.max_file_mb:g} MB"
        raise FilesError(
            f"{shown}: is larger than {allowed}; split it, or set FORETHOUGHT_MAX_FILE_MB to allow more"
        )


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
