"""The words of a PDF's page with their places, its ruled lines and its pictures, through PDFium."""

from __future__ import annotations

import ctypes
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any, NamedTuple

from forethought.tools.documents.pdf_grids import MOST_RULES, Rule, with_tables
from forethought.tools.documents.pdf_layers import switched_off
from forethought.tools.documents.pdf_layout import Word, line_of, page_text, rows_of

Box = tuple[float, float, float, float]
"""Left, bottom, right and top on the page, in points."""
_TOKEN = re.compile(r"[^\s\ufffe\x02\0]+[\ufffe\x02]?")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_MOST_OBJECTS = 5000
_MOST_SEGMENTS = 400
_THIN = 2.5
_WHITE, _TINY = 250, 2
_FEW = 15
"""Words at another angle than most, which are shown on one line."""


class Area(NamedTuple):
    """A filled area or a picture."""

    box: Box
    order: int
    """Its place among all drawn things; a later one may cover an earlier one."""
    dark: bool
    """Whether white text on it can be seen."""
    covers: bool
    picture: bool = False


@dataclass
class Drawn:
    """The box of a page, its thin lines and areas, and each thing's place in the order of drawing."""

    page: Box
    rules: list[Box] = field(default_factory=list)
    areas: list[Area] = field(default_factory=list)
    order: dict[int, int] = field(default_factory=dict)
    off: set[int] = field(default_factory=set)
    """Things on layers that are switched off."""


def text_of(text_page: Any, drawn: Drawn, struck: Sequence[Box]) -> str:
    """A page's text in reading order.

    Args:
        text_page: PDFium's text of the page.
        drawn: Lines, areas and pictures that are drawn there.
        struck: Boxes that an annotation strikes out.
    """
    from pypdfium2 import raw

    text = text_page.get_text_range(errors="replace")
    if _RIGHT_TO_LEFT.search(text) or raw.FPDFText_CountChars(text_page) != len(text):
        return str(text_page.get_text_range()).replace("\r\n", "\n").replace("\ufffe", "-").strip()
    tokens: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for token in _TOKEN.finditer(text):
        angle = round(math.degrees(raw.FPDFText_GetCharAngle(text_page, token.start()))) % 360
        tokens[angle].append(token.span())
    pieces: list[str] = []
    for angle in sorted(tokens, key=lambda angle: -len(tokens[angle])):
        view = _View(text_page, text, angle, drawn, struck)
        words = [word for start, end in tokens[angle] for word in view.words(start, end)]
        _strike(words, view.rules)
        # Some programs draw a word twice to make it bold.
        words = list({(w.text, round(w.x0), round(w.bottom)): w for w in words}.values())
        if not pieces or len(words) >= _FEW:
            pieces.append(page_text(with_tables(words, view.rules)))
            continue
        line = " ".join(line_of(row.words) for row in rows_of(words))
        pieces.append(f"[{'turned text' if angle % 90 == 0 else 'text across the page'}: {line}]")
    return "\n\n".join(filter(None, pieces))


class _View:
    """A page seen so that text of an angle is level."""

    def __init__(self, text_page: Any, text: str, angle: int, drawn: Drawn, struck: Sequence[Box]) -> None:
        from pypdfium2 import raw

        self._raw, self._page, self._text, self._order = raw, text_page.raw, text, drawn.order
        self._off = drawn.off
        turn = -math.radians(angle)
        self._cos, self._sin = round(math.cos(turn), 9), round(math.sin(turn), 9)
        self.rules, self._struck = ([self._turned(*box) for box in boxes] for boxes in (drawn.rules, struck))
        self._areas = [(self._turned(*area.box), area) for area in drawn.areas]
        self._sheet = self._turned(*drawn.page)
        # PDFium writes its answers here: new objects for each of a million characters take seconds.
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._box, self._matrix = raw.FS_RECTF(), raw.FS_MATRIX()
        self._colour = [ctypes.c_uint() for _ in range(4)]

    def words(self, start: int, end: int) -> Iterator[Word]:
        """A token as words: raised digits are a word of their own, which is glued to the one before.

        PDFium takes cells for one token if the program made the space between characters as wide as a column.
        """
        first, last = self._char(start, end - 1), self._char(end - 1, end - 1)
        chars = [first]
        wide = last.x1 - first.x0 > (end - start) * first.size
        if wide or not _level(first, last) or first.x0 > last.x0 or any(map(str.isdigit, first.text)):
            chars = [self._char(at, at) for at in range(start, end)]
        begun: list[tuple[int, Word]] = []
        for at, char in enumerate(chars, start):
            apart = bool(begun) and char.x0 - begun[-1][1].x1 > char.size
            if begun and not apart and _level(begun[-1][1], char):
                begun[-1][1].text += char.text
                begun[-1][1].x1 = max(begun[-1][1].x1, char.x1)
            else:
                char.glued = bool(begun) and not apart
                begun.append((at, char))
        for at, word in begun:
            word.mark = self._mark(word, at)
            yield word

    def _char(self, at: int, last: int) -> Word:
        """The character at `at`, or the text from there to `last`."""
        raw, x, y, box, matrix = self._raw, self._x, self._y, self._box, self._matrix
        raw.FPDFText_GetCharOrigin(self._page, at, x, y)
        raw.FPDFText_GetMatrix(self._page, at, matrix)
        raw.FPDFText_GetLooseCharBox(self._page, last, box)
        seen = self._turned(box.left, box.bottom, box.right, box.top)
        # The height of the box depends on the letter.
        size = raw.FPDFText_GetFontSize(self._page, at) * math.hypot(matrix.c, matrix.d)
        size = size or seen.bottom - seen.top
        left, base = self._point(x.value, y.value)
        shown = self._text[at : last + 1].replace("\ufffe", "-").replace("\x02", "-")
        return Word(shown, left, max(seen.x1, left), base - 0.8 * size, base + 0.2 * size)

    def _mark(self, word: Word, at: int) -> str:
        """Whether a word is struck by an annotation, or hidden."""
        raw, near, (x, y) = self._raw, word.size / 4, word.middle
        if any(box.holds(x, y) for box in self._struck):
            return "struck"
        if not self._sheet.holds(x, y):
            return "hidden text, outside the page"
        raw.FPDFText_GetFillColor(self._page, at, *self._colour)
        *colours, alpha = (each.value for each in self._colour)
        item = raw.FPDFText_GetTextObject(self._page, at)
        if _address(item) in self._off:
            return "hidden text, on a layer that is off"
        under = [(box, area) for box, area in self._areas if box.holds(x, y)]
        unseen = alpha == 0 or raw.FPDFTextObj_GetTextRenderMode(item) == raw.FPDF_TEXTRENDERMODE_INVISIBLE
        if unseen or min(colours) >= _WHITE or word.size < _TINY:
            return "" if any(area.dark for _, area in under) else "hidden text"
        order = self._order.get(_address(item), math.inf) if under else 0
        over = (box for box, area in under if area.covers and area.order > order)
        covered = any(box.x0 <= word.x0 + near and box.x1 >= word.x1 - near for box in over)
        return "hidden text, under a box" if covered else ""

    def _point(self, x: float, y: float) -> tuple[float, float]:
        return x * self._cos + y * self._sin, x * self._sin - y * self._cos

    def _turned(self, left: float, bottom: float, right: float, top: float) -> Rule:
        if not self._sin and self._cos == 1:
            return Rule(left, right, -top, -bottom)
        xs, ys = zip(*(self._point(x, y) for x in (left, right) for y in (bottom, top)), strict=True)
        return Rule(min(xs), max(xs), min(ys), max(ys))


