"""Open workbooks (.ods): values, formulas, comments, hidden rows and sheets, from their XML."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from forethought.tools.documents.archive import open_archive, parse_xml
from forethought.tools.documents.sheets import Area, Cell, Sheet, Style, cell_name

_MOST_REPEATED = 10_000
"""Of a row or cell that is not empty; an empty one may fill the sheet."""
_NAME = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}%s"


def read_ods_sheets(data: bytes) -> list[Sheet]:
    """The sheets of an open workbook."""
    with open_archive(data) as archive:
        root = parse_xml(archive.read("content.xml"))
    hidden = {
        style.get(_NAME % ("style", "name"))
        for style in root.iter(_NAME % ("style", "style"))
        if style.find("{*}table-properties[@{*}display='false']") is not None
        or any(each.get(_NAME % ("table", "display")) == "false" for each in style)
    }
    tables = root.iterfind(".//{*}spreadsheet/{*}table")
    return [_sheet(table, hidden) for table in tables]


def _sheet(table: Any, hidden: set[str]) -> Sheet:
    state = "hidden" if _of(table, "style-name") in hidden else "visible"
    sheet = Sheet(_of(table, "name") or "Sheet", state)
    column = 1
    for each in table.iter(_NAME % ("table", "table-column")):
        count = int(_of(each, "number-columns-repeated") or 1)
        if _of(each, "visibility") in ("collapse", "filter"):
            sheet.hidden_columns.update(range(column, column + min(count, _MOST_REPEATED)))
        column += count
    number = 1
    for row in table.iter(_NAME % ("table", "table-row")):
        count = int(_of(row, "number-rows-repeated") or 1)
        columns = _cells(row, number, sheet)
        for at in range(number, number + min(count, _MOST_REPEATED)) if columns else ():
            sheet.cells[at] = columns
            if visibility := _of(row, "visibility"):
                sheet.hidden_rows.add(at)
                sheet.hidden_by = "by a filter" if visibility == "filter" else sheet.hidden_by
        number += count
    return sheet


def _cells(row: Any, number: int, sheet: Sheet) -> dict[int, Cell]:
    columns: dict[int, Cell] = {}
    column = 1
    for element in row:
        count = int(_of(element, "number-columns-repeated") or 1)
        if (note := element.find("{*}annotation")) is not None:
            text = " ".join("".join(p.itertext()) for p in note.iter("{*}p"))
            sheet.comments.append(f"{cell_name(number, column)}: {text}")
        down, right = (int(_of(element, f"number-{what}-spanned") or 1) for what in ("rows", "columns"))
        if down > 1 or right > 1:
            sheet.merged.append(Area(number, column, number + down - 1, column + right - 1))
        if (cell := _cell(element)) is not None:
            columns.update(dict.fromkeys(range(column, column + min(count, _MOST_REPEATED)), cell))
        column += count
    return columns


def _cell(element: Any) -> Cell | None:
    kind = element.get(_NAME % ("office", "value-type")) or ""
    number = element.get(_NAME % ("office", "value"))
    text = "\n".join("".join(p.itertext()) for p in element.iterfind("{*}p"))
    formula = (
        (_of(element, "formula") or "")
        .partition("=")[2]
        .replace("[.", "")
        .replace(":.", ":")
        .replace("]", "")
    )
    value: Any = text
    style = Style()
    if number is not None:
        value = float(number)
        unit = element.get(_NAME % ("office", "currency"))
        style = Style("0%" if kind == "percentage" else f'0 "{unit}"' if unit else "General")
    elif kind == "boolean":
        value = element.get(_NAME % ("office", "boolean-value")) == "true"
    elif moment := element.get(_NAME % ("office", "date-value")):
        value = datetime.fromisoformat(moment) if "T" in moment else date.fromisoformat(moment)
    return Cell(value, f"={formula}" if formula else "", style) if formula or value != "" else None


def _of(element: Any, name: str) -> str | None:
    value: str | None = element.get(_NAME % ("table", name))
    return value
