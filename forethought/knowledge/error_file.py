"""Distilled planning errors as a file: written whole, never over what somebody else has written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import yaml

from forethought.json_files import FileError, sha256, write_text
from forethought.knowledge.planning_errors import PlanningError
from forethought.text import one_line

_HEADER = """\
# Planning errors: what a plan is checked against before anything runs (PreFlect, section 3.2.1).
#
# Written by `forethought distill` or `synthesize`. Change what you like: a changed file is not written over.

"""


def free_file(path: Path, hashes: Mapping[str, str]) -> Path:
    """`path`, or the first file beside it that may be written to.

    That is one that is not there, or is as it was written: `hashes` has the SHA-256 of each by its name.
    """
    for number in count():
        mark = f".new{number if number > 1 else ''}" if number else ""
        file = path.with_name(f"{path.stem}{mark}{path.suffix}")
        if not file.exists() or (file.name in hashes and hashes[file.name] == sha256(file)):
            return file
    raise AssertionError("there is always a further number")


def write_errors(path: Path, errors: Sequence[PlanningError]) -> str:
    """Write the file, whole or not at all, and return its SHA-256. Raises FileError."""
    try:
        write_text(path, yaml_text(errors))
        return sha256(path)
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror or error})") from error


def yaml_text(errors: Sequence[PlanningError]) -> str:
    """The text of a file of planning errors."""
    items = [error.model_dump(exclude_none=True, mode="json") for error in errors]
    for item in items:
        item["description"] = Prose(item["description"])
        for pattern in (*item["failures"], *item["successes"]):
            pattern["text"] = Prose(pattern["text"])
    return _HEADER + dump_yaml({"version": 1, "errors": items})


class Prose(str):
    """Text that is written over several lines (>-), so that a person can change it without quotes."""


class _Dumper(yaml.SafeDumper):
    """Lists stand deeper than the key above them, as people write them."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _folded(dumper: yaml.SafeDumper, text: Prose) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", one_line(text), style=">")


_Dumper.add_representer(Prose, _folded)


def dump_yaml(value: Any) -> str:
    """`value` as YAML for people to read."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=108)
