"""What Word and PowerPoint share: drawings (SmartArt, charts, pictures) and formulas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_SIGNS = {"sup": "^({})", "sub": "_({})", "den": "/({})", "num": "({})", "rad": "root({})"}
"""How parts of a formula read on one line; of any other the text alone."""
_KINDS = {"chart": "chart", "pic": "picture"}


def diagram_texts(diagram: Any) -> Iterator[str]:
    """The texts of a SmartArt diagram's data, in order."""
    for paragraph in diagram.iter("{*}p"):
        if text := " ".join("".join(each.text or "" for each in paragraph.iter("{*}t")).split()):
            yield text


def not_shown(element: Any) -> str:
    """Says how many charts and pictures are in it; '' for none."""
    numbers = ((sum(1 for _ in element.iter(f"{{*}}{tag}")), kind) for tag, kind in _KINDS.items())
    counted = [f"{number} {kind}{'s' * (number > 1)}" for number, kind in numbers if number]
    return f"(Not shown as text: {' and '.join(counted)}.)" if counted else ""


def formula(part: Any) -> str:
    """A formula or a part of one as a line of text."""
    name = str(part.tag).removeprefix(M)
    if name == "t":
        return part.text or ""
    text = "".join(map(formula, part))
    if name == "nary":  # a sum, or an integral where no sign is given
        sign = part.find(f"{M}naryPr/{M}chr")
        return ("∫" if sign is None else sign.get(f"{M}val", "∫")) + text
    return _SIGNS.get(name, "{}").format(text) if text else ""
