"""Knowledge files: YAML that people write, checked whole, refused in one line that says where."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, TypeVar

import yaml
from pydantic import BaseModel, StringConstraints, ValidationError

from forethought.json_files import FileError
from forethought.text import one_line

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$", max_length=80)]
Schema = TypeVar("Schema", bound=BaseModel)
T = TypeVar("T")


class _Loader(yaml.BaseLoader):
    """Keeps every scalar as the text that was written (`yes`, `1.10`), and refuses a repeated key."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        for at, (key, _) in enumerate(node.value):
            if key.value in keys[:at]:
                raise yaml.MarkedYAMLError(
                    problem=f"{key.value!r} appears twice", problem_mark=key.start_mark
                )
        return super().construct_mapping(node, deep)


def load_file(path: Path, parse: Callable[[Path], T]) -> T:
    """What `parse` makes of a file; one that has not changed is parsed once a process.

    Reads the disk: call it in a thread from a coroutine. Raises FileError.
    """
    try:
        stat = path.stat()
    except (OSError, ValueError):
        return parse(path)  # which says why it cannot be read
    return _parsed(parse, path.absolute(), stat.st_mtime_ns, stat.st_size)  # type: ignore[return-value]


@lru_cache(maxsize=32)
def _parsed(parse: Callable[[Path], object], path: Path, mtime_ns: int, size: int) -> object:
    """The file's content; the time (ns) and size (bytes) only key the cache, which keeps no refusals."""
    return parse(path)


def parse_yaml(text: str, path: Path, schema: type[Schema]) -> Schema:
    """The text of a file as a `schema`; `path` is named in refusals. Raises FileError."""
    value = plain_yaml(text, path)
    if value is None:
        raise FileError(f"{path}:1: the file is empty; it needs {', '.join(schema.model_fields)}")
    try:
        return schema.model_validate(value)
    except ValidationError as error:
        root = yaml.compose(text, _Loader)
        findings = error.errors(include_url=False)
        # A bad item makes the lists around it too short as well; of several findings, report the topmost.
        depth = max(len(item["loc"]) for item in findings)
        causes = [item for item in findings if item["type"] != "too_short" or len(item["loc"]) == depth]
        line, first = min(((_line(root, item["loc"]), item) for item in causes), key=lambda pair: pair[0])
        raise FileError(one_line(f"{path}:{line}: {_reason(first)}")) from error


def plain_yaml(text: str, path: Path) -> Any:
    """The text as dicts, lists and strings. Raises FileError."""
    try:
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        parts = [part for part in (error.context, error.problem) if part]
        line = mark.line + 1 if mark else 1
        raise FileError(one_line(f"{path}:{line}: not YAML: {', '.join(parts)}")) from error
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError) as error:
        raise FileError(one_line(f"{path}: not YAML: {error}")) from error


def _line(node: yaml.Node | None, location: Sequence[str | int]) -> int:
    """The line of `location`, or of the nearest part above it that is in the document; from 1."""
    line = node.start_mark.line if node else 0
    for part in location:
        if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            entry = node.value[part] if part < len(node.value) else None
            marked = entry
        else:
            pairs = node.value if isinstance(node, yaml.MappingNode) else []
            marked, entry = next(((key, value) for key, value in pairs if key.value == part), (None, None))
        if marked is None:
            break
        node, line = entry, marked.start_mark.line
    return int(line) + 1


def _reason(finding: Mapping[str, Any]) -> str:
    """The message for one of pydantic's errors."""
    parts = [str(part) for part in finding["loc"]]
    here, above = ".".join(parts) or "the file", ".".join(parts[:-1]) or "the file"
    match finding["type"]:
        case "missing":
            return f"{above} lacks {parts[-1]!r}"
        case "extra_forbidden":
            return f"{above} has no field {parts[-1]!r}"
        case "string_pattern_mismatch":
            return f"{here} must be snake_case: lower-case letters, digits and single underscores"
        case _:
            return f"{here}: {finding['msg'].removeprefix('Value error, ')}"
