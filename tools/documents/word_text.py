"""The text of Word's paragraphs, with marks in brackets, such as '[deleted by Anna: 450]'.

Each mark is beside its text, so that no reader takes a deleted, struck or hidden value for a valid one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from forethought.text import one_line
from forethought.tools.documents.drawings import Chunk, M, alternative, formula, joined_chunks
from forethought.tools.documents.word_numbers import Styles, W, path, whole

_W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
_W15 = "{http://schemas.microsoft.com/office/word/2012/wordml}"
_CHANGES = {"del": "deleted", "ins": "inserted", "moveFrom": "moved away", "moveTo": "moved here"}
_BETWEEN = {"tab": "\t", "ptab": "\t", "cr": "\n", "noBreakHyphen": "-"}
_SILENT = ("txbxContent", "pPr", "rPr", "rt", "instrText", "delInstrText")
_OFF = ("0", "false", "none", "off")
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_LONGEST_QUOTE = 100
_TICK = {True: "[ticked]", False: "[not ticked]"}
_SYMBOLS = {
    "Symbol": dict(zip(range(0x61, 0x7B), "αβχδεφγηιϕκλμνοπθρστυϖωξψζ", strict=True))
    | {0xA3: "≤", 0xB3: "≥", 0xB1: "±", 0xB4: "×", 0xB9: "≠", 0xBB: "≈", 0xB0: "°", 0xA5: "∞", 0x44: "Δ",
       0x53: "Σ", 0x57: "Ω", 0xB7: "•", 0xAE: "→", 0xD6: "√", 0xB8: "÷"},
    "Wingdings": {0xFE: "[ticked]", 0xFD: "[crossed]", 0xA8: "[not ticked]", 0x6F: "[not ticked]", 0xFC: "✓",
                  0xFB: "✗", 0xE0: "→", 0xA7: "▪"},
}  # fmt: skip
"""The meaning of characters in fonts of symbols."""


class Texts:
    """The texts of a document's paragraphs. Notes are numbered as their marks come."""

    def __init__(
        self, part: Callable[[str], Any], body: Any, styles: Styles, targets: Mapping[str, str]
    ) -> None:
        self._styles, self._targets = styles, targets
        self._remarks = {each.get(f"{W}id"): each for each in part("comments.xml").iter(f"{W}comment")}
        self._extended = {each.get(f"{_W15}paraId"): each for each in part("commentsExtended.xml")}
        self._passages = _passages(body) if self._remarks else {}
        self._notes: dict[tuple[str, str], int] = {}
        self._bodies = {
            (kind, each.get(f"{W}id")): each
            for kind in ("footnote", "endnote")
            for each in part(f"{kind}s.xml").iter(f"{W}{kind}")
        }

    def of(self, element: Any) -> str:
        """The text of a paragraph or of a part of it, without its text boxes."""
        return joined_chunks(self._chunks(element, ()))

    def line(self, element: Any) -> str:
        """All text below an element on one line."""
        return " ".join(" ".join(self.of(paragraph) for paragraph in element.iter(f"{W}p")).split())

    def rest(self) -> Iterator[str]:
        """The notes whose marks came, and remarks on no passage, as lists with a title."""
        for kind in ("footnote", "endnote"):
            notes = [(number, self._bodies.get(key)) for key, number in self._notes.items() if key[0] == kind]
            lines = [f"- [{kind} {number}] {self.line(note)}" for number, note in notes if note is not None]
            yield "\n".join([f"{kind.title()}s:", *lines]) if lines else ""
        lines = [f"- {self._remark(note)}" for note in list(self._remarks)]
        yield "\n".join(["Comments:", *lines]) if lines else ""

    def _chunks(self, element: Any, marks: tuple[str, ...]) -> Iterator[Chunk]:
        if not isinstance(element.tag, str):
            return
        name = element.tag.removeprefix(W)
        if name in ("t", "delText"):
            yield element.text or "", marks
        elif name == "br":
            yield "" if element.get(f"{W}type") in ("page", "column") else "\n", marks
        elif name in _BETWEEN:
            yield _BETWEEN[name], marks
        elif element.tag == f"{M}oMath":
            yield formula(element), marks
        elif name in ("footnoteReference", "endnoteReference"):
            key = name.removesuffix("Reference"), element.get(f"{W}id")
            kinds = [kind for kind, _ in self._notes]
            yield f"[{key[0]} {self._notes.setdefault(key, kinds.count(key[0]) + 1)}]", marks
        elif name == "commentReference":
            remark = self._remark(element.get(f"{W}id"))
            yield f" {remark}" if remark else "", ()
        elif name == "sym":
            yield _symbol(element), marks
        elif name == "ffData":
            yield _legacy_field(element), marks
        elif element.tag.endswith("}docPr"):
            yield alternative(element), ()
        elif name == "sdt" and (box := element.find(f"{W}sdtPr/{_W14}checkbox/{_W14}checked")) is not None:
            yield _TICK[box.get(f"{_W14}val") not in _OFF], marks
        elif name not in _SILENT:
            yield from self._inside(element, name, marks)

    def _inside(self, element: Any, name: str, marks: tuple[str, ...]) -> Iterator[Chunk]:
        """The text of an element that marks or holds other elements."""
        if name in _CHANGES:
            marks = (*marks, f"{_CHANGES[name]} by {element.get(f'{W}author') or 'somebody'}")
        elif name == "sdt" and element.find(path("sdtPr", "showingPlcHdr")) is not None:
            marks = (*marks, "placeholder, not filled in")
        elif name == "r":
            marks = (*marks, *self._run_marks(element))
        link = self._targets.get(element.get(_RELATION, ""), "") if name == "hyperlink" else ""
        link = link if link.startswith(("http", "mailto:")) else ""
        yield "[" if link else "", marks
        for child in element:
            yield from self._chunks(child, marks) if child.tag != f"{W}sdtPr" else ()
        yield f"]({link})" if link else "", marks

    def _run_marks(self, run: Any) -> Iterator[str]:
        properties = self._styles.run(run)
        if properties.get("vanish") or properties.get("webHidden"):
            yield "hidden text"
        if properties.get("strike") or properties.get("dstrike"):
            yield "struck"
        if colour := properties.get("highlight"):
            yield f"highlighted in {colour}"
        if properties.get("vertAlign") == "superscript":
            yield "^"

    def _remark(self, note: str) -> str:
        """A comment with the passage that it is on; '' if it was written before."""
        remark = self._remarks.pop(note, None)
        if remark is None:
            return ""
        paragraphs = list(remark.iter(f"{W}p"))
        more = self._extended.get(paragraphs[-1].get(f"{_W14}paraId") if paragraphs else None)
        reply = more is not None and more.get(f"{_W15}paraIdParent") is not None
        done = ", resolved" if more is not None and more.get(f"{_W15}done") in ("1", "true") else ""
        passage = one_line(self._passages.get(note, ""), _LONGEST_QUOTE)
        about = "reply" if reply else f"comment on '{passage}'" if passage else "comment"
        author = remark.get(f"{W}author")
        return f"[{about}{f' by {author}' if author else ''}{done}: {self.line(remark)}]"