def _strike(words: list[Word], rules: Sequence[Rule]) -> None:
    """Mark the words through which a line is drawn that is no longer than they are together."""
    for rule in rules if len(rules) < MOST_RULES else ():
        y = (rule.top + rule.bottom) / 2
        crossed = [
            word for word in words
            if rule.level and word.top + 0.3 * word.size < y < word.top + 0.7 * word.size
            and min(word.x1, rule.x1) - max(word.x0, rule.x0) > 0.7 * (word.x1 - word.x0)
        ]  # fmt: skip
        if sum(word.x1 - word.x0 for word in crossed) > 0.6 * (rule.x1 - rule.x0):
            for word in crossed:
                word.mark = "struck"


def _level(one: Word, other: Word) -> bool:
    """Whether two characters of a token are equally high, as a raised figure is not."""
    size = max(one.size, other.size)
    return abs(one.bottom - other.bottom) < 0.1 * size and abs(one.top - other.top) < 0.1 * size


def drawn_on(page: Any) -> Drawn:
    """The lines, filled areas and pictures of a page."""
    from pypdfium2 import raw

    drawn = Drawn(page.get_bbox())
    items = list(islice(page.get_objects(), _MOST_OBJECTS))
    drawn.off = {_address(item.raw) for item in switched_off(page, items)}
    for order, item in enumerate(items):
        drawn.order[_address(item.raw)] = order
        if item.type not in (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_PATH):
            continue
        outer = _outer(item.container)
        box = outer.on_rect(*item.get_bounds())
        if item.type == raw.FPDF_PAGEOBJ_IMAGE:
            drawn.areas.append(Area(box, order, dark=True, covers=False, picture=True))  # perhaps a scan
            continue
        drawn.rules += _rules(item, box, outer)
        mode, stroke, colour = ctypes.c_int(), ctypes.c_int(), [ctypes.c_uint() for _ in range(4)]
        raw.FPDFPath_GetDrawMode(item, mode, stroke)
        raw.FPDFPageObj_GetFillColor(item, *colour)
        # The box around a shape of more than four sides is not the shape.
        solid = raw.FPDFPath_CountSegments(item) <= 5 and not raw.FPDFPageObj_HasTransparency(item)
        if mode.value:
            drawn.areas.append(Area(box, order, min(c.value for c in colour[:3]) < _WHITE, solid))
    return drawn


def _address(item: Any) -> int:
    return ctypes.cast(item, ctypes.c_void_p).value or 0


def _outer(form: Any) -> Any:
    """The matrix of the forms around a thing."""
    from pypdfium2 import PdfMatrix

    return form.get_matrix().multiply(_outer(form.container)) if form else PdfMatrix()


def _rules(item: Any, box: Box, outer: Any) -> list[Box]:
    """The thin lines of a path: it is one itself, or it consists of them."""
    from pypdfium2 import raw

    count = raw.FPDFPath_CountSegments(item)
    if _thin(box) or count > _MOST_SEGMENTS:
        return [box] if count <= _MOST_SEGMENTS else []
    matrix, rules = item.get_matrix().multiply(outer), []
    x, y, before, start = ctypes.c_float(), ctypes.c_float(), (0.0, 0.0), (0.0, 0.0)
    for number in range(count):
        segment = raw.FPDFPath_GetPathSegment(item, number)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        point = matrix.on_point(x.value, y.value)
        if raw.FPDFPathSegment_GetType(segment) == raw.FPDF_SEGMENT_MOVETO:
            start = before = point
        ends = [start] if raw.FPDFPathSegment_GetClose(segment) else []
        for one, other in pairwise([before, point, *ends]):
            rules.append((*map(min, one, other), *map(max, one, other)))
        before = point
    return [rule for rule in rules if _thin(rule)]


def _thin(box: Box) -> bool:
    width, height = box[2] - box[0], box[3] - box[1]
    return min(width, height) <= _THIN < max(width, height)
