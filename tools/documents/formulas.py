"""Values of simple formulas, for those that a workbook stores no value for, or one that is out of date.

Arithmetic and a few functions are computed. A formula with anything else keeps what is stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from forethought.tools.documents.sheets import Cell, Sheet, cell_text

_MOST = 5000
"""Formulas of a workbook; of more, none is computed."""
_MOST_CELLS = 100_000
_CLOSE = 1e-6


def _numbers(values: tuple[Any, ...]) -> list[float]:
    flat = [each for value in values for each in (value if isinstance(value, list) else [value])]
    return [float(each) for each in flat if isinstance(each, int | float) and not isinstance(each, bool)]


def _rounded(number: float, digits: float = 0) -> float:
    scale = 10 ** int(digits)
    return math.copysign(math.floor(abs(number) * scale + 0.5 + 1e-9) / scale, number)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "SUM(": lambda *values: math.fsum(_numbers(values)),
    "AVERAGE(": lambda *values: math.fsum(_numbers(values)) / len(_numbers(values)),
    "MIN(": lambda *values: min(_numbers(values), default=0.0),
    "MAX(": lambda *values: max(_numbers(values), default=0.0),
    "COUNT(": lambda *values: float(len(_numbers(values))),
    "ABS(": abs,
    "ROUND(": _rounded,
    "IF(": lambda test, then, other=False: then if test else other,
}
_AS_IN_PYTHON = {"+", "-", "*", "/", "(", ")", ">", "<", ">=", "<="}
_SIGNS = {"=": "==", "<>": "!=", "%": "/100", ";": ",", ",": ","}


class _Unknown(Exception):
    """The formula cannot be computed here."""


def check_formulas(sheets: list[Sheet], names: Mapping[str, str]) -> None:
    """Add what its formula computes to each cell that has no value, or another one.

    Args:
        sheets: The sheets of a workbook, whose cells are changed.
        names: Its defined names, and what they stand for.
    """
    book = _Book({sheet.title: sheet for sheet in sheets}, names)
    formulas = [
        (sheet, row, column)
        for sheet in sheets
        for row, cells in sheet.cells.items()
        for column, cell in cells.items()
        if cell.formula
    ]
    for sheet, row, column in formulas if len(formulas) <= _MOST else ():
        cell = sheet.cells[row][column]
        value = book.computed(sheet.title, row, column)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            continue
        remark = f"it computes to {cell_text(float(value), cell.style.number_format)}"
        if isinstance(cell.value, int | float) and abs(cell.value - value) > _CLOSE * max(1, abs(value)):
            sheet.cells[row][column] = cell._replace(remark=f"OUT OF DATE: {remark}")
        elif cell.value is None:
            sheet.cells[row][column] = cell._replace(remark=remark)


@dataclass
class _Book:
    sheets: Mapping[str, Sheet]
    names: Mapping[str, str]
    known: dict[tuple[str, int, int], Any] = field(default_factory=dict)

    def computed(self, title: str, row: int, column: int) -> Any:
        """The value of a cell, computed if it is a formula that can be; else the stored one."""
        place = (title, row, column)
        if place not in self.known:
            cell = self.sheets[title].cells.get(row, {}).get(column, Cell(None))
            self.known[place] = _Unknown  # while it is computed: a circle ends here
            try:
                self.known[place] = self._compute(title, cell.formula) if cell.formula else cell.value
            except (_Unknown, ArithmeticError, TypeError, ValueError, RecursionError, SyntaxError):
                self.known[place] = _Unknown if cell.value is None else cell.value
        return self.known[place]

    def _compute(self, title: str, formula: str) -> Any:
        from openpyxl.formula import Tokenizer

        values: list[Any] = []
        pieces: list[str] = []
        for token in Tokenizer(formula).items:
            sign = token.value.upper()
            if token.type == "OPERAND" and token.subtype in ("NUMBER", "RANGE"):
                pieces.append(f"v[{len(values)}]")
                values.append(self._operand(title, token.value, token.subtype))
            elif token.type == "FUNC" and sign in _FUNCTIONS:
                pieces.append(f"f[{sign!r}](")
            elif sign in _AS_IN_PYTHON or sign in _SIGNS:
                pieces.append(_SIGNS.get(sign, sign))
            elif token.type != "WHITE-SPACE":
                raise _Unknown
        # Nothing but the pieces above: values by number, known functions, signs.
        return eval("".join(pieces), {"__builtins__": {}}, {"v": values, "f": _FUNCTIONS})

    def _operand(self, title: str, text: str, kind: str) -> Any:
        from openpyxl.utils import range_boundaries

        if kind == "NUMBER":
            return float(text)
        if text in self.names:
            return self._compute(title, f"={self.names[text]}")
        sheet, _, area = text.rpartition("!")
        title = sheet.strip("'").replace("''", "'") or title
        left, top, right, bottom = range_boundaries(
            area
        )  # a ValueError for a name, a TypeError below for columns
        if title not in self.sheets or (right - left + 1) * (bottom - top + 1) > _MOST_CELLS:
            raise _Unknown
        found = [
            self.computed(title, row, at) for row in range(top, bottom + 1) for at in range(left, right + 1)
        ]
        if _Unknown in found:
            raise _Unknown
        return found if ":" in area else found[0] if found[0] is not None else 0.0