def _passages(body: Any) -> dict[str, str]:
    """The words that each comment is on."""
    open_ones: set[str] = set()
    passages: dict[str, str] = defaultdict(str)
    for element in body.iter(*(W + name for name in ("commentRangeStart", "commentRangeEnd", "t", "p"))):
        note = element.get(f"{W}id", "")
        if element.tag == f"{W}commentRangeStart":
            open_ones.add(note)
        elif element.tag == f"{W}commentRangeEnd":
            open_ones.discard(note)
        else:
            for each in open_ones:
                passages[each] += " " if element.tag == f"{W}p" else element.text or ""
    return {note: " ".join(text.split()) for note, text in passages.items()}


def _symbol(element: Any) -> str:
    font, code = element.get(f"{W}font") or "", int(element.get(f"{W}char") or "0", 16) & 0xFF
    known = _SYMBOLS["Wingdings" if font.startswith("Wingdings") else font] if font in _SYMBOLS else {}
    return known.get(code) or f"[symbol {code:X} of {font}]"


def _legacy_field(data: Any) -> str:
    """The choice in a field of an old form. The paragraph has the text of a text field."""
    box, choice = data.find(f"{W}checkBox"), data.find(f"{W}ddList")
    if box is not None:
        state = box.find(f"{W}checked")
        state = box.find(f"{W}default") if state is None else state
        return _TICK[state is not None and state.get(f"{W}val", "1") not in _OFF]
    if choice is None:
        return ""
    options = [each.get(f"{W}val") or "" for each in choice.findall(f"{W}listEntry")]
    chosen = choice.find(f"{W}result")
    number = 0 if chosen is None else whole(chosen.get(f"{W}val"), 0)
    return f"[chosen: {options[number]}]" if number < len(options) else ""
