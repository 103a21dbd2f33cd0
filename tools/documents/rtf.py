"""Rich Text Format: paragraphs, tables and notes, with what is deleted, inserted, struck or hidden marked.

Microsoft's RTF Specification 1.9.1. Of the other destinations, such as fonts and pictures, nothing is text.
"""

from __future__ import annotations

import re
from codecs import lookup
from contextlib import suppress
from dataclasses import dataclass, field, replace

from forethought.tools.documents.document import Document, Section, joined, list_item
from forethought.tools.documents.drawings import Chunk, joined_chunks
from forethought.tools.documents.tables import markdown_table

_TOKEN = re.compile(
    r"\\([a-z]+)(-?\d+)? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|[\r\n]+|([^\\{}\r\n]+)", re.IGNORECASE
)
_NOTES = {"footnote": "footnote", "annotation": "comment", "atnauthor": "author", "revtbl": "authors"} | {
    f"{kind}{pages}": kind for kind in ("header", "footer") for pages in ("", "l", "r", "f")
}
"""What texts aside from the paragraphs become."""
_SILENT = {"fonttbl", "colortbl", "stylesheet", "info", "pict", "fldinst", "nonshppict", "objdata", "xe",
           "tc", "listtable", "listoverridetable", "themedata", "datastore", "ftnsep", "ftnsepc"}  # fmt: skip
_SIGNS = {"tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘",
          "rquote": "’", "ldblquote": "“", "rdblquote": "”", "emspace": " ", "enspace": " ", "~": " ",
          "_": "-", "{": "{", "}": "}", "\\": "\\"}  # fmt: skip
