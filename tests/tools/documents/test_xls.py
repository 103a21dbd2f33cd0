from __future__ import annotations

from pathlib import Path

import pytest

from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.formats import read_document

PRICES = Path(__file__).with_name("prices.xls").read_bytes()
"""Written with xlwt: a title row, a table from A3 on, a merged cell, a hidden sheet."""


def test_an_old_workbook_is_read_also_under_another_name() -> None:
    document = read_document(PRICES, "prices.xlsx")
    assert document.note == "The file is not .xlsx as its name says but .xls."
    june, secret = document.sections
    assert june.text.startswith(
        "Merged cells: A7:B7\n\nPrices 2026\n\nCells A3:E5:\n\n| Item | Price | Date |"
    )
    assert "| Tea | 1234.5 | 2026-06-01 | 15% | TRUE |" in june.text
    assert (secret.heading, secret.text) == ('## Sheet "Secret" (2 of 2, hidden)', "A1: Margin; B1: 0.3")
    with pytest.raises(Unreadable, match="damaged"):
        read_document(PRICES[:3000], "prices.xls")
