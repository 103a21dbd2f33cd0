"""Which texts fit a task."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.experience.ranking import rank, words

TEXTS = [
    "Task: overdue invoices of a supplier. What works: open the index of invoices first",
    "Task: travel claims in euros. What works: take the rate of the day of the receipt",
    "Task: rooms of the library. What works: ask for the opening hours",
]


def test_words_are_told_from_fillers_and_stemmed() -> None:
    assert words("Which invoices, and an invoice of 2024?") == ["invoic", "invoic", "2024"]
    assert words("The VAT of May is in USD.") == ["vat", "may", "usd"]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Is any invoice of this supplier overdue?", [0]),
        ("the rate of the euros on that day for a travel claim", [1]),
        ("opening hours", [2]),
        ("overdue claims", []),
        ("library", [2]),
        ("zebras", []),
        ("the of and", []),
        ("", []),
    ],
)
def test_what_fits_comes_first_and_what_does_not_fit_not_at_all(query: str, first: list[int]) -> None:
    assert [at for at, _ in rank(query, TEXTS)][:1] == first


def test_one_text_alone_is_found_too() -> None:
    ((at, score),) = rank("overdue invoices", TEXTS[:1])
    assert at == 0
    assert score > 0


@given(st.text(), st.lists(st.text(), max_size=5))
def test_no_text_breaks_it(query: str, texts: list[str]) -> None:
    scores = [score for _, score in rank(query, texts)]
    assert scores == sorted(scores, reverse=True)
