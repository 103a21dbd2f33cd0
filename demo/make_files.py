"""Write the demo's files (demo/files) anew: a workbook, a PDF and a web page of a choir that went on tour.

Run it as `python demo/make_files.py [FOLDER]`; it needs openpyxl and fpdf2, which only developers need.
The same versions of both write the same bytes: dates are fixed, nothing is compressed. The answer to the
question is not in here; tests/demo/test_files.py works it out from the files.
"""

import argparse
import io
import re
import zipfile
from datetime import UTC, date, datetime
from pathlib import Path

from fpdf import FPDF
from openpyxl import Workbook
from openpyxl.styles import Font
from openpyxl.worksheet.worksheet import Worksheet

WRITTEN = datetime(2026, 7, 2, 9, 0, tzinfo=UTC)  # stands for "now" wherever a format records a time

HEADINGS = "No.|Name|Role|Receipt date|Handed in|Kind|Details|Currency|Amount|Paid with"
WIDTHS = (5, 16, 11, 13, 12, 10, 30, 10, 10, 12)  # in characters

PRAGUE = """\
Ana Duarte  |singer   |2026-05-14|2026-05-20|travel |Train Dresden to Prague     |EUR| 38.40|own money
Bruno Keller|singer   |2026-05-14|2026-05-20|travel |Train Dresden to Prague     |EUR| 38.40|choir card
David Okoro |singer   |2026-05-14|2026-06-02|travel |Coach Berlin to Prague      |EUR| 29.90|own money
Ana Duarte  |singer   |2026-05-14|2026-05-20|lodging|Hotel Vltava, 3 nights      |CZK|  7200|own money
Bruno Keller|singer   |2026-05-14|2026-05-20|lodging|Hotel Karolina, 3 nights    |CZK|  9000|own money
Chiara Rossi|singer   |2026-05-14|2026-05-28|lodging|Hostel Mala Strana, 2 nights|CZK|  2500|own money
Emil Novak  |conductor|2026-05-14|2026-05-19|lodging|Hotel Vltava, 3 nights      |CZK|  7200|own money
Chiara Rossi|singer   |2026-05-15|2026-05-28|meals  |Lunch                       |CZK|   450|own money
Chiara Rossi|singer   |2026-05-15|2026-05-28|meals  |Dinner                      |CZK|   550|own money
Ana Duarte  |singer   |2026-05-15|2026-05-20|meals  |Dinner                      |CZK|   600|own money
Bruno Keller|singer   |2026-05-16|2026-05-20|travel |Tram pass, weekend          |CZK|   330|own money
David Okoro |singer   |2026-05-16|2026-05-22|meals  |Dinner                      |CZK|   700|own money
David Okoro |singer   |2026-05-16|2026-05-22|meals  |Wine after the concert      |CZK|   900|own money
Emil Novak  |conductor|2026-05-17|2026-05-19|meals  |Lunch                       |CZK|   500|own money
Chiara Rossi|singer   |2026-05-17|2026-05-28|travel |Train Prague to Dresden     |EUR| 41.50|own money
"""

SALZBURG = """\
Ana Duarte  |singer   |2026-06-19|2026-06-24|travel |Train Munich to Salzburg    |EUR| 33.80|own money
Bruno Keller|singer   |2026-06-19|2026-06-23|travel |Train Munich to Salzburg    |EUR| 33.80|own money
Ana Duarte  |singer   |2026-06-19|2026-06-24|lodging|Gasthof Salzach, 2 nights   |EUR|148.00|own money
Bruno Keller|singer   |2026-06-19|2026-06-23|lodging|Hotel Mirabell, 2 nights    |EUR|212.00|own money
Emil Novak  |conductor|2026-06-19|2026-06-22|lodging|Gasthof Salzach, 2 nights   |EUR|148.00|choir card
Chiara Rossi|singer   |2026-06-20|2026-06-25|meals  |Dinner                      |EUR| 34.50|own money
David Okoro |singer   |2026-06-20|2026-06-25|meals  |Lunch                       |EUR| 17.20|own money
David Okoro |singer   |2026-06-21|2026-06-25|travel |Coach Salzburg to Berlin    |EUR| 44.90|own money
"""

