"""Writing distilled planning errors into a file that people edit too, without ever undoing an edit.

An error that was distilled carries a hash of its words. Where the words no longer fit it, or a comment stands
in its block, or there is no hash, it is a person's, and its block is kept byte for byte. So are the order of
the file and all that stands between the errors. A distilled error that a person has taken out stays out.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from forethought.knowledge.documents import KnowledgeError, refusal, why
from forethought.knowledge.marked_yaml import MarkedYaml
from forethought.knowledge.planning_errors import PlanningError, planning_errors_in

WIDTH = 108
_TRIES = 5
_HEADER = """\
# Planning errors: what a plan is checked against before anything runs (PreFlect, section 3.2.1).
#
# Written by `forethought distill`. Change what you like: an entry that no longer reads as it was generated
# is yours, and is never written over.

version: 1

errors:
"""


@dataclass(frozen=True)
class Merged:
    """A file's new text, and what became of each error, by name."""

    text: str
    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    """Of the new ones: not written, since the file has that error in a person's words."""
    removed: list[str] = field(default_factory=list)
    """Of the new ones: not written, since a person has taken that error out of the file."""


def write_errors(
    path: Path, new: Sequence[PlanningError], removed: Collection[str] = (), obsolete: Collection[str] = ()
) -> Merged:
    """Merge `new` into the file at `path`, at once or not at all.

    Of `new`, what is named in `removed` is left out; of the file, what is named in `obsolete` and is still as
    it was generated is taken out.

    A change that somebody makes to the file meanwhile is merged too. Raises KnowledgeError when the file
    cannot be read, merged or written; it is then as it was.
    """
    try:
        for _ in range(_TRIES):
            before = path.read_bytes() if path.exists() else None
            merged = merge_errors(before, new, path, removed, obsolete)
            if _replaced(path, merged.text.encode("utf-8"), before):
                return merged
    except OSError as error:
        raise refusal(path, None, f"cannot be written ({why(error)}); nothing was changed") from error
    raise refusal(path, None, "is being changed again and again; try again when nobody writes to it")


def merge_errors(
    before: bytes | None,
    new: Sequence[PlanningError],
    path: Path,
    removed: Collection[str] = (),
    obsolete: Collection[str] = (),
) -> Merged:
    """The text of the file with `new` in it. Raises KnowledgeError."""
    errors: tuple[PlanningError, ...] = ()
    if before is None or not before.strip():
        text, parts = "", _Parts(_HEADER, [], "")
    else:
        text = _decoded(before, path)
        errors = planning_errors_in(text, path)
        parts = _split(text.replace("\r\n", "\n"), len(errors), path)
    merged, result = Merged(""), {error.name: error for error in errors}
    blocks = dict(zip(result, parts.blocks, strict=True))
    for name in [name for name in result if name in obsolete and _untouched(result[name], blocks[name])]:
        del result[name], blocks[name]
    for error in new:
        old = result.get(error.name)
        if old is None and error.name in removed:
            merged.removed.append(error.name)
            continue
        if old is not None and not _untouched(old, blocks[error.name]):
            merged.kept.append(error.name)
            continue
        (merged.added if old is None else merged.replaced).append(error.name)
        result[error.name] = error
        blocks[error.name] = block(error, parts.indent) + _blank_lines(blocks.get(error.name, ""))
    if not result:
        raise refusal(path, None, "no error would be left in it, and it needs one: remove the file")
    joined = _joined(parts, blocks.values())
    if planning_errors_in(joined, path) != tuple(result.values()):
        raise refusal(path, None, "its form does not allow to merge errors into it; name another file")
    return replace(merged, text=joined.replace("\n", "\r\n") if "\r\n" in text else joined)


def _untouched(old: PlanningError, text: str) -> bool:
    """Whether an error is as it was generated, and its block too: a comment in it is a person's."""
    return old.untouched and text.split() == block(old).split()


