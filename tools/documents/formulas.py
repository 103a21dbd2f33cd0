"""Values of simple formulas, for those that a workbook stores no value for, or one that is out of date.

Arithmetic and a few functions are computed. A formula with anything else keeps what is stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from forethought.tools.documents.sheets import Cell, Sheet, cell_text

MOST = 5000
"""Formulas of a workbook; of more, none is computed."""
_MOST_CELLS = 100_000
_CLOSE = 1e-6
_SIGNS = {"+": "+", "-": "-", "*": "*", "/": "/", "=": "==", "<>": "!=", ">": ">", "<": "<",
          ">=": ">=", "<=": "<="}  # fmt: skip


def _numbers(*values: Any) -> list[float]:
    flat = [each for value in values for each in (value if isinstance(value, list) else [value])]
    return [float(each) for each in flat if isinstance(each, int | float) and not isinstance(each, bool)]


def _rounded(number: float, digits: float = 0) -> float:
    scale = 10 ** int(digits)
    return math.copysign(math.floor(abs(number) * scale + 0.5 + 1e-9) / scale, number)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "SUM": lambda *values: math.fsum(_numbers(*values)),
    "AVERAGE": lambda *values: math.fsum(_numbers(*values)) / len(_numbers(*values)),
    "MIN": lambda *values: min(_numbers(*values), default=0.0),
    "MAX": lambda *values: max(_numbers(*values), default=0.0),
    "COUNT": lambda *values: float(len(_numbers(*values))),
    "PRODUCT": lambda *values: math.prod(_numbers(*values)),
    "ABS": abs,
    "ROUND": _rounded,
    "IF": lambda test, then, other=False: then if test else other,
}


class _Unknown(Exception):
    """The formula cannot be computed here."""


def check_formulas(sheets: list[Sheet], names: Mapping[str, str]) -> None:
    """Add what its formula computes to each cell that has no value, or another one.

    Args:
        sheets: The sheets of a workbook, whose cells are changed.
        names: Its defined names, and what they stand for.
    """
    formulas = [
        (sheet, row, column, cell)
        for sheet in sheets
        for row, columns in sheet.cells.items()
        for column, cell in columns.items()
        if cell.formula
    ]
    if len(formulas) > MOST:
        return
    book = _Book({sheet.title: sheet for sheet in sheets}, names)
    for sheet, row, column, cell in formulas:
        try:
            value = book.computed(sheet.title, row, column)
        except (_Unknown, ArithmeticError, TypeError, ValueError, RecursionError):
            continue
        stored = cell.value
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            continue
        shown = cell_text(float(value), cell.style.number_format)
        if stored is None:
            remark = f"it computes to {shown}"
        elif isinstance(stored, int | float) and abs(stored - value) > _CLOSE * max(1, abs(value)):
            remark = f"OUT OF DATE: it computes to {shown}"
        else:
            continue
        sheet.cells[row][column] = cell._replace(remark=remark)


@dataclass
class _Book:
    sheets: Mapping[str, Sheet]
    names: Mapping[str, str]
    known: dict[tuple[str, int, int], Any] = field(default_factory=dict)

    def computed(self, title: str, row: int, column: int) -> Any:
        """The value of a cell, computed if it is a formula. Raises _Unknown."""
        place = (title, row, column)
        if place not in self.known:
            cell = self.sheets[title].cells.get(row, {}).get(column, Cell(None))
            self.known[place] = _Unknown  # while it is computed: a circle ends here
            self.known[place] = self._value(title, cell)
        value = self.known[place]
        if value is _Unknown:
            raise _Unknown
        return value

    def _value(self, title: str, cell: Cell) -> Any:
        if not cell.formula:
            return cell.value
        try:
            return self._compute(title, cell.formula)
        except _Unknown:
            return _Unknown if cell.value is None else cell.value

    def _compute(self, title: str, formula: str) -> Any:
        from openpyxl.formula import Tokenizer

        values: list[Any] = []
        pieces: list[str] = []
        for token in Tokenizer(formula).items:
            kind = token.type
            if kind == "OPERAND" and token.subtype in ("NUMBER", "RANGE", "TEXT", "LOGICAL"):
                pieces.append(f"v[{len(values)}]")
                values.append(self._operand(title, token.value, token.subtype))
            elif kind == "FUNC" and (token.value == ")" or token.value[:-1].upper() in _FUNCTIONS):
                pieces.append(")" if token.value == ")" else f"f[{token.value[:-1].upper()!r}](")
            elif kind in ("SEP", "PAREN"):
                pieces.append("," if kind == "SEP" else token.value)
            elif kind in ("OPERATOR-INFIX", "OPERATOR-PREFIX") and token.value in _SIGNS:
                pieces.append(_SIGNS[token.value])
            elif kind == "OPERATOR-POSTFIX":
                pieces.append("/100")
            elif kind != "WHITE-SPACE":
                raise _Unknown
        try:  # only of the pieces above
            return eval("".join(pieces), {"__builtins__": {}}, {"v": values, "f": _FUNCTIONS})
        except SyntaxError as error:
            raise _Unknown from error

    def _operand(self, title: str, text: str, kind: str) -> Any:
        if kind == "NUMBER":
            return float(text)
        if kind in ("TEXT", "LOGICAL"):
            return text[1:-1] if kind == "TEXT" else text.upper() == "TRUE"
        if text in self.names:
            return self._compute(title, f"={self.names[text]}")
        cells = list(self._cells(title, text))
        if len(cells) == 1 and ":" not in text:
            return 0.0 if cells[0] is None else cells[0]
        return cells

    def _cells(self, title: str, reference: str) -> Iterator[Any]:
        from openpyxl.utils import range_boundaries

        sheet, _, area = reference.rpartition("!")
        title = sheet.strip("'").replace("''", "'") or title
        try:
            left, top, right, bottom = range_boundaries(area)
            size = (right - left + 1) * (bottom - top + 1)
        except (TypeError, ValueError) as error:  # a name, whole columns
            raise _Unknown from error
        if title not in self.sheets or size > _MOST_CELLS:
            raise _Unknown
        for row in range(top, bottom + 1):
            for column in range(left, right + 1):
                yield self.computed(title, row, column)
