"""What a program gets of the given files, and what it shows: real files, both backends."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from datetime import date
from email.message import EmailMessage
from pathlib import Path
from typing import Literal

import docx
import pytest
from fpdf import FPDF
from openpyxl import Workbook
from pptx import Presentation
from pptx.util import Inches

from forethought.settings import Settings
from forethought.tools.base import Observation, ToolEnv
from forethought.tools.call import call_tool
from forethought.tools.files import FileStore
from forethought.tools.python import PYTHON, _files_for
from forethought.tools.sandbox.sandlock import why_not

Backend = Literal["monty", "sandlock"]
Run = Callable[[str], Observation]
HTML = "<p>Rates</p><table><tr><th>City</th><th>Rate</th></tr><tr><td>Bonn</td><td>80</td></tr></table>"


def workbook() -> bytes:
    book, file = Workbook(), io.BytesIO()
    sheet = book.active
    sheet.title = "Prices"
    sheet.append(["Item", "Price", "Since"])
    sheet.append(["tea", 3.5, None])
    sheet["C2"] = date(2025, 3, 1)
    sheet["B4"] = 12
    sheet["B4"].number_format = '0.00 "EUR"'
    hidden = book.create_sheet("Old")
    hidden.append(["tea", True])
    hidden.sheet_state = "hidden"
    book.save(file)
    return file.getvalue()


def document() -> bytes:
    made, file = docx.Document(), io.BytesIO()
    made.add_paragraph("Limits")
    table = made.add_table(2, 2)
    for at, text in enumerate(("City", "a | b", "Bonn", "80")):
        table.cell(at // 2, at % 2).text = text
    made.save(file)
    return file.getvalue()


def slides() -> bytes:
    made, file = Presentation(), io.BytesIO()
    slide = made.slides.add_slide(made.slide_layouts[5])
    table = slide.shapes.add_table(2, 1, Inches(1), Inches(1), Inches(4), Inches(2)).table
    table.cell(0, 0).text, table.cell(1, 0).text = "Goal", "90 %"
    made.save(file)
    return file.getvalue()


def pdf() -> bytes:
    made = FPDF()
    made.add_page()
    made.set_font("Helvetica")
    made.cell(text="Lodging: EUR 80")
    return bytes(made.output())


def message() -> bytes:
    made = EmailMessage()
    made["Subject"] = "Rates"
    made.set_content("Bonn: 80 €")
    return made.as_bytes()


FILES: dict[str, bytes] = {
    "prices.csv": "\ufeffItem;Price\r\ntea;3,50\r\n".encode(),
    "prices.tsv": b"Item\tPrice\ntea\t3.50\n",
    "note.txt": b"\nline 1\n\n  line 2\n",
    "app.log": b"2025-03-01 ERROR disk\n",
    "plan.md": b"# Plan\n\n| Who | Days |\n| --- | --- |\n| Ana | 3 |\n",
    "data.json": b'{"a": [1, 2]}',
    "feed.xml": b"<r><a/></r>",
    "conf.yaml": b"a: 1\n",
    "tool.py": b"def f():\n    return 1\n",
    "page.html": HTML.encode(),
    "mail.eml": message(),
    "book.xlsx": workbook(),
    "rules.docx": document(),
    "goals.pptx": slides(),
    "rules.pdf": pdf(),
}


confined = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


@pytest.fixture(params=["monty", pytest.param("sandlock", marks=confined)])
def run(request: pytest.FixtureRequest, settings: Callable[..., Settings], tmp_path: Path) -> Run:
    store = FileStore(tmp_path / "files")
    files = {name: store.put(data) for name, data in FILES.items()}
    env = ToolEnv(settings=settings(python_backend=request.param), files=files, store=store)
    return lambda code: asyncio.run(call_tool(PYTHON, {"code": code}, env))


def test_text_formats_come_as_they_are_and_documents_as_read_file_shows_them(run: Run) -> None:
    shown = run("import csv\nlist(csv.DictReader(files['prices.csv'].splitlines(), delimiter=';'))")
    assert shown.text == "[{'Item': 'tea', 'Price': '3,50'}]"
    names = ["prices.tsv", "note.txt", "app.log", "plan.md", "page.html", "conf.yaml", "tool.py"]
    assert run(f"[files[name] for name in {names}]").text == repr([FILES[name].decode() for name in names])
    assert run("json.loads(files['data.json'])['a']").text == "[1, 2]"
    assert run("files['mail.eml']").text == "Subject: Rates\n\nBonn: 80 €"
    assert '## Sheet "Old" (2 of 2, hidden)' in run("files['book.xlsx']").text
    assert "Lodging: EUR 80" in run("files['rules.pdf']").text


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("tables['prices.csv']", [["Item", "Price"], ["tea", 3.5]]),
        ("tables['prices.tsv']", [["Item", "Price"], ["tea", "3.50"]]),
        (
            "tables['book.xlsx']",
            {
                "Prices": [
                    ["Item", "Price", "Since"],
                    ["tea", 3.5, "2025-03-01"],
                    ["", "", ""],
                    ["", 12, ""],
                ],
                "Old": [["tea", True]],
            },
        ),
        ("tables['rules.docx']", {"1": [["City", "a | b"], ["Bonn", "80"]]}),
        ("tables['goals.pptx']['1']", [["Goal"], ["90 %"]]),
        ("tables['page.html']['1'][1]", ["Bonn", "80"]),
        ("tables['plan.md']", {"1": [["Who", "Days"], ["Ana", "3"]]}),
        ("tables['rules.pdf'], tables['note.txt']", ({}, {})),
    ],
)
def test_every_table_is_rows(run: Run, code: str, shown: object) -> None:
    assert run(code).text == repr(shown)


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("files['price.csv']", "`files` has 'prices.csv', 'prices.tsv', "),
        ("tables['book.xlsx']['prices']", "`tables['book.xlsx']` has 'Prices', 'Old'"),
        ("tables['rules.docx']['Limits']", "`tables['rules.docx']` has '1'"),
        ("results['s9']", "`results` has no keys"),
        ("tables['note.txt']['1']", "`tables['note.txt']` has no tables"),
    ],
)
def test_a_wrong_key_is_answered_with_the_keys(run: Run, code: str, hint: str) -> None:
    seen = run(code)
    assert "KeyError" in seen.text
    assert hint in seen.hint


def test_long_output_keeps_its_head_and_its_end_and_the_last_value(run: Run) -> None:
    seen = run("for n in range(9000):\n    print('row', n)\nprint('total 9000')\n{'sum': 42}")
    assert seen.text.startswith("row 0\nrow 1\n")
    assert seen.text.endswith("row 8999\ntotal 9000\n{'sum': 42}")
    assert " characters left out" in seen.text
    assert seen.partial
    missing = int(seen.text.split("[... ")[1].split()[0])
    assert missing + sum(line.startswith("row ") for line in seen.text.splitlines()) == 9000
    both = run("for n in range(9000):\n    print('row', n)\n'v' * 30000")
    assert both.text.startswith("row 0\n")
    assert both.text.endswith("vvv")


@pytest.mark.parametrize(
    ("code", "read"),
    [
        ("tables['a.csv']", ["a.csv"]),
        ('files["a.csv"] + files[ "b.csv" ]', ["a.csv", "b.csv"]),
        ("[files[name] for name in ('a.csv',)]", ["a.csv", "b.csv", "c.csv"]),
        ("tables['none.csv']", ["a.csv", "b.csv", "c.csv"]),
    ],
)
def test_only_the_files_that_the_code_names_are_read(code: str, read: list[str]) -> None:
    env = ToolEnv(Settings(), files={name: name for name in ("a.csv", "b.csv", "c.csv")})
    assert sorted(_files_for(env, code)) == read
