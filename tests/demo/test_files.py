"""The demo's files: the answer follows from them, no rule is idle, and a hasty reading gives something else.

The answer is worked out here from the workbook's cells with the numbers that the PDF and the page print, so
that a change to any file that moves the answer is seen.
"""

import html
import importlib.util
import json
import re
from dataclasses import dataclass, replace
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import pypdfium2
import pytest
from openpyxl import load_workbook

DEMO = Path(__file__).parents[2] / "demo"
FILES = DEMO / "files"
EXPECTED: dict[str, Any] = json.loads((DEMO / "expected.json").read_text(encoding="utf-8"))
CENT = Decimal("0.01")


@dataclass(frozen=True)
class Claim:
    """One line of the workbook."""

    name: str
    role: str
    receipt: date
    handed_in: date
    kind: str
    details: str
    currency: str
    amount: Decimal
    paid_with: str


@dataclass(frozen=True)
class Rules:
    """What decides how much is paid back. Amounts in euros; rate in koruna a euro."""

    rate: Decimal
    night: Decimal
    meals_a_day: Decimal
    days: int
    singers_only: bool = True
    no_card: bool = True
    no_alcohol: bool = True
    meals_together: bool = True


def pdf_text(folder: Path = FILES) -> str:
    document = pypdfium2.PdfDocument(folder / "travel-rules.pdf")
    try:
        assert len(document) == 3
        pages = [document[index].get_textpage().get_text_range() for index in range(3)]
    finally:
        document.close()
    return " ".join(" ".join(pages).split())


def page_text(folder: Path = FILES) -> str:
    source = (folder / "exchange-rates.html").read_text(encoding="utf-8")
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", source)).split())


def found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    assert match, f"{pattern!r} is not in the text"
    return match[1]


def claims(tab: str) -> tuple[str, list[Claim]]:
    """Return the title and the numbered lines of a sheet."""
    sheet = load_workbook(FILES / "claims.xlsx")[tab]
    lines = [
        row[1:] for row in sheet.iter_rows(min_row=4, values_only=True) if isinstance(row[0], int | float)
    ]
    read = [
        Claim(n, r, d.date(), h.date(), k, t, c, Decimal(str(a)), p) for n, r, d, h, k, t, c, a, p in lines
    ]
    return str(sheet["A1"].value), read


def rules_as_written() -> Rules:
    """The rules for a tour to Prague in May 2026, with the numbers that the PDF prints."""
    text = pdf_text()
    return Rules(
        rate=Decimal(found(r"Annex B: .*CZK ([\d.]+)", text)),
        night=Decimal(found(r"Annex A: .*Prague EUR (\d+)", text)),
        meals_a_day=Decimal(found(r"3\.2 Meals: at most EUR (\d+) per person and day", text)),
        days=int(
            found(r"5\.2 A receipt that was handed in more than (\d+) days after its date is not", text)
        ),
    )


def in_euros(claim: Claim, rules: Rules) -> Decimal:
    rate = {"EUR": Decimal(1), "CZK": rules.rate}[claim.currency]
    return (claim.amount / rate).quantize(CENT, ROUND_HALF_UP)


def counts(claim: Claim, rules: Rules) -> bool:
    return not (
        (rules.singers_only and claim.role != "singer")
        or (rules.no_card and claim.paid_with == "choir card")
        or (rules.no_alcohol and "Wine" in claim.details)
        or (claim.handed_in - claim.receipt).days > rules.days
    )


def to_pay(lines: list[Claim], rules: Rules) -> Decimal:
    total = Decimal(0)
    meals: dict[Any, Decimal] = {}
    for number, claim in enumerate(lines):
        if not counts(claim, rules):
            continue
        euros = in_euros(claim, rules)
        if claim.kind == "lodging":
            total += min(euros, rules.night * int(found(r"(\d+) nights", claim.details)))
        elif claim.kind == "meals":
            key = (claim.name, claim.receipt) if rules.meals_together else number
            meals[key] = meals.get(key, Decimal(0)) + euros
        else:
            total += euros
    return total + sum((min(euros, rules.meals_a_day) for euros in meals.values()), Decimal(0))


def test_answer_follows_from_the_files() -> None:
    _, lines = claims("June")
    value = to_pay(lines, rules_as_written())
    assert value == Decimal(str(EXPECTED["value"]))
    assert EXPECTED["answer"] == f"EUR {value:,.2f}"


