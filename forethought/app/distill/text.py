"""A planning error as text that a person edits, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from forethought.knowledge.marked_yaml import MarkedYaml, MarkedYamlError
from forethought.knowledge.planning_errors import PlanningError
from forethought.knowledge.written_errors import block

_HELP = (
    "# Change what you like and save; leave without saving to change nothing. The first two failures are\n"
    "# shown with every diagnosis: put the most telling first.\n"
)


def editable(error: Mapping[str, Any]) -> str:
    """The error's name, description and patterns as YAML."""
    texts = {kind: [item["text"] for item in error[kind]] for kind in ("failures", "successes")}
    plain = PlanningError.model_validate(
        {"name": error["name"], "description": error["description"], **texts}
    )
    # The name for people follows from the name, unless the file is given another one.
    lines = [line for line in block(plain, 0).splitlines(True) if not line.startswith("  display_name:")]
    return _HELP + "".join(lines)


def from_editable(text: str) -> dict[str, Any]:
    """What a person has made of it: {name, description, failures, successes}. Raises ValueError, in one
    line."""
    try:
        data = MarkedYaml(text).data
    except MarkedYamlError as error:
        raise ValueError(f"line {error.line}: {error.reason}") from error
    item = data[0] if isinstance(data, list) and len(data) == 1 else None
    if not isinstance(item, Mapping):
        raise ValueError("keep the form: one item that begins with '- name:'")
    try:
        found = PlanningError.model_validate(item)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    return {
        "name": found.name,
        "description": found.description,
        "failures": [pattern.text for pattern in found.failures],
        "successes": [pattern.text for pattern in found.successes],
    }
