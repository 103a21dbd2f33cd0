"""Reading a benchmark's files: every fault is one line that names the file and the place, and where the file
comes from."""

from __future__ import annotations

import ast
import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from forethought.evals.types import DataError
from forethought.json_files import FileError, parse_json, read_text

Row = TypeVar("Row", bound=BaseModel)


@dataclass(frozen=True)
class Source:
    """Where a benchmark's files come from, and under which licence or gate: told with every fault of them."""

    where: str

    def missing(self, data: Path, names: Sequence[str]) -> DataError:
        """The error for a folder that holds none of the files `names`."""
        return DataError(f"{data}: no {' or '.join(names)} in this folder. {self.where}")

    def fault(self, place: str, what: str) -> DataError:
        """The error for something wrong at `place` of a file."""
        return DataError(f"{place}: {' '.join(what.split())}. {self.where}")


def find(data: Path, names: Sequence[str], source: Source, folders: Sequence[str] = ("",)) -> Path:
    """The first of the files `names` that lies in `data` or in one of its `folders`. Raises DataError."""
    for folder in folders:
        for name in names:
            if (data / folder / name).is_file():
                return data / folder / name
    raise source.missing(data, names)


def text_of(path: Path, source: Source) -> str:
    """The file's text, UTF-8 with or without a mark. Raises DataError."""
    with _with_source(source):
        return read_text(path)


def json_of(path: Path, source: Source) -> Any:
    """The JSON in a file. Raises DataError."""
    with _with_source(source):
        return parse_json(read_text(path), path)


def jsonl_of(path: Path, source: Source) -> Iterator[tuple[str, Any]]:
    """Each line's place (file and line) and its JSON. Raises DataError."""
    # Not splitlines: it also breaks at characters that JSON allows within a text.
    for number, line in enumerate(text_of(path, source).split("\n"), 1):
        if line.strip():
            with _with_source(source):
                value = parse_json(line, path, number)
            yield f"{path}:{number}", value


@contextmanager
def _with_source(source: Source) -> Iterator[None]:
    try:
        yield
    except FileError as error:
        raise DataError(f"{error}. {source.where}") from error


def csv_of(path: Path, columns: Sequence[str], source: Source) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Each row's place (file and last line) and its cells by column. Raises DataError."""
    rows = csv.DictReader(io.StringIO(text_of(path, source), newline=""), strict=True)
    try:
        missing = [name for name in columns if name not in (rows.fieldnames or ())]
        if missing:
            raise source.fault(f"{path}:1", f"the column {' and '.join(missing)} is missing")
        for row in rows:
            if None in row or None in row.values():
                raise source.fault(
                    f"{path}:{rows.line_num}", "the row and the header have different numbers of cells"
                )
            yield f"{path}:{rows.line_num}", row
    except csv.Error as error:
        raise source.fault(f"{path}:{rows.reader.line_num}", f"broken CSV ({error})") from error


def row_of(kind: type[Row], value: Any, place: str, source: Source) -> Row:
    """The validated record in `value`. Raises DataError that names the field."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise source.fault(place, f"{field}: {first['msg']}" if field else first["msg"]) from error


def rows_of(kind: type[Row], value: Any, path: Path, source: Source) -> list[Row]:
    """The validated records of a JSON list. Raises DataError that names the item and the field."""
    if not isinstance(value, list) or not value:
        raise source.fault(str(path), "the file must contain a JSON list of records")
    return [row_of(kind, item, f"{path}, record {number}", source) for number, item in enumerate(value, 1)]


def python_dict(cell: str) -> dict[str, Any]:
    """The dict that a cell of a CSV file holds as Python writes it. Raises ValueError."""
    try:
        value = ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ValueError("is not a Python dict literal")
    return value


def choice(options: Mapping[str, str], name: str, allowed: Sequence[str]) -> str:
    """The option `name`, by default the first of `allowed`. Raises DataError for another value."""
    value = options.get(name, allowed[0])
    if value not in allowed:
        raise DataError(f"option {name}={value}: choose one of {', '.join(allowed)}")
    return value


def check_unique(ids: Sequence[str], path: Path, source: Source) -> None:
    """Raises DataError where an id comes twice or cannot be an id."""
    seen: set[str] = set()
    for id in ids:
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,200}", id):
            raise source.fault(str(path), f"{id[:60]!r} is not a valid id: use letters, digits and . _ -")
        if id in seen:
            raise source.fault(str(path), f"the id {id} is used twice; make it unique")
        seen.add(id)
