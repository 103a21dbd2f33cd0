"""Parts of a sheet besides its cells: comments, rules, names, links, text boxes, charts."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from forethought.tools.documents.archive import parse_xml
from forethought.tools.documents.sheets import Sheet
from forethought.tools.documents.xlsx_colors import named_color

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

_CODE = re.compile(r'&(?:"[^"]*"|\[\w+\]|\d+|K[0-9A-F]{6}|[A-Z])')
"""Codes of a header or footer for its fonts, and fields such as a sheet's name."""
_THREADED = "[Threaded comment]"
"""Begins the text that old versions of Excel show in place of a thread."""


def add_remarks(sheet: Sheet, worksheet: Worksheet, archive: ZipFile, part: str) -> None:
    """Add to a sheet what belongs to it.

    Args:
        sheet: The sheet.
        worksheet: The sheet of openpyxl, without cells but those with comments.
        archive: The workbook.
        part: The sheet's name in it.
    """
    sheet.hidden_by = _filter(worksheet)
    related = _related(archive, part)
    threads = [line for kind, path in related if kind == "threadedComment" for line in _thread(archive, path)]
    sheet.comments += [*_comments(worksheet), *threads]
    sheet.before += filter(None, (
        _lines("Named values:", _names(worksheet)),
        _lines("Rules for entries:", _rules(worksheet)),
        _lines("Conditional formats:", _conditional(worksheet)),
        _lines("Links:", _links(worksheet)),
        _lines("Text boxes and charts:", _drawn(archive, related)),
        _lines("Printed above and below:", _margins(worksheet)),
    ))  # fmt: skip


def _lines(title: str, lines: Iterator[str]) -> str:
    every = list(dict.fromkeys(f"- {' '.join(line.split())}" for line in lines))
    return "\n".join([title, *every]) if every else ""


def _comments(worksheet: Worksheet) -> Iterator[str]:
    for _, cell in sorted(worksheet._cells.items()):
        comment = cell.comment
        if comment is not None and not (comment.text or "").startswith(_THREADED):
            yield f"{cell.coordinate}: {' '.join((comment.text or '').split())}"


def _thread(archive: ZipFile, path: str) -> Iterator[str]:
    """Comments and the replies to them, with who wrote them."""
    persons = {
        person.get("id"): person.get("displayName")
        for name in archive.namelist()
        if name.startswith("xl/persons/")
        for person in parse_xml(archive.read(name)).iterfind("{*}person")
    }
    for comment in parse_xml(archive.read(path)).iterfind("{*}threadedComment"):
        text = " ".join("".join(each.text or "" for each in comment.iterfind("{*}text")).split())
        reply = "reply by" if comment.get("parentId") else "by"
        done = ", resolved" if comment.get("done") == "1" else ""
        author = persons.get(comment.get("personId"), "unknown")
        yield f"{comment.get('ref')} ({reply} {author}{done}): {text}"


def _names(worksheet: Worksheet) -> Iterator[str]:
    """Names of the workbook, with its first sheet, and of this one."""
    book: Any = worksheet.parent
    of_book = book.defined_names.values() if worksheet is book.worksheets[0] else ()
    for name in (*of_book, *worksheet.defined_names.values()):
        if not name.name.startswith("_xlnm") and name.attr_text:
            yield f"{name.name} = {name.attr_text}"


def _rules(worksheet: Worksheet) -> Iterator[str]:
    for rule in worksheet.data_validations.dataValidation:
        allowed = " ".join(filter(None, (rule.type, rule.operator, rule.formula1, rule.formula2)))
        prompts = "; ".join(filter(None, (rule.promptTitle, rule.prompt, rule.error)))
        if rule.type or prompts:
            yield f"{rule.sqref}: {allowed}{f' ({prompts})' if prompts else ''}"


def _conditional(worksheet: Worksheet) -> Iterator[str]:
    for area in worksheet.conditional_formatting:
        for rule in area.rules:
            test = " ".join(filter(None, (rule.type, rule.operator, rule.text, *map(str, rule.formula))))
            style = rule.dxf
            fill = style.fill and named_color(style.fill.bgColor, worksheet.parent)
            text = style.font and named_color(style.font.color, worksheet.parent) if style else ""
            look = " and ".join(filter(None, (fill and f"filled {fill}", text and f"text in {text}")))
            yield f"{area.sqref}: if {test}{f', then {look}' if look else ''}"


def _links(worksheet: Worksheet) -> Iterator[str]:
    for _, cell in sorted(worksheet._cells.items()):
        link = cell.hyperlink
        if link and (target := "#".join(filter(None, (link.target, link.location)))):
            yield f"{cell.coordinate}: {target}"


def _filter(worksheet: Worksheet) -> str:
    """The filter that hides rows, in words."""
    area = worksheet.auto_filter.ref
    return f"by the filter on {area}, which shows only some rows" if area else ""


def _margins(worksheet: Worksheet) -> Iterator[str]:
    for each in (worksheet.oddHeader, worksheet.oddFooter):
        for part in (each.left, each.center, each.right):
            text = _CODE.sub("", part.text or "")
            if set(re.findall(r"[^\W\d_]{2,}", text.lower())) - {"page", "of", "seite", "von"}:
                yield text


def _drawn(archive: ZipFile, related: list[tuple[str, str]]) -> Iterator[str]:
    """The texts of boxes, and the titles of charts and of their axes."""
    for kind, path in related:
        if kind != "drawing":
            continue
        root = parse_xml(archive.read(path))
        for shape in root.iter("{*}sp"):
            if text := _texts(shape):
                yield f"text box: {text}"
        for kind_below, chart in _related(archive, path):
            if kind_below == "chart":
                parts = parse_xml(archive.read(chart))
                titles = [text for title in parts.iter("{*}title") if (text := _texts(title))]
                yield f"chart: {'; '.join(titles) or 'no title'}"


def _texts(element: Any) -> str:
    paragraphs = ("".join(each.text or "" for each in p.iter("{*}t")) for p in element.iter("{*}p"))
    return " ".join(filter(None, paragraphs))


def _related(archive: ZipFile, part: str) -> list[tuple[str, str]]:
    """Kind and name of the parts that one refers to."""
    folder, name = posixpath.split(part)
    path = f"{folder}/_rels/{name}.rels"
    if path not in archive.namelist():
        return []
    found = []
    for relation in parse_xml(archive.read(path)):
        target = posixpath.normpath(posixpath.join(folder, relation.get("Target", ""))).lstrip("/")
        if relation.get("TargetMode") != "External" and target in archive.namelist():
            found.append((relation.get("Type", "").rpartition("/")[2], target))
    return found
