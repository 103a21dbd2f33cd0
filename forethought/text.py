"""Text as such: what can be seen of it, stored of it, and shown of it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable

_INSTRUCTION_TAGS = ("task", "guidance", "subtask")
"""Tags with instructions; the text in all others is data."""
HIDDEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Controls, line separators, lone surrogates, and what Unicode lets a reader not show: signs of direction and
of no width, fillers, tags (Default_Ignorable_Code_Point)."""
_LINE = 200
"""Characters within which a cut looks for the end of a line."""


def has_visible_text(text: str) -> bool:
    """Whether a person would see anything of `text`: a letter, a digit, a sign."""
    return any(unicodedata.category(character)[0] in "LNPS" for character in text)


def how_many(number: int, noun: str) -> str:
    """The number and its noun, as in "1 step" and "1,200 steps"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def sanitize_text(text: str) -> str:
    """`text` as every database stores it and every encoder writes it.

    NUL is dropped, and "?" stands for each half of a surrogate pair: a command line that is no UTF-8 or a
    client's JSON may bring one.
    """
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def escape_hidden(text: str) -> str:
    """`text` on one line, each character that nobody sees, or that moves others, written as in JSON."""
    return HIDDEN.sub(lambda match: json.dumps(match[0])[1:-1], text)


def plain(text: str) -> str:
    """`text` for a comparison in which case, spacing and Unicode form do not matter."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def one_line(text: object, limit: int | None = None) -> str:
    """`text` with each run of white space as one space, in at most `limit` characters, the last an ellipsis
    where it was cut."""
    # So many words have that many characters, spaces counted: of a long text, only the beginning is split.
    line = " ".join(str(text).split(maxsplit=-1 if limit is None else limit // 2 + 1))
    return line if limit is None or len(line) <= limit else line[: limit - 1].rstrip() + "…"


def number_ranges(numbers: Iterable[int]) -> str:
    """Numbers in order, neighbours joined: '2, 4-12'."""
    parts: list[list[int]] = []
    for number in sorted(set(numbers)):
        if parts and number == parts[-1][-1] + 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ", ".join("-".join(map(str, part)) for part in parts)


def numbered(noun: str, numbers: Iterable[int]) -> str:
    """'step 2', or 'steps 2, 4-12'."""
    several = set(numbers)
    return f"{noun}{'s' * (len(several) > 1)} {number_ranges(several)}"


def cut(text: str, limit: int, tail: float = 0.25) -> str:
    """`text` cut to `limit` characters and a line that says how many lines and characters are missing.

    `tail` is the share of the limit that its end keeps; 0 keeps the beginning only.
    """
    if len(text) <= limit:
        return text
    first, last = limit - int(limit * tail), len(text) - int(limit * tail)
    # No half line, where lines are short: a figure would be misread.
    near = min(_LINE, limit // 4)
    first = first if (end := text.rfind("\n", first - near, first)) < 0 else end
    last = last if (begin := text.find("\n", last, last + near)) < 0 else begin
    missing = text[first:last].strip("\n")
    lines = f"{missing.count(chr(10)) + 1} lines, " if "\n" in missing else ""
    note = f"[... {lines}{len(missing)} characters left out ...]"
    return "\n".join(filter(None, (text[:first], note, text[last:].lstrip("\n"))))


def fence(text: object, tag: str, **attributes: object) -> str:
    """`text` between <tag> and </tag>, so that a reader can tell where foreign text ends.

    Inside it neither that tag nor one of those whose text is to be obeyed can be written.
    """
    names = "|".join(map(re.escape, dict.fromkeys((tag, *_INSTRUCTION_TAGS))))
    tags = rf"<(\s*/\s*(?=(?:{names})\b)|(?=(?:{names})(?:[\s/>]|$))|\s+(?=(?:{names})\s*>))"
    inner = re.sub(tags, r"<\1_", str(text), flags=re.IGNORECASE)
    written = "".join(f' {key}="{_attribute(value)}"' for key, value in attributes.items())
    return f"<{tag}{written}>\n{inner.strip()}\n</{tag}>"


def _attribute(value: object) -> str:
    return re.sub(r"[\"<>\n\r]", "'", str(value))
