"""Write distilled planning errors into a file that people edit too, without ever undoing an edit.

A distilled error carries a hash of its words. One whose words no longer fit it, or that has no hash, is a
person's and stays; one that a person has taken out stays out. A file with comments or a layout of its own is
not written to: the merged errors go into a new file beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from forethought.json_files import FileError, read_text, write_text
from forethought.knowledge.planning_errors import PlanningError, parse_planning_errors
from forethought.text import one_line

_HEADER = """\
# Planning errors: what a plan is checked against before anything runs (PreFlect, section 3.2.1).
#
# Written by `forethought distill`. Change what you like: an entry that no longer reads as it was generated
# is yours, and is never written over.

"""


@dataclass(frozen=True)
class Merged:
    """What became of each error, by name, and the file that has them now."""

    path: Path
    """The file that was asked for, or a new one beside it where that is a person's."""
    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    """Of the new ones: not written, since the file has that error in a person's words."""
    removed: list[str] = field(default_factory=list)
    """Of the new ones: not written, since a person has taken that error out of the file."""


def write_errors(
    path: Path, new: Sequence[PlanningError], removed: Collection[str] = (), obsolete: Collection[str] = ()
) -> Merged:
    """Merge `new` into the errors at `path`.

    Of `new`, what is named in `removed` is left out; of the file, what is named in `obsolete` and is still as
    it was generated is taken out. Raises FileError; the file is then as it was.
    """
    text = read_text(path) if path.exists() else ""
    old = parse_planning_errors(text, path) if text.strip() else ()
    errors = {error.name: error for error in old if error.name not in obsolete or not error.untouched}
    merged = Merged(path)
    for error in new:
        known = errors.get(error.name)
        if known is None and error.name in removed:
            merged.removed.append(error.name)
        elif known is not None and not known.untouched:
            merged.kept.append(error.name)
        else:
            (merged.replaced if known else merged.added).append(error.name)
            errors[error.name] = error
    if not errors:
        raise FileError(f"{path}: no error would be left in it, and it needs one: remove the file")
    if tuple(errors.values()) == old:
        return merged
    if text.strip() and text != yaml_text(old):
        merged = Merged(new_file(path), merged.added, merged.replaced, merged.kept, merged.removed)
    try:
        write_text(merged.path, yaml_text(list(errors.values())))
    except OSError as error:
        reason = error.strerror or error
        raise FileError(f"{merged.path}: cannot be written ({reason}); nothing was changed") from error
    return merged


def new_file(path: Path) -> Path:
    """The file beside `path` that takes what is not written into a person's own."""
    return path.with_name(f"{path.stem}.new{path.suffix}")


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
