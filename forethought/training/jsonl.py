"""Files of JSON lines: read with errors that name the line, written whole, known by their hash."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from forethought.training.errors import TrainingError

M = TypeVar("M", bound=BaseModel)


def read_models(path: Path, kind: type[M]) -> list[M]:
    """The lines of `path`, each a `kind`; empty lines are passed over.

    Raises TrainingError that names the file and the line.
    """
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TrainingError(f"{path} is not UTF-8 text") from error
    except OSError as error:
        raise TrainingError(f"{path} cannot be read: {error.strerror or error}") from error
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found.append(kind.model_validate_json(line))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise TrainingError(
                f"{path}, line {number}: {f'{where}: ' if where else ''}{first['msg']}"
            ) from error
    if not found:
        raise TrainingError(f"{path} holds no rows")
    return found


def write_rows(path: Path, rows: Iterable[BaseModel | dict[str, Any]]) -> None:
    """One row a line, whole or not at all."""
    made = (row.model_dump(mode="json") if isinstance(row, BaseModel) else row for row in rows)
    write_text(path, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in made))


def write_json(path: Path, value: dict[str, Any]) -> None:
    """One JSON object, indented, whole or not at all."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def write_text(path: Path, text: str) -> None:
    """`text` in `path`: beside it first, so that a reader or a kill never finds half of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(text, "utf-8")
        beside.replace(path)
    except OSError as error:
        raise TrainingError(f"{path} cannot be written: {error.strerror or error}") from error


def sha256(path: Path) -> str:
    """The file's hash, hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
