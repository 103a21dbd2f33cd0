"""Making text from models, tools, files and the web fit for a terminal.

Such text is data: it must neither move the cursor, recolour the screen nor reorder what a person reads.
Everything that is shown passes through `clean`; Rich's markup is off everywhere, so brackets stay brackets.
"""

from __future__ import annotations

import json
import re
from typing import Any

from forethought import text as plain_text
from forethought.text import HIDDEN, escape_hidden

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor moves
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|\Z)"  # titles, links, device strings
    r"|\x1b[ -/]*[0-~]?",  # character sets, resets
    re.DOTALL,
)
_JOINERS = re.compile(r"(?<![^\x00-\x7f])[\u200c\u200d]+|[\u200c\u200d]+(?![^\x00-\x7f])")
"""Beside ASCII they join nothing; Persian, the scripts of India and emoji need them."""


def clean(text: object) -> str:
    """The text without escapes and without `HIDDEN` characters, but for newlines, tabs and joiners."""
    plain = _ESCAPES.sub("", str(text).replace("\r\n", "\n"))
    return _JOINERS.sub("", HIDDEN.sub(lambda at: at[0] if at[0] in "\n\t\u200c\u200d" else "", plain))


def one_line(text: object, width: int | None = 100) -> str:
    """The text cleaned, on one line, cut to `width` characters (None: whole) with an ellipsis."""
    return plain_text.one_line(clean(text), width)


def first_line(text: str, width: int = 160) -> tuple[str, str]:
    """The first line that says something, and how many more there are: " (+3 lines)", or ''."""
    lines = [line for line in text.splitlines() if line.strip()] or [""]
    more = f" (+{plain_text.how_many(len(lines) - 1, 'line')})" if lines[1:] else ""
    return one_line(lines[0], width), more


def first_lines(text: object, lines: int = 3, width: int = 160) -> list[str]:
    """The lines that say something, each cut to `width`: the first ones and the last, which may be a total.

    Up to two lines more than `lines` are shown instead of counted.
    """
    full = [line.rstrip() for line in clean(text).splitlines() if line.strip()]
    cut = [line if len(line) <= width else line[: width - 1] + "…" for line in full]
    more = len(full) - lines
    return cut if more <= 2 else [*cut[: lines - 1], f"… {more} more lines", cut[-1]]


def to_json(value: Any, indent: int | None = 2) -> str:
    """JSON in readable Unicode, with every character that a terminal might act on escaped; None: one line."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    return "\n".join(map(escape_hidden, text.split("\n")))
