"""Making text from models, tools, files and the web fit for a terminal.

Such text is data: it must neither move the cursor, recolour the screen nor reorder what a person reads.
Everything that is shown passes through `clean`; Rich's markup is off everywhere, so brackets stay brackets.
"""

from __future__ import annotations

import json
import re
from typing import Any

from forethought import text as plain_text

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor moves
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|\Z)"  # titles, links, device strings
    r"|\x1b[ -/]*[0-~]?",  # character sets, resets
    re.DOTALL,
)
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def clean(text: object) -> str:
    """The text without escapes, control characters (but newline and tab), bidi overrides, lone surrogates."""
    return _CONTROLS.sub("", _ESCAPES.sub("", str(text).replace("\r\n", "\n")))


def one_line(text: object, width: int = 100) -> str:
    """The text cleaned, on one line, cut to `width` characters with an ellipsis."""
    return plain_text.one_line(clean(text), width)


def first_lines(text: object, lines: int = 3, width: int = 160) -> list[str]:
    """The first lines that say something, each cut to `width`; the last one tells how many more there are."""
    full = [line.rstrip() for line in clean(text).splitlines() if line.strip()]
    first = [line if len(line) <= width else line[: width - 1] + "…" for line in full[:lines]]
    return [*first, f"… {len(full) - lines} more lines"] if len(full) > lines else first


def to_json(value: Any, indent: int | None = 2) -> str:
    """JSON in readable Unicode, with every character that a terminal might act on escaped; None: one line."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    return re.sub(
        "[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]",
        lambda match: f"\\u{ord(match[0]):04x}",
        text,
    )
