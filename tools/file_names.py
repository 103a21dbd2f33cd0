"""Names of files as the task, the prompts and the tools use them: harmless, short, distinct in a run."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from pathlib import PurePosixPath

LONGEST_NAME = 200
"""Characters."""


def safe_name(name: str) -> str:
    """`name` without path separators, control and format characters, and at most 200 characters long."""
    kept = "".join(" " if c.isspace() else c for c in unicodedata.normalize("NFC", name))
    kept = "".join(c for c in kept if unicodedata.category(c)[0] != "C")
    kept = re.sub(r"[/\\]+", "_", re.sub(r"^(\./)+", "", kept)).strip(" ")
    if kept.strip("._ ") == "":
        return "file"
    if len(kept) > LONGEST_NAME:
        suffix = PurePosixPath(kept).suffix[:20]
        kept = kept[: LONGEST_NAME - len(suffix)].rstrip() + suffix
    return kept


def free_name(name: str, taken: Collection[str]) -> str:
    """`name`, or 'a (2).csv' for 'a.csv' when it is taken already (upper and lower case count as one)."""
    lowered = {other.casefold() for other in taken}
    stem, suffix, number, free = PurePosixPath(name).stem, PurePosixPath(name).suffix, 1, name
    while free.casefold() in lowered:
        number += 1
        ending = f" ({number}){suffix}"
        free = stem[: LONGEST_NAME - len(ending)] + ending
    return free
