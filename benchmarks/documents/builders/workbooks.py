"""Workbooks: xlsxwriter and xlwt, driven by a list of calls."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.documents.builders.parts import patched
from benchmarks.documents.builders.pictures import png


def xlsx(
    sheets: Mapping[str, Sequence[Sequence[Any]]],
    *,
    names: Mapping[str, str] = {},
    patches: Mapping[str, Any] = {},
    parts: Mapping[str, str] = {},
    grow: int = 0,
    options: Mapping[str, Any] = {},
) -> bytes:
    """A workbook.

    Args:
        sheets: A sheet's calls of xlsxwriter: [A1, value], or [method, arguments...]; `rows`, `picture` and
            `chart` (type, place, title, series...) besides. A mapping with `fmt` is a format.
        names: Defined names and their formulas.
        patches: Replacements in its parts, see `parts.patched`.
        parts: Parts to add.
        grow: Rows of each sheet before its calls: 'item 7', 7.
        options: Of the workbook.
    """
    import xlsxwriter

    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True, **options}) as book:
        for name, formula in names.items():
            book.define_name(name, formula)
        for title, calls in sheets.items():
            sheet = book.add_worksheet(title)
            for row in range(grow):
                sheet.write_row(row, 0, [f"item {row + 1}", row + 1])
            for call in calls:
                _call(book, sheet, *call)
    return patched(file.getvalue(), patches, parts)


def _call(book: Any, sheet: Any, method: str, *given: Any) -> None:
    if method == "rows":
        for at, row in enumerate(given):
            sheet.write_row(at, 0, row)
    elif method == "chart":
        chart = book.add_chart({"type": given[0]})
        chart.set_title({"name": given[2]})
        for series in given[3:]:
            chart.add_series(series)
        sheet.insert_chart(given[1], chart)
    elif method == "picture":
        sheet.insert_image(given[0], "a.png", {"image_data": io.BytesIO(png(given[1]))})
    else:
        made = [_formatted(book, value) for value in given]
        getattr(sheet, method)(*made) if hasattr(sheet, method) else sheet.write(method, *made)


def _formatted(book: Any, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "fmt" in value:
        return book.add_format(value["fmt"])
    return {key: _formatted(book, inner) for key, inner in value.items()}


def xls(
    sheets: Mapping[str, Sequence[Sequence[Any]]],
    *,
    hidden: Sequence[str] = (),
    hidden_rows: Sequence[int] = (),
) -> bytes:
    """A workbook of Excel 97: the rows of its sheets, hidden ones by name, hidden rows of all by number."""
    import xlwt  # type: ignore[import-untyped]

    book = xlwt.Workbook()
    for title, rows in sheets.items():
        sheet = book.add_sheet(title)
        sheet.visibility = int(title in hidden)
        for at, row in enumerate(rows):
            sheet.row(at).hidden = at in hidden_rows
            for column, value in enumerate(row):
                sheet.write(at, column, value)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()
