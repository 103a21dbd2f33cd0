"""The styles of a Word document and the numbers that Word counts: '1.', 'a)', '3.2'.

ECMA-376 part 1, 17.7 and 17.9. The text holds no number: a paragraph names a list and a level,
itself or by its style, and the program that shows the document counts.
"""

from __future__ import annotations

import re
from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_TITLES = {"Title": 1, "Subtitle": 2}
_DEEPEST = 8
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
    (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_MOST_NUMBER = 32767
_OFF = ("0", "false", "none", "off", "baseline")


def path(*names: str) -> str:
    """A path to a child of Word's own."""
    return "/".join(W + name for name in names)


def whole(text: str | None, default: int) -> int:
    """The number in an attribute; the default if it is none that Word writes."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else default


class Styles:
    """The looks of paragraphs, by their own properties and by their styles."""

    def __init__(self, root: Any) -> None:
        self._by_id = {style.get(f"{W}styleId"): style for style in root.iter(f"{W}style")}
        styles = [style for style in self._by_id.values() if style.get(f"{W}type") == "paragraph"]
        self._default = next((style for style in styles if style.get(f"{W}default") in ("1", "true")), None)
        self._chains: dict[str | None, list[Any]] = {}

    def chain(self, paragraph: Any) -> list[Any]:
        """The paragraph's style and the ones that this is based on."""
        named = paragraph.find(path("pPr", "pStyle"))
        return self._chain(None if named is None else named.get(f"{W}val"), self._default)

    def _chain(self, style_id: str | None, default: Any) -> list[Any]:
        if style_id not in self._chains:
            chain: list[Any] = []
            style = self._by_id.get(style_id, default)
            while style is not None and style not in chain:
                chain.append(style)
                base = style.find(f"{W}basedOn")
                style = None if base is None else self._by_id.get(base.get(f"{W}val"))
            self._chains[style_id] = chain
        return self._chains[style_id]

    def run(self, run: Any) -> dict[str, str]:
        """The properties of a run: its own, else from its style, else from its paragraph's style.

        '' is the value of one that is switched off.
        """
        paragraph = next(run.iterancestors(f"{W}p"), None)
        own, named = run.find(f"{W}rPr"), run.find(path("rPr", "rStyle"))
        character = [] if named is None else self._chain(named.get(f"{W}val"), None)
        holders = [*character, *([] if paragraph is None else self.chain(paragraph))]
        found: dict[str, str] = {}
        for properties in (own, *(holder.find(f"{W}rPr") for holder in holders)):
            for each in () if properties is None else properties:
                value = each.get(f"{W}val", "1")
                found.setdefault(str(each.tag).removeprefix(W), "" if value in _OFF else value)
        shade = None if own is None else own.find(f"{W}shd")
        if shade is not None and (fill := shade.get(f"{W}fill") or "auto").lower() not in ("auto", "ffffff"):
            found.setdefault("highlight", f"#{fill}")
        return found

    def name(self, paragraph: Any) -> str:
        """The name of its style, in English."""
        names = (style.find(f"{W}name") for style in self.chain(paragraph)[:1])
        return next((name.get(f"{W}val") or "" for name in names if name is not None), "")

    def nearest(self, paragraph: Any, *names: str) -> str | None:
        """The value of a property: the paragraph's own, else from its style or from a style below this."""
        found = (holder.find(path("pPr", *names)) for holder in (paragraph, *self.chain(paragraph)))
        return next((value.get(f"{W}val") for value in found if value is not None), None)

    def heading(self, paragraph: Any) -> int:
        """Its level as a heading, from 1; 0 for one that is none."""
        name = self.name(paragraph)
        if named := _HEADING.fullmatch(name):
            return int(named[1])
        outline = whole(self.nearest(paragraph, "outlineLvl"), _DEEPEST + 1)
        return _TITLES.get(name) or (outline + 1 if outline <= _DEEPEST else 0)


class Numbers:
    """The lists of a document and how far they have been counted."""

    def __init__(self, root: Any) -> None:
        self._shapes = {each.get(f"{W}abstractNumId"): each for each in root.findall(f"{W}abstractNum")}
        self._lists = {each.get(f"{W}numId"): each for each in root.findall(f"{W}num")}
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[tuple[str, int]] = set()

    def label(self, list_id: str, level: int | None, style_id: str) -> str:
        """The label of the next paragraph of this list; '' if it has a bullet or none.

        Args:
            list_id: The list.
            level: From 0; None if the list knows it by the paragraph's style.
            style_id: That style.
        """
        own = self._lists.get(list_id)
        shape_id = _value(own, "abstractNumId")
        shape = self._shapes.get(shape_id)
        if own is None or shape is None:
            return ""
        levels = {whole(each.get(f"{W}ilvl"), 0): each for each in shape.findall(f"{W}lvl")}
        starts = {at: whole(_value(each, "start"), 1) for at, each in levels.items()}
        if level is None:
            level = next((at for at, each in levels.items() if _value(each, "pStyle") == style_id), 0)
        counts = self._counts.setdefault(shape_id, {})
        for other in own.findall(f"{W}lvlOverride"):
            at = whole(other.get(f"{W}ilvl"), 0)
            levels.update((at, each) for each in other.findall(f"{W}lvl"))
            if start := _value(other, "startOverride"):
                starts[at] = whole(start, 1)
                if at == level and (list_id, at) not in self._begun:
                    self._begun.add((list_id, at))
                    counts.pop(at, None)
        counts[level] = counts[level] + 1 if level in counts else starts.get(level, 1)
        for deeper in [at for at in counts if at > level]:
            restart = _value(levels.get(deeper), "lvlRestart")
            if not restart or level < whole(restart, 0):
                del counts[deeper]
        if _value(levels.get(level), "numFmt") in ("bullet", "none"):
            return ""

        def number(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            return _number_text(counts.get(at, starts.get(at, 1)), _value(levels.get(at), "numFmt"))

        return re.sub(r"%([1-9])", number, _value(levels.get(level), "lvlText")).strip()


def _value(element: Any, name: str) -> str:
    child = None if element is None else element.find(W + name)
    return "" if child is None else child.get(f"{W}val") or ""


def _number_text(number: int, form: str) -> str:
    """A number as letters or as a Roman one; every other form as digits."""
    text = str(number)
    if 0 < number <= _MOST_NUMBER and form.endswith("Letter"):
        text = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
    elif 0 < number < 4000 and form.endswith("Roman"):
        text = ""
        for size, sign in _ROMAN:
            times, number = divmod(number, size)
            text += sign * times
    elif form == "decimalZero":
        text = text.zfill(2)
    return text.upper() if form.startswith("upper") else text
