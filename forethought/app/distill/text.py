"""A planning error as text that a person edits, and back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from forethought.knowledge.error_file import Prose, dump_yaml
from forethought.knowledge.planning_errors import PlanningError
from forethought.knowledge.yaml_files import plain_yaml

_HELP = (
    "# Change what you like and save; leave without saving to change nothing. The first two failures are\n"
    "# shown with every diagnosis: put the most telling first.\n"
)


def editable(error: Mapping[str, Any]) -> str:
    """The error's name, description and patterns as YAML."""
    texts = {kind: [Prose(item["text"]) for item in error[kind]] for kind in ("failures", "successes")}
    return _HELP + dump_yaml([{"name": error["name"], "description": Prose(error["description"]), **texts}])


def from_editable(text: str) -> dict[str, Any]:
    """What a person has made of it: {name, description, failures, successes}. Raises ValueError, in one
    line."""
    data = plain_yaml(text, Path("the edited text"))
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
