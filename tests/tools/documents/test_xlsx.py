"""What a workbook says besides plain values: formulas, remarks on sheets, marks on cells."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import date

from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.chart import BarChart, Reference
from openpyxl.formatting.rule import CellIsRule
from openpyxl.styles import Font, PatternFill
from openpyxl.worksheet.datavalidation import DataValidation

from forethought.tools.documents.content import read_content
from forethought.tools.documents.formats import read_document

YELLOW = PatternFill("solid", fgColor="FFFF00")
RED = PatternFill("solid", bgColor="FF0000")


def saved(book: Workbook, replaced: dict[str, tuple[str, str]] | None = None, **added: str) -> bytes:
    """The workbook; in parts of it texts are replaced, and parts are added (`__` for a slash)."""
    file, result = io.BytesIO(), io.BytesIO()
    book.save(file)
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(result, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            for part, (before, after) in (replaced or {}).items():
                if name.endswith(part):
                    assert before.encode() in text
                    text = text.replace(before.encode(), after.encode())
            new.writestr(name, text)
        for name, text in added.items():
            new.writestr(name.replace("__", "/"), text)
    return result.getvalue()


def sheet_of(*rows: list[object]) -> tuple[Workbook, object]:
    book = Workbook()
    for row in rows:
        book.worksheets[0].append(row)
    return book, book.worksheets[0]


def text_of(book: Workbook, replaced: dict[str, tuple[str, str]] | None = None, **added: str) -> str:
    return read_document(saved(book, replaced, **added), "a.xlsx").text


def test_a_formula_without_a_value_and_an_old_sum_are_told_from_the_rest() -> None:
    book = Workbook()
    sheet = book.worksheets[0]
    for row in ([100, "=VLOOKUP(1,A:B,2)"], [50, "=SUM(A1:A2)"], [1, "=SUM(A1:A3)"]):
        sheet.append(row)
    replaced = {
        "/sheet1.xml": ("<f>SUM(A1:A2)</f><v></v>", "<f>SUM(A1:A2)</f><v>120</v>"),
        "sheet1.xml": ("<f>SUM(A1:A3)</f><v></v>", "<f>SUM(A1:A3)</f><v>151</v>"),
    }
    data = saved(book, replaced)
    text = read_document(data, "a.xlsx").text
    assert "(=VLOOKUP(1,A:B,2), value not stored) |" in text
    assert "| 50 | 120 [OUT OF DATE: the sum is 150] (=SUM(A1:A2)) |" in text
    assert "| 1 | 151 (=SUM(A1:A3)) |" in text
    tables = read_content(data, "a.xlsx").tables
    assert isinstance(tables, dict)
    assert "OUT OF DATE" in tables["Sheet"][1][1], "no program may add up the old value unawares"


def test_shared_formulas_are_written_out_for_each_cell() -> None:
    book, _ = sheet_of(*([n, "=A1*2+LOG10(A$1)"] for n in (1, 2, 3)))
    file = saved(book)
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
    shared = iter(
        ['<f t="shared" si="0" ref="B1:B3">A1*2+LOG10(A$1)&amp;"A1"</f>', *['<f t="shared" si="0"/>'] * 2]
    )
    text = text_of(book, {"sheet1.xml": (sheet, re.sub("<f>.*?</f>", lambda _: next(shared), sheet))})
    for number in (1, 2, 3):
        assert f'=A{number}*2+LOG10(A$1)&"A1"' in text


def test_rules_names_links_and_colours_are_remarks_on_the_sheet() -> None:
    book, sheet = sheet_of(["Item", "Price"], ["Tea", 3], ["Milk", 2], ["Oats", 9], ["yellow = estimated"])
    sheet["B2"].fill = sheet["B3"].fill = YELLOW
    sheet["B4"].font = Font(color="FF0000")
    sheet["A2"].hyperlink = "https://example.org/tea"
    rule = DataValidation(type="list", formula1='"open,closed"', promptTitle="State", prompt="One of two")
    rule.add("C2:C9")
    sheet.add_data_validation(rule)
    sheet.conditional_formatting.add("B2:B9", CellIsRule(operator="greaterThan", formula=["5"], fill=RED))
    sheet.oddFooter.center.text = "Draft of May"
    text = text_of(book)
    for remark in (
        "Colours:\n- filled yellow: B2:B3\n- text in red: B4",
        '- C2:C9: list "open,closed" (State; One of two)',
        "- B2:B9: if cellIs greaterThan 5, then filled red",
        "- A2: https://example.org/tea",
        "- Draft of May",
    ):
        assert remark in text


def test_parts_of_a_text_that_are_struck_or_raised_are_marked() -> None:
    struck, raised = InlineFont(strike=True), InlineFont(vertAlign="superscript")
    book, sheet = sheet_of(["Fee", "Note"])
    sheet["A2"] = CellRichText("EUR ", TextBlock(struck, "450"), " 540")
    sheet["B2"] = CellRichText("450", TextBlock(raised, "2"))
    assert "| EUR [struck: 450]  540 | 450^2 |" in text_of(book)


def test_values_that_their_format_hides_are_marked() -> None:
    book, sheet = sheet_of(["Tea", 450, 540])
    sheet["B1"].number_format = ";;;"
    sheet["C1"].font = Font(color="FFFFFF")
    book.properties.keywords = "draft, not approved"
    text = text_of(book)
    assert "A1: Tea; B1: [hidden by its format: 450]; C1: [hidden by its format: 540]" in text
    assert "- keywords: draft, not approved" in text


def test_rows_that_a_filter_hides_are_marked_each() -> None:
    book, sheet = sheet_of(["Item", "Price"], ["Tea", 3], ["Milk", 2])
    sheet.auto_filter.ref = "A1:B3"
    sheet.row_dimensions[3].hidden = True
    text = text_of(book)
    assert "| [hidden row] Milk | 2 |" in text
    assert "Hidden rows (by the filter on A1:B3" in text


def test_charts_and_text_boxes_give_their_words() -> None:
    book, sheet = sheet_of(["Item", "Price"], ["Tea", 3], ["Milk", 2])
    chart = BarChart()
    chart.title, chart.y_axis.title = "Prices in euro", "EUR"
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    sheet.add_chart(chart, "E5")
    shape = "<sp><txBody><p><r><t>Valid until May</t></r></p></txBody></sp></oneCellAnchor></wsDr>"
    text = text_of(book, {"drawing1.xml": ("</oneCellAnchor></wsDr>", shape)})
    assert "- text box: Valid until May\n- chart: Prices in euro; EUR" in text


def test_replies_in_threads_are_shown_with_their_authors() -> None:
    book, _ = sheet_of(["Fee", 450])
    comments = (
        '<ThreadedComments xmlns="x"><threadedComment ref="B1" personId="p" id="1"><text>Right?</text>'
        '</threadedComment><threadedComment ref="B1" personId="q" id="2" parentId="1"><text>No, 540.</text>'
        "</threadedComment></ThreadedComments>"
    )
    person = '<person displayName="{}" id="{}"/>'.format
    persons = f'<personList xmlns="x">{person("Ana", "p")}{person("Ben", "q")}</personList>'
    relation = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="r9" Type="http://x/threadedComment" Target="../threadedComments/t.xml"/>'
        "</Relationships>"
    )
    added = {
        "xl__threadedComments__t.xml": comments,
        "xl__persons__person.xml": persons,
        "xl__worksheets___rels__sheet1.xml.rels": relation,
    }
    text = text_of(book, **added)
    assert "Comments on cells:\n- B1 (by Ana): Right?\n- B1 (reply by Ben): No, 540." in text


def test_a_large_sheet_is_read_in_seconds_and_nothing_is_cut() -> None:
    book = Workbook(write_only=True)
    sheet = book.create_sheet("Data")
    for number in range(1, 20_001):
        sheet.append([number, date(2026, 1, 1), f"=A{number}*2"])
    content = read_content(saved(book), "a.xlsx")
    assert isinstance(content.tables, dict)
    assert len(content.tables["Data"]) == 20_000
    assert "| 20000 | 2026-01-01 | (=A20000*2, value not stored) |" in content.text