def _blank_lines(text: str) -> str:
    """The empty lines at the end of a block."""
    lines = text.splitlines(True)
    return "".join(lines[len("".join(lines).rstrip().splitlines()) :])


def _joined(parts: _Parts, blocks: Iterable[str]) -> str:
    """The file's text, with an empty line before a block that was not there."""
    text = parts.head
    for number, part in enumerate(blocks):
        text += "" if text.endswith("\n") else "\n"
        if number > 0 and part not in parts.blocks and not text.endswith("\n\n"):
            text += "\n"
        text += part
    return text + ("" if text.endswith("\n") else "\n") + parts.tail


def _decoded(raw: bytes, path: Path) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise refusal(path, None, "not UTF-8 text; save the file as UTF-8") from error


def block(error: PlanningError, indent: int = 2) -> str:
    """An error as it stands in the file: an item of the list `errors`."""
    plain: dict[str, Any] = {
        "name": error.name,
        "display_name": error.display_name,
        "description": _Folded(error.description),
        "failures": [_pattern(item) for item in error.model_dump(exclude_none=True)["failures"]],
        "successes": [_pattern(item) for item in error.model_dump(exclude_none=True)["successes"]],
    }
    if error.generated is not None:
        plain["generated"] = error.generated.model_dump()
    text = yaml.dump(
        [plain], Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=WIDTH - indent, indent=2
    )
    return "".join(f"{' ' * indent}{line}" if line.strip() else line for line in text.splitlines(True))


class _Folded(str):
    """Text that is written over several lines (>-)."""


class _Dumper(yaml.SafeDumper):
    """Lists stand deeper than the key above them, as people write them."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _folded(dumper: yaml.SafeDumper, text: _Folded) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", " ".join(text.split()), style=">")


_Dumper.add_representer(_Folded, _folded)


def _pattern(item: dict[str, Any]) -> dict[str, Any]:
    return {**item, "text": _Folded(item["text"])}


@dataclass(frozen=True)
class _Parts:
    """A file cut around the items of its list of errors."""

    head: str
    blocks: list[str]
    tail: str
    indent: int = 2


def _split(text: str, count: int, path: Path) -> _Parts:
    """Cut a file that has `count` errors. Raises KnowledgeError where they are no list of blocks."""
    document, lines = MarkedYaml(text), text.splitlines(True)
    starts = [document.line(("errors", index)) - 1 for index in range(count)]
    items = [lines[start] for start in starts]
    indents = {len(line) - len(line.lstrip(" ")) for line in items}
    if len(set(starts)) != count or len(indents) != 1 or not all(i.lstrip().startswith("- ") for i in items):
        raise refusal(
            path, starts[0] + 1, "errors must be a list with one '- name: ...' item below the other to merge"
        )
    (indent,) = indents
    end = next((at for at in range(starts[-1] + 1, len(lines)) if _outside(lines[at], indent)), len(lines))
    bounds = [*starts, end]
    blocks = ["".join(lines[bounds[at] : bounds[at + 1]]) for at in range(count)]
    tail = "".join(lines[end:])
    return _Parts("".join(lines[: starts[0]]), blocks, tail, indent)


def _outside(line: str, indent: int) -> bool:
    """Whether a line after an item's first one belongs to what is around the list."""
    bare = line.lstrip(" ")
    if not bare.strip() or bare.startswith("#"):
        return False
    depth = len(line) - len(bare)
    return depth < indent or (depth == indent and not bare.startswith("-"))


def _replaced(path: Path, data: bytes, before: bytes | None) -> bool:
    """Put `data` in the place of a file that still holds `before`; False if it no longer does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        mode = path.stat().st_mode & 0o777 if before is not None else 0o666 & ~_umask()
        os.chmod(name, mode)
        if (path.read_bytes() if path.exists() else None) != before:
            return False
        os.replace(name, path)
        return True
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)


def _umask() -> int:
    current = os.umask(0o022)
    os.umask(current)
    return current


__all__ = ["KnowledgeError", "Merged", "block", "merge_errors", "write_errors"]