def test_tabs_are_the_wrong_way_round_and_say_so_inside() -> None:
    title, lines = claims("May")
    assert "Salzburg" in title
    assert "June 2026" in title
    assert {line.receipt.month for line in lines} == {6}
    title, lines = claims("June")
    assert "Prague" in title
    assert "May 2026" in title
    assert {line.receipt.month for line in lines} == {5}
    assert 12 <= len(lines) <= 15


def test_hasty_reading_of_the_sheet_named_may_gives_a_plausible_wrong_sum() -> None:
    _, lines = claims("May")
    assert {line.currency for line in lines} == {"EUR"}  # so nothing stops the hasty plan
    total = sum(line.amount for line in lines)
    assert total == Decimal(str(EXPECTED["hasty"])) != Decimal(str(EXPECTED["value"]))
    cells = [row for row in load_workbook(FILES / "claims.xlsx")["May"].values if row[1] == "Total claimed"]
    assert [Decimal(str(row[8])) for row in cells] == [total]


@pytest.mark.parametrize(
    "mistake",
    [
        {"singers_only": False},
        {"no_card": False},
        {"no_alcohol": False},
        {"meals_together": False},
        {"meals_a_day": Decimal(10_000)},
        {"days": 10_000},
        {"days": 13},
        {"night": Decimal(10_000)},
        {"night": Decimal(found(r"3\.1 Lodging: at most EUR (\d+) a night", pdf_text()))},
        {"rate": Decimal(found(r"May 2026 Currency One euro is .*?CZK ([\d.]+)", page_text()))},
        {"rate": Decimal(found(r"June 2026 Currency One euro is .*?CZK ([\d.]+)", page_text()))},
    ],
    ids=lambda mistake: ", ".join(f"{key}={value}" for key, value in mistake.items()),
)
def test_every_condition_overlooked_changes_the_answer(mistake: dict[str, Any]) -> None:
    _, lines = claims("June")
    wrong = to_pay(lines, replace(rules_as_written(), **mistake))
    assert wrong not in (Decimal(str(EXPECTED["value"])), Decimal(str(EXPECTED["hasty"])))


def test_right_rules_on_the_wrong_sheet_give_a_wrong_sum() -> None:
    _, lines = claims("May")
    salzburg = replace(rules_as_written(), night=Decimal(80))
    assert to_pay(lines, salzburg) not in (Decimal(str(EXPECTED["value"])), Decimal(str(EXPECTED["hasty"])))


@pytest.mark.parametrize(
    "sentence",
    [
        "What was paid with the choir card is not paid back",
        "The fourteenth day is still in time.",
        "Alcohol is not paid back",
        "does not count towards the limit for meals",
        "In the cities of Annex A the limit for lodging given there replaces that of section 3.1.",
        "If no table is in force for that month, the rates in Annex B apply.",
        "rounded to the cent; only then are the limits applied",
    ],
)
def test_pdf_states_each_rule(sentence: str) -> None:
    assert sentence in pdf_text()


def test_page_withdraws_its_table_for_may() -> None:
    text = page_text()
    assert "the table for May 2026 is withdrawn" in text
    assert "No table is in force for May 2026" in text
    assert text.index("May 2026 Currency") < text.index("withdrawn")


def test_question_names_every_file_and_gives_no_trap_away() -> None:
    question = (DEMO / "question.txt").read_text(encoding="utf-8")
    assert {path.name for path in FILES.iterdir()} == set(re.findall(r"[\w-]+\.(?:xlsx|pdf|html)", question))
    assert re.search(r"June|Annex|withdrawn|limit|card", question) is None


def generator() -> ModuleType:
    pytest.importorskip("fpdf", reason="the generator needs fpdf2: pip install -e '.[dev]'")
    spec = importlib.util.spec_from_file_location("demo_make_files", DEMO / "make_files.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cells(folder: Path) -> list[Any]:
    book = load_workbook(folder / "claims.xlsx")
    return [(sheet.title, list(sheet.values)) for sheet in book]


def test_generator_writes_what_is_committed(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    generator().write(first)
    generator().write(second)
    assert sorted(path.name for path in first.iterdir()) == sorted(path.name for path in FILES.iterdir())
    assert all(path.read_bytes() == (second / path.name).read_bytes() for path in first.iterdir())
    assert cells(first) == cells(FILES)
    assert pdf_text(first) == pdf_text(FILES)
    assert page_text(first) == page_text(FILES)


def test_files_are_small() -> None:
    assert sum(path.stat().st_size for path in FILES.iterdir()) < 100_000
