from __future__ import annotations

from pathlib import Path

import pytest

from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.read import read_document

PRICES = Path(__file__).with_name("prices.xls")
"""Written with xlwt: a title row, a table from A3 on, a merged cell, a hidden sheet."""


def test_an_old_workbook_is_read_with_dates_percentages_and_hidden_sheets() -> None:
    june, secret = read_document(PRICES.read_bytes(), "prices.xls").sections
    assert june.heading == '## Sheet "June" (1 of 2)'
    assert "Prices 2026\n\nCells A3:E5:\n\n| Item | Price | Date | Share | Sold |" in june.text
    assert "| Tea | 1234.5 | 2026-06-01 | 15% | TRUE |" in june.text
    assert "| Milk | 12 | 2026-06-02 | 50% | FALSE |" in june.text
    assert june.text.startswith("Merged cells: A7:B7")
    assert secret.heading == '## Sheet "Secret" (2 of 2, hidden)'
    assert secret.text == "A1: Margin; B1: 0.3"


def test_the_content_counts_where_the_name_says_otherwise() -> None:
    document = read_document(PRICES.read_bytes(), "prices.xlsx")
    assert document.note == "The file is not .xlsx as its name says but .xls."


def test_a_damaged_old_workbook_is_named_as_damaged() -> None:
    with pytest.raises(Unreadable, match="damaged"):
        read_document(PRICES.read_bytes()[:3000], "prices.xls")
