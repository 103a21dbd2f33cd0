"""Open workbooks (.ods): values, formulas, comments, hidden rows and sheets, from their XML."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any

from forethought.tools.documents.archive import open_archive, parse_xml
from forethought.tools.documents.sheets import Area, Cell, Sheet, Style, cell_name

_MOST_REPEATED = 10_000
"""Of a row or cell that is not empty; an empty one may fill the sheet."""
_REFERENCE = re.compile(r"\[\.?([^\]]*)\]")


def read_ods_sheets(data: bytes) -> list[Sheet]:
    """The sheets of an open workbook."""
    with open_archive(data) as archive:
        root = parse_xml(archive.read("content.xml"))
    styles = root.iter("{*}style")
    hidden = {_get(style, "name") for style in styles for each in style if _get(each, "display") == "false"}
    return [_sheet(table, hidden) for table in root.iterfind(".//{*}spreadsheet/{*}table")]


def _sheet(table: Any, hidden: set[str]) -> Sheet:
    sheet = Sheet(_get(table, "name"), "hidden" if _get(table, "style-name") in hidden else "visible")
    number = 1
    for column in table.iter("{*}table-column"):
        end = number + _count(column, "number-columns-repeated")
        if _get(column, "visibility") in ("collapse", "filter"):
            sheet.hidden_columns.update(range(number, min(end, number + _MOST_REPEATED)))
        number = end
    number = 1
    for row in table.iter("{*}table-row"):
        columns = _cells(row, number, sheet)
        end = number + _count(row, "number-rows-repeated")
        for at in range(number, min(end, number + _MOST_REPEATED)) if columns else ():
            sheet.cells[at] = columns
            if visibility := _get(row, "visibility"):
                sheet.hidden_rows.add(at)
                sheet.hidden_by = "by a filter" if visibility == "filter" else sheet.hidden_by
        number = end
    return sheet


def _cells(row: Any, number: int, sheet: Sheet) -> dict[int, Cell]:
    columns: dict[int, Cell] = {}
    column = 1
    for element in row:
        end = column + _count(element, "number-columns-repeated")
        for note in element.iterfind("{*}annotation"):
            text = " ".join("".join(p.itertext()) for p in note.iter("{*}p"))
            sheet.comments.append(f"{cell_name(number, column)}: {text}")
        down, right = _count(element, "number-rows-spanned"), _count(element, "number-columns-spanned")
        if down > 1 or right > 1:
            sheet.merged.append(Area(number, column, number + down - 1, column + right - 1))
        if (cell := _cell(element)) is not None:
            columns.update(dict.fromkeys(range(column, min(end, column + _MOST_REPEATED)), cell))
        column = end
    return columns


def _cell(element: Any) -> Cell | None:
    value: Any = "\n".join("".join(p.itertext()) for p in element.iterfind("{*}p"))
    formula = _REFERENCE.sub(r"\1", _get(element, "formula").partition("=")[2]).replace(":.", ":")
    kind, style = _get(element, "value-type"), Style()
    if kind in ("float", "percentage", "currency"):
        value = float(_get(element, "value"))
        unit = _get(element, "currency")
        style = Style("0%" if kind == "percentage" else f'0 "{unit}"' if unit else "General")
    elif kind == "boolean":
        value = _get(element, "boolean-value") == "true"
    elif kind == "date":
        moment = _get(element, "date-value")
        value = datetime.fromisoformat(moment) if "T" in moment else date.fromisoformat(moment)
    return Cell(value, f"={formula}" if formula else "", style) if formula or value != "" else None


def _count(element: Any, name: str) -> int:
    return int(_get(element, name) or 1)


def _get(element: Any, name: str) -> str:
    """An attribute, whatever its namespace."""
    return next((str(value) for key, value in element.attrib.items() if key.endswith("}" + name)), "")
