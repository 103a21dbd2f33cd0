"""Text and JSON files: read with errors of one line, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from forethought.settings import reason_of

Json = dict[str, Any]
M = TypeVar("M", bound=BaseModel)


class FileError(ValueError):
    """A file that cannot be used: one line with its path, its line number and what to do."""


def read_text(path: Path) -> str:
    """The text of a UTF-8 file. Raises FileError."""
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: not UTF-8 text; save the file as UTF-8") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{path}: cannot be read ({reason}); check the path") from error


def read_object(path: Path) -> Json:
    """The JSON object in a file. Raises FileError."""
    value = parse_json(read_text(path), path)
    if not isinstance(value, dict):
        raise FileError(f"{path}: not a JSON object; give one")
    return value


def read_records(path: Path, model: type[M]) -> list[tuple[int, M]]:
    """Each line of a JSON Lines file as a `model`, with its line number from 1. Raises FileError."""
    return [(number, as_record(model, value, path, number)) for number, value in read_lines(path)]


def read_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Each line of a JSON Lines file as its number from 1 and its value. Raises FileError."""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            yield number, parse_json(line, path, number)


def parse_json(text: str, path: Path, line: int | None = None) -> Any:
    """The JSON value of `text`. Raises FileError with the path and the line."""
    place = str(path) if line is None else f"{path}:{line}"
    try:
        return json.loads(text)
    except RecursionError as error:
        raise FileError(f"{place}: broken JSON (nested too deeply); correct it") from error
    except ValueError as error:
        raise FileError(f"{place}: broken JSON ({error}); correct it") from error


def parse_values(text: str, path: Path) -> Any:
    """The JSON value of `text`, or the list of its lines' values (JSON Lines). Raises FileError."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    try:
        return parse_json(text, path)
    except FileError:
        try:
            first = parse_json(lines[0][1], path, lines[0][0])
        except (FileError, IndexError):
            first = None
        if first is None:
            raise
    return [first, *(parse_json(line, path, number) for number, line in lines[1:])]


def write_bytes(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Replace the file in one move, so that no reader and no kill ever finds half of it. Raises OSError.

    `mode` is that of the file, less what the process's umask takes away.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        with open(partial, "wb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """The text as UTF-8, by `write_bytes`. Raises OSError."""
    write_bytes(path, text.encode("utf-8", "replace"))


def write_json(path: Path, value: Any) -> None:
    """Write an indented JSON value. Raises OSError."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def write_records(path: Path, rows: Iterable[BaseModel | Json]) -> None:
    """Write JSON Lines. Raises OSError."""
    plain = (row.model_dump(mode="json") if isinstance(row, BaseModel) else row for row in rows)
    write_text(path, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in plain))


def sha256(path: Path) -> str:
    """The file's hash, hexadecimal. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def as_record(model: type[M], value: Any, path: Path, number: int) -> M:
    """The value of line `number` of a file as a `model`. Raises FileError that names line and field."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"])) or "the record"
        reason = reason_of(first)
        if first["type"] == "extra_forbidden":
            there = f"; use {', '.join(model.model_fields)}" if len(first["loc"]) == 1 else ""
            reason = f"unknown field{there}"
        raise FileError(f"{path}:{number}: {field}: {reason}") from error