_CHARSETS = {128: "cp932", 129: "cp949", 134: "gbk", 136: "big5", 161: "cp1253", 162: "cp1254", 177: "cp1255",
             178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250"}  # fmt: skip
_FONT = re.compile(r"\\f(\d+)[^;{}]*?\\fcharset(\d+)")
_LOOKS = {
    "v": "hidden text",
    "strike": "struck",
    "striked": "struck",
    "super": "^",
    "highlight": "highlighted",
}


def read_rtf(data: bytes) -> Document:
    """Headings, paragraphs and tables in order, then the notes."""
    return Document((Section(_Rtf(data.decode("latin-1")).text()),))


@dataclass
class _State:
    """What holds until the end of a group."""

    sink: list[Chunk]
    aside: str = ""
    """What the group's text becomes; '' for the document's own."""
    silent: bool = False
    starred: bool = False
    looks: dict[str, str] = field(default_factory=dict)
    skipped: int = 1
    """Characters that follow one that is given by its number, for older programs."""
    encoding: str = "cp1252"
    level: int = 9
    in_table: bool = False
    in_list: bool = False


class _Rtf:
    """A document on its way to Markdown."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._fonts = {font: _CHARSETS.get(int(charset), "") for font, charset in _FONT.findall(source)}
        self._page = "cp1252"
        self._state = _State([])
        self._main = self._state.sink
        self._stack: list[_State] = []
        self._bytes = b""
        self._left = 0
        self._blocks: list[tuple[str, bool]] = []
        self._cells: list[str] = []
        self._table: list[list[str]] = []
        self._notes: list[str] = []
        self._authors: list[str] = []
        self._author = ""

    def text(self) -> str:
        """The whole text."""
        at = 0
        while token := _TOKEN.match(self._source, at):
            at = token.end()
            word, number, code, sign, brace, text = token.groups()
            if code:
                self._left, skip = max(self._left - 1, 0), self._left > 0
                self._bytes += b"" if skip else bytes.fromhex(code)
                continue
            self._decode()
            if word == "bin":
                at += int(number or 0)
            elif word:
                self._word(word, number)
            elif brace == "{":
                self._stack.append(self._state)
                self._state = replace(self._state, looks=dict(self._state.looks), starred=False)
            elif brace and self._stack:
                self._close()
            elif sign == "*":
                self._state.starred = True
            elif text or sign:
                whole = text or _SIGNS.get(sign, "")
                self._put(whole[self._left :])
                self._left = max(self._left - len(whole), 0)
        self._paragraph()
        notes = [f"- [footnote {n}] {text}" for n, text in enumerate(self._notes, 1)]
        return "\n\n".join(
            filter(None, [joined(self._blocks), "\n".join(["Footnotes:", *notes]) if notes else ""])
        )

    def _decode(self) -> None:
        if self._bytes:
            text, self._bytes = self._bytes.decode(self._state.encoding, "replace"), b""
            self._put(text)

    def _put(self, text: str) -> None:
        if not self._state.silent and text:
            self._state.sink.append((text, tuple(self._state.looks.values())))

    def _word(self, word: str, number: str | None) -> None:
        """Do as a control word says."""
        state, value = self._state, int(number or 0)
        if word in _NOTES:
            self._state = replace(state, sink=[], aside=_NOTES[word], silent=False, looks={}, starred=False)
        elif word in _SILENT or (state.starred and word not in ("shptxt", "shpinst")):
            state.silent = True
        elif word in _SIGNS:
            self._put(_SIGNS[word])
        elif word == "u":
            self._put(chr(value % 0x10000))
            self._left = state.skipped
        elif word in ("par", "sect", "page", "cell", "nestcell", "row", "nestrow"):
            self._end(word)
        elif word in _LOOKS or word in ("deleted", "revised", "revauth", "revauthdel"):
            self._look(word, number)
        elif word in ("plain", "nosupersub"):
            state.looks = {} if word == "plain" else {k: v for k, v in state.looks.items() if v != "^"}
        elif word == "pard":
            state.level, state.in_table, state.in_list = 9, False, False
        else:
            self._set(word, value, number)
        state.starred = False

    def _set(self, word: str, value: int, number: str | None) -> None:
        state = self._state
        if word == "uc":
            state.skipped = value
        elif word == "intbl":
            state.in_table = True
        elif word == "outlinelevel":
            state.level = value
        elif word in ("ls", "pnlvlblt"):
            state.in_list = True
        elif word == "ansicpg":
            with suppress(LookupError):
                self._page = state.encoding = lookup(f"cp{value}").name
        elif word == "f":
            state.encoding = self._fonts.get(number or "") or self._page

    def _look(self, word: str, number: str | None) -> None:
        """Mark what follows, or no longer."""
        looks = self._state.looks
        if word.startswith("revauth"):
            author = self._authors[int(number or 0)] if int(number or 0) < len(self._authors) else "somebody"
            kind = "deleted" if word == "revauthdel" else "revised"
            if kind in looks:
                looks[kind] = f"{looks[kind].split()[0]} by {author}"
        elif number == "0":
            looks.pop(word, None)
        else:
            changed = {"deleted": "deleted by somebody", "revised": "inserted by somebody"}
            looks[word] = _LOOKS.get(word) or changed[word]

    def _end(self, word: str) -> None:
        """End a paragraph, cell or row."""
        if self._state.aside:
            self._put(" ")
        elif "cell" in word:
            self._cells.append(" ".join(joined_chunks(self._main).split()))
            self._main.clear()
        elif "row" in word:
            self._table.append(self._cells)
            self._cells = []
        elif self._state.in_table:
            self._put("\n")
        else:
            self._paragraph()

    def _paragraph(self) -> None:
        text = joined_chunks(self._main).strip()
        self._main.clear()
        if self._table:
            self._blocks.append((markdown_table(self._table), False))
            self._table = []
        if text and self._state.level < 9:
            self._blocks.append((f"{'#' * min(self._state.level + 1, 6)} {' '.join(text.split())}", False))
        elif text and self._state.in_list:
            self._blocks.append((list_item(" ".join(text.removeprefix("•").split()), 0), True))
        else:
            self._blocks.append((text, False))

    def _close(self) -> None:
        """End a group: what is aside gets its place."""
        ended, self._state = self._state, self._stack.pop()
        if ended.aside == self._state.aside:
            return
        text = " ".join(joined_chunks(ended.sink).split())
        if ended.aside == "footnote" and text:
            self._notes.append(text)
            self._put(f"[footnote {len(self._notes)}]")
        elif ended.aside == "comment" and text:
            self._state.sink.append(
                (f" [comment{f' by {self._author}' if self._author else ''}: {text}]", ())
            )
        elif ended.aside == "author":
            self._author = text
        elif ended.aside == "authors":
            self._authors = [name.strip() for name in text.split(";")]
        elif text:
            self._blocks.append((f"({ended.aside.title()} of the pages: {text})", False))