# The PDF. '#' begins a heading, '|' a row of a table, '---' a new page.
RULES = """\
#Travel rules of the Lindenhof Choir
Passed by the general meeting on 14 March 2026. They apply to every journey that begins after that day.
#1  Who is covered
Singers, the conductor, and guests whom the board has invited.
#2  What is paid back
Travel (train, coach, tram, underground), lodging and meals, if a receipt was handed in. Write one line \
for each receipt into the claims workbook, in the currency of the receipt.
#3  Limits
3.1  Lodging: at most EUR 80 a night.
3.2  Meals: at most EUR 30 per person and day, all meals of that day together.
3.3  Travel: no limit.
#4  Foreign currency
4.1  Amounts are converted into euros at the rate that the treasurer's page gives for the month of the \
receipt.
4.2  If no table is in force for that month, the rates in Annex B apply.
4.3  Each line is converted and rounded to the cent; only then are the limits applied.
---
#5  Exceptions
5.1  What was paid with the choir card is not paid back: it was never the member's money.
5.2  A receipt that was handed in more than 14 days after its date is not paid back. The fourteenth day \
is still in time.
5.3  Alcohol is not paid back, even with a meal, and does not count towards the limit for meals.
5.4  In the cities of Annex A the limit for lodging given there replaces that of section 3.1.
#6  Payment
The treasurer pays once a month, one sum to each person. Questions go to the board, which decides within \
four weeks.
---
#Annex A: cities with a limit of their own for lodging
|City|Limit for one night
|London|EUR 140
|Prague|EUR 110
|Zurich|EUR 150
#Annex B: rates for months without a table
To be used only where section 4.2 says so.
|Currency|One euro is
|CHF|0.95
|CZK|25.00
|HUF|400.00
|PLN|4.25
"""

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Exchange rates - Lindenhof Choir, treasurer's page</title>
<style>
body {{ font: 16px/1.5 Georgia, serif; max-width: 40em; margin: 2em auto; padding: 0 1em; }}
table {{ border-collapse: collapse; margin-bottom: 1.5em; }}
th, td {{ border: 1px solid #999; padding: .2em .8em; text-align: right; }}
</style>
</head>
<body>
<main>
<h1>Exchange rates for expense claims</h1>
<p>Each table says how much of a currency one euro is. Use the table of the month in which the receipt was
written, not of the month in which you hand it in.</p>
{tables}
<h2>Changes to this page</h2>
<ul>
<li>1 July 2026: the table for July follows on the 6th.</li>
<li>3 June 2026: the table for May 2026 is withdrawn. By mistake it repeats the rates of May 2025. No table is
in force for May 2026; please do not use the one above. The travel rules say what applies instead.</li>
<li>4 May 2026: Hungarian forint added.</li>
</ul>
<p>Ines Albrecht, treasurer</p>
</main>
</body>
</html>
"""

RATES = {
    "April 2026": {"CHF": "0.94", "CZK": "24.80", "HUF": "391.50", "PLN": "4.26"},
    "May 2026": {"CHF": "0.93", "CZK": "24.00", "HUF": "402.20", "PLN": "4.24"},
    "June 2026": {"CHF": "0.94", "CZK": "24.60", "HUF": "394.10", "PLN": "4.27"},
}


def _rows(table: str) -> list[list[str | date | float]]:
    """Read the lines of a table above into cells, numbered from 1."""
    rows: list[list[str | date | float]] = []
    for number, line in enumerate(table.splitlines(), 1):
        cells = [cell.strip() for cell in line.split("|")]
        dates = [date.fromisoformat(cell) for cell in cells[2:4]]
        rows.append([number, *cells[:2], *dates, *cells[4:7], float(cells[7]), cells[8]])
    return rows


def _fill(sheet: Worksheet, title: str, rows: list[list[str | date | float]]) -> None:
    """Lay out one sheet: title, blank row, headings, lines."""
    sheet.append([title])
    sheet.append([])
    sheet.append(HEADINGS.split("|"))
    for row in rows:
        sheet.append(row)
    for cell in (sheet["A1"], *sheet[3]):
        cell.font = Font(bold=True)
    for letter, width in zip("ABCDEFGHIJ", WIDTHS, strict=True):
        sheet.column_dimensions[letter].width = width
    for line in sheet.iter_rows(min_row=4):
        line[3].number_format = line[4].number_format = "yyyy-mm-dd"
        line[8].number_format = "#,##0.00"


def workbook() -> bytes:
    """Return the claims. The tab names are the wrong way round on purpose: the title rows are right."""
    book = Workbook()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    sheet.title = "May"
    salzburg = _rows(SALZBURG)
    total = round(sum(row[8] for row in salzburg if isinstance(row[8], float)), 2)
    salzburg.append(["", "Total claimed", "", "", "", "", "", "EUR", total, ""])
    _fill(sheet, "Expense claims: summer concert in Salzburg, 19 to 21 June 2026", salzburg)
    prague = book.create_sheet("June")
    _fill(prague, "Expense claims: spring tour to Prague, 14 to 17 May 2026", _rows(PRAGUE))
    book.properties.creator = "Lindenhof Choir"
    book.properties.created = WRITTEN.replace(tzinfo=None)
    buffer = io.BytesIO()
    book.save(buffer)
    return _without_clock(buffer.getvalue())


def _without_clock(xlsx: bytes) -> bytes:
    """Pack the workbook again with fixed times: openpyxl stamps the moment of saving into it."""
    stamp = f"{WRITTEN:%Y-%m-%dT%H:%M:%SZ}".encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(xlsx)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "docProps/core.xml":
                data = re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>" + stamp, data)
            new.writestr(zipfile.ZipInfo(name, WRITTEN.timetuple()[:6]), data)
    return buffer.getvalue()


class _Pages(FPDF):
    """Pages with their number at the foot."""

    def footer(self) -> None:
        self.set_y(-14)
        self.set_font("Helvetica", size=8)
        self.cell(0, 5, f"Page {self.page_no()} of {{nb}}", align="C")


def rules() -> bytes:
    """Return the travel rules as a PDF, broken where RULES says so."""
    pdf = _Pages(format=(148, 210))  # A5, in millimetres
    pdf.set_compression(False)
    pdf.set_creation_date(WRITTEN)
    pdf.set_title("Travel rules of the Lindenhof Choir")
    pdf.set_margin(16)
    for lines in RULES.split("---\n"):
        pdf.add_page()
        for line in lines.splitlines():
            _write(pdf, line)
    return bytes(pdf.output())


def _write(pdf: FPDF, line: str) -> None:
    if line.startswith("|"):
        pdf.set_font("Helvetica", size=10)
        for cell in line[1:].split("|"):
            pdf.cell(50, 7, cell, border=1)
        pdf.ln()
        return
    heading = line.startswith("#")
    pdf.set_font("Helvetica", "B" if heading else "", 12 if heading else 10)
    pdf.ln(3 if heading else 0)
    pdf.multi_cell(0, 5.2, line.removeprefix("#"), new_x="LMARGIN", new_y="NEXT", align="L")
    pdf.ln(1.5)


def page() -> str:
    """Return the treasurer's page with its monthly tables."""
    tables = []
    for month, table in RATES.items():
        rows = ["<tr><th>Currency</th><th>One euro is</th></tr>"]
        rows += [f"<tr><td>{name}</td><td>{rate}</td></tr>" for name, rate in table.items()]
        tables.append("\n".join([f"<h2>{month}</h2>", "<table>", *rows, "</table>"]))
    return PAGE.format(tables="\n".join(tables))


def write(folder: Path) -> None:
    """Write the three files into folder, which is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "claims.xlsx").write_bytes(workbook())
    (folder / "travel-rules.pdf").write_bytes(rules())
    (folder / "exchange-rates.html").write_text(page(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the demo's files anew.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent / "files")
    write(parser.parse_args().folder)
