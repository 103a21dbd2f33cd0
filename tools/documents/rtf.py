"""Rich Text Format through striprtf, which reads text only: notes and marks are made text before."""

from __future__ import annotations

import re
from typing import Any

from forethought.tools.documents.document import Document, Section
from forethought.tools.documents.tables import markdown_table

_AUTHOR = re.compile(r"\{\\\*\\atnauthor ([^{}]*)\}")
_GROUP = re.compile(r"\{(?:\\\*)?\\(footnote|annotation|header|footer)[lrf]?(?![a-z]) *")
_MARKED = re.compile(
    r"\{((?:\\\*?[a-z]+-?\d* ?)*?)\\(v|strike|striked1?|deleted|revised|super)(?![a-z0-9])"
    r"((?:\\[a-z]+-?\d*)* ?[\r\n]*)((?:[^{}\\]|\\'[0-9a-f]{2}|\\u-?\d+ ?)+)\}"
)
_WORDS = {"v": "[hidden text: {}]", "deleted": "[deleted: {}]", "revised": "[inserted: {}]", "super": "^{}^"}


def read_rtf(data: bytes) -> Document:
    """Paragraphs and tables in order; notes, comments, headers and footers in brackets in their places."""
    from striprtf import striprtf

    source, at = data.decode("latin-1"), 0
    source = _MARKED.sub(_marked, re.sub(r"\\bin(?!\d)", "", source))  # striprtf takes it for \\binN
    while group := _GROUP.search(source, at):
        author = _AUTHOR.findall(source[: group.start()])[-1:] if group[1] == "annotation" else []
        name = f"comment by {author[0]}" if author else group[1].replace("annotation", "comment")
        end, after = _end(source, group.start()), "\\par " if "er" in group[1] else ""
        note = f"{{[{name}: {source[group.end() : end]}]{after}}}"
        source, at = source[: group.start()] + note + source[end + 1 :], group.start() + 1
    as_text: Any = striprtf.rtf_to_text
    text: str = as_text(source, errors="replace")
    return Document((Section(_with_tables(text)),))


def _marked(match: re.Match[str]) -> str:
    before, kind, looks, words = match.groups()
    shown = _WORDS.get(kind, "[struck: {}]").format(words.strip())
    looks = f"{before}{looks.strip()}"
    return f"{{{looks}{' ' if looks else ''}{shown}}}"


def _end(source: str, at: int) -> int:
    """The place of the brace that ends the group that begins there."""
    depth = 0
    for brace in re.finditer(r"(?<!\\)[{}]", source[at:]):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return at + brace.start()
    return len(source)


def _with_tables(text: str) -> str:
    """The text with lines of cells, which end with a bar, as tables."""
    blocks: list[str] = []
    rows: list[list[str]] = []
    for line in [*text.split("\n"), ""]:
        if line.endswith("|"):
            rows.append([" ".join(cell.split()) for cell in line.split("|")[:-1]])
            continue
        blocks += [markdown_table(rows)] if rows else []
        rows = []
        blocks.append(re.sub(r"(?<=: )\s+", "", line.strip()))
    return "\n\n".join(filter(None, blocks))
