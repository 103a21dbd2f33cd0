"""What a prompt shows of texts that do not fit it."""

from __future__ import annotations

import pytest

from forethought.nodes.support.excerpts import Text, excerpts, shown
from forethought.sizes import extent

TABLE = [
    "# Prices",
    "",
    "| port | dues |",
    "| --- | --- |",
    *(f"| harbour {n} | {n * 7} |" for n in range(500)),
]


def test_a_row_keeps_its_header_and_heading_and_the_order_stays() -> None:
    rows = [*TABLE[:300], "| Hamburg | 4120 |", *TABLE[300:], "Dues of Hamburg are in euros."]
    (text,) = excerpts((Text("\n".join(rows)),), "dues of Hamburg", 500)
    lines = text.split("\n")
    assert lines[:2] == ["# Prices", "[...]"] or lines[:3] == ["# Prices", "", "| port | dues |"]
    at = [lines.index(row) for row in (*TABLE[2:4], "| Hamburg | 4120 |", rows[-1])]
    assert at == sorted(at)
    assert lines[-1].startswith("[Lines ")


def test_where_nothing_bears_on_the_query_beginning_and_end_are_shown() -> None:
    (text,) = excerpts((Text("\n".join(TABLE), "Ask again."),), "unheard-of", 2_000)
    assert text.startswith("\n".join(TABLE[:30]))
    first, last = text.split("\n[...]\n")
    assert last.split("\n")[-2] == TABLE[-1]
    assert last.endswith("of 504 are not shown. Ask again.]")
    assert len(first) > 2 * len(last)
    assert 1_500 < extent(text) <= 2_000


@pytest.mark.parametrize("query", ["", "the sentence on Hamburg"])
def test_a_text_of_one_long_line_is_cut_in_stretches(query: str) -> None:
    prose = "Nothing to see here. " * 500 + "The dues of Hamburg are 4120 euros. " + "Nor over there. " * 500
    (text,) = excerpts((Text(prose),), query, 1_500)
    assert text.startswith("Nothing to see here.")
    assert ("Hamburg" in text) == bool(query)
    assert text.endswith("[Line 1 of 1 is not shown whole.]")
    assert 800 < extent(text) <= 1_500


def test_short_texts_stay_whole_among_long_ones() -> None:
    long, short = Text("\n".join(TABLE)), Text("The dues are in euros.")
    first, second, third = excerpts((long, short, long), "euros", 3_000)
    assert second == short.text
    assert abs(extent(first) - extent(third)) < 50


@pytest.mark.parametrize("share", [3_000, 30_000, 300_000])
def test_what_is_shown_fits_the_share_and_ends_with_the_newest_whole(share: int) -> None:
    texts = [Text("\n".join(f"text {k}, line {n}" for n in range(100)), before="b" * k) for k in range(60)]
    views = shown(texts, share, "line 7")
    assert views[-1] == texts[-1].whole
    assert sum(map(extent, views)) <= share * 1.05 + 60 * 400 * (share == 3_000)
    assert (views == [text.whole for text in texts]) == (share == 300_000)


def test_text_in_another_script_counts_as_its_tokens_do() -> None:
    texts = [Text("東京の港\n" * 400), Text("東京の港\n" * 400)]
    assert shown(texts, 9_000, "")[0] != texts[0].text
    assert shown(texts, 12_000, "")[0] == texts[0].text


def test_no_text_crowds_another_out() -> None:
    ledger = "\n".join(f"| {n} | Hamburg | {n * 7} |" for n in range(500))
    terms = "\n".join(f"Clause {n}: the penalty of Hamburg for late delivery." for n in range(500))
    first, second = excerpts(
        (Text(ledger), Text(terms)), "penalty clause for late delivery in Hamburg", 4_000
    )
    assert min(first.count("Hamburg"), second.count("Hamburg")) >= 10
