"""The corpus: its cases, and the judgment of a text that a reader made of one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from benchmarks.documents.builders import make

FOLDER = Path(__file__).parent / "cases"
NEAR = 80
"""Characters around a look-alike within which its mark must be."""
MARKS = {
    "deleted": r"~~|\bdel(eted|etion)?\b|struck|strike|remov|crossed|</?(s|del)>",
    "inserted": r"\bins(ert|erted|ertion)?\b|\badded|\+\+",
    "hidden": r"hidden|filter|invisible|not (visible|displayed|shown)|collapsed",
    "picture": r"picture|image|photo|scan|ocr",
    "placeholder": r"placeholder|empty|not filled|prompt|hint|example",
    "never": r"(?!)",
}
"""Ways in which a text marks a look-alike."""
TICK = r"(?<!not )(?<!un)(\[x\]|☒|☑|✓|✔|checked|ticked|selected|chosen)"
_FLAGS = re.IGNORECASE | re.MULTILINE
_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u00ad": ""})


@dataclass(frozen=True)
class Case:
    """A file with a fact in it."""

    kind: str
    name: str
    question: str
    fact: str
    """A pattern that the text must have; ` .. ` is at most 80 characters of any kind, TICK a ticked box."""
    traps: Mapping[str, str]
    """Patterns of values that must not be there without a mark near them: one of MARKS, or a pattern."""
    about: Mapping[str, Any]
    """The arguments of the file's builder."""

    @property
    def key(self) -> str:
        """A path that names it alone."""
        return f"{re.sub('[^a-z0-9]+', '-', self.kind.lower())}/{self.name}"

    @property
    def where(self) -> str:
        """'tables' if the fact must be in python's tables; else ''."""
        return str(self.about.get("where", ""))

    def data(self) -> bytes:
        """The file."""
        return make(self.name, {key: value for key, value in self.about.items() if key != "where"})

    def fault(self, text: str) -> str:
        """Why a text is wrong: 'missing', 'unmarked: ...', or '' if it is right."""
        text = text.translate(_SPACES).replace(self.name, "FILE")  # a name may give the answer away
        for value, mark in self.traps.items():
            for found in re.finditer(_pattern(value), text, _FLAGS):
                near = text[max(found.start() - NEAR, 0) : found.end() + NEAR]
                if not re.search(MARKS.get(mark, mark), near, _FLAGS):
                    return f"unmarked: {found[0][:60]}"
        return "" if re.search(_pattern(self.fact), text, _FLAGS) else "missing"


def _pattern(written: str) -> str:
    return written.replace("TICK", TICK).replace(" .. ", rf"[\s\S]{{0,{NEAR}}}?")


@cache
def cases() -> tuple[Case, ...]:
    """All of them, by kind."""
    return tuple(
        Case(kind, *row)
        for path in sorted(FOLDER.glob("*.yaml"))
        for kind, rows in yaml.safe_load(path.read_text("utf-8")).items()
        for row in rows
    )
