"""Reading a knowledge file: YAML that people write, checked whole, refused in one line that says where."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, StringConstraints, ValidationError

from forethought.knowledge.marked_yaml import MarkedYaml, MarkedYamlError

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$", max_length=80)]
Schema = TypeVar("Schema", bound=BaseModel)


class KnowledgeError(ValueError):
    """A knowledge file that cannot be used; its message is one line: file, line number and reason."""


def read_document(path: Path, needs: str) -> MarkedYaml:
    """The YAML at `path`. `needs` says what an empty file lacks. Raises KnowledgeError."""
    try:
        raw = path.read_bytes()
    except (OSError, ValueError) as error:
        raise refusal(path, None, f"cannot be read ({why(error)}); check the path") from error
    try:
        document = MarkedYaml(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise refusal(path, line, "not UTF-8 text; save the file as UTF-8") from error
    except MarkedYamlError as error:
        raise refusal(path, error.line, error.reason) from error
    if document.data is None:
        raise refusal(path, 1, f"the file is empty; it needs {needs}")
    return document


def validated(schema: type[Schema], path: Path, document: MarkedYaml) -> Schema:
    """The document as a `schema`. Raises KnowledgeError."""
    try:
        return schema.model_validate(document.data)
    except ValidationError as error:
        # One slip can be several findings; the one nearest the top of the file is the one to mend first.
        findings = error.errors(include_url=False, include_input=False)
        first = min(findings, key=lambda finding: document.line(finding["loc"]))
        raise refusal(path, document.line(first["loc"]), _reason(first)) from error


def _reason(finding: Mapping[str, Any]) -> str:
    """A finding of pydantic's as a person would put it."""
    parts = [str(part) for part in finding["loc"]]
    here = ".".join(parts) or "the file"
    above = ".".join(parts[:-1]) or "the file"
    match finding["type"]:
        case "missing":
            return f"{above} lacks {parts[-1]!r}"
        case "extra_forbidden":
            return f"{above} has no field {parts[-1]!r}"
        case "string_pattern_mismatch":
            return f"{here} must be snake_case: lower-case letters, digits and single underscores"
        case "string_type":
            return f"{here} must be text"
        case "string_too_short":
            return f"{here} is empty"
        case "model_type" | "model_attributes_type":
            return f"{here} must be a mapping of fields"
        case "tuple_type":
            return f"{here} must be a list"
        case "value_error":
            return f"{here}: {finding['ctx']['error']}"
        case _:
            return f"{here}: {finding['msg']}"


def why(error: Exception) -> str:
    """An operating system's error in its own words."""
    return getattr(error, "strerror", None) or str(error)


def refusal(path: Path, line: int | None, reason: str) -> KnowledgeError:
    """The one line that refuses a file."""
    place = str(path) if line is None else f"{path}:{line}"
    return KnowledgeError(" ".join(f"{place}: {reason}".split()))
