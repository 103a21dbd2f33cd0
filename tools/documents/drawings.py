"""Drawings (SmartArt, charts, pictures) and formulas, which Word and PowerPoint share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from forethought.tools.documents.tables import markdown_table

Chunk = tuple[str, tuple[str, ...]]
"""A text and its marks, the outermost first."""
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_SIGNS = {"sup": "^({})", "sub": "_({})", "den": "/({})", "num": "({})", "rad": "root({})"}
"""How parts of a formula read on one line; of any other the text alone."""
_KINDS = {"pic": "picture"}
_MOST_POINTS = 10_000


def diagram_texts(diagram: Any) -> Iterator[str]:
    """The texts of a SmartArt diagram's data, in order."""
    for paragraph in diagram.iter("{*}p"):
        if text := " ".join("".join(each.text or "" for each in paragraph.iter("{*}t")).split()):
            yield text


def alternative(picture: Any) -> str:
    """The description of a picture or chart (`docPr` or `cNvPr`) in brackets; '' for none."""
    text = " ".join((picture.get("descr") or "").split())
    return f"[picture: {text}]" if text and not re.search(r"\.\w{3,4}$", text) else ""  # a file's name


def chart_rows(chart: Any) -> list[list[str]]:
    """The data of a chart as it was last drawn: a column for the categories, and one for each series."""
    columns: list[list[str]] = []
    for series in chart.iter("{*}ser"):
        name, labels, values = (
            _points(series, *names) for names in (("tx",), ("cat", "xVal"), ("val", "yVal"))
        )
        if not columns and labels:
            columns.append(["", *labels])
        columns.append([" ".join(name), *values])
    height = max(map(len, columns), default=0)
    return [[column[y] if y < len(column) else "" for column in columns] for y in range(height)]


def chart_text(chart: Any) -> str:
    """A chart's titles and its data as a table."""
    titles = ("".join(t.text or "" for t in title.iter("{*}t")) for title in chart.iter("{*}title"))
    title = "; ".join(" ".join(title.split()) for title in titles if title.strip())
    return "\n\n".join(filter(None, [f"Chart: {title}".rstrip(": "), markdown_table(chart_rows(chart))]))


def _points(series: Any, *names: str) -> list[str]:
    """The texts or numbers of a series' part, by their index."""
    points: dict[int, str] = {}
    for part in (child for child in series if str(child.tag).rpartition("}")[2] in names):
        for point in part.iter("{*}pt"):
            text = " ".join((v.text or "").strip() for v in point.iter("{*}v"))
            at = int(point.get("idx", "0"))
            points[at] = f"{text} {points[at]}" if at in points else text
        if not points and (value := next(part.iter("{*}v"), None)) is not None:
            points[0] = value.text or ""
    return [points.get(at, "") for at in range(min(max(points, default=-1) + 1, _MOST_POINTS))]


def _marked(text: str, marks: Sequence[str]) -> str:
    """The text with its marks around its words, such as '[struck: 450]'; '^' raises it: '^2^'."""
    words = shown = text.strip()
    for mark in reversed(marks):
        if mark != "^":
            shown = f"[{mark}: {shown}]"
        elif words.isalnum():
            shown = f"^{shown}^"
    return text.replace(words, shown) if words else text


def joined_chunks(chunks: Iterable[Chunk]) -> str:
    """Texts with their marks as one text. Neighbours with the same marks get them once."""
    text = ""
    for marks, group in groupby(chunks, key=lambda chunk: chunk[1]):
        piece = _marked("".join(chunk[0] for chunk in group), marks)
        text += f" {piece}" if text.endswith("]") and piece.startswith("[") else piece
    return text


def not_shown(element: Any) -> str:
    """Says how many pictures are in it; '' for none."""
    numbers = ((sum(1 for _ in element.iter(f"{{*}}{tag}")), kind) for tag, kind in _KINDS.items())
    counted = [f"{number} {kind}{'s' * (number > 1)}" for number, kind in numbers if number]
    return f"(Not shown as text: {' and '.join(counted)}.)" if counted else ""


def formula(part: Any) -> str:
    """A formula or a part of one as a line of text."""
    name = str(part.tag).removeprefix(M)
    if name == "t":
        return part.text or ""
    text = "".join(map(formula, part))
    if name == "nary":  # a sum, or an integral if no sign is given
        sign = part.find(f"{M}naryPr/{M}chr")
        return ("∫" if sign is None else sign.get(f"{M}val", "∫")) + text
    return _SIGNS.get(name, "{}").format(text) if text else ""
