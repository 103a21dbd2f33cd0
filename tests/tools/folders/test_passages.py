"""Passages: stretches of a document with their place and headings."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from forethought.tools.documents.document import Document, Section
from forethought.tools.folders.passages import LONGEST, passages


@settings(max_examples=200)
@given(
    texts=st.lists(st.text(alphabet=st.sampled_from("#|- \nab1.é"), max_size=3_000), max_size=4),
    heading=st.sampled_from(["", "## Page 1"]),
)
def test_passages_are_the_whole_text_without_a_gap(texts: list[str], heading: str) -> None:
    document = Document(tuple(Section(text, str(n), heading) for n, text in enumerate(texts)), "page")
    whole, found = passages(document)
    assert whole == document.text
    assert "".join(whole[each.start : each.stop] for each in found) == whole
    assert all(each.line == whole.count("\n", 0, each.start) + 1 for each in found)


def test_a_passage_has_its_place_and_the_headings_above() -> None:
    text = "# Lease\n\nParties.\n\n## Rent\n\n" + "The rent is due. " * 60 + "\n\n## Notice\n\nThree months."
    _, found = passages(Document((Section("Cover", "1"), Section(text, "2")), "page"))
    assert [(each.place, each.heading) for each in found] == [
        ("page 1", ""),
        ("page 2", "Lease"),
        ("page 2", "Lease > Rent"),
        ("page 2", "Lease > Notice"),
    ]


def test_rows_come_in_groups_under_their_tables_header() -> None:
    rows = "\n".join(f"| {n} | Row number {n} |" for n in range(200))
    whole, found = passages(Document((Section(f"# Costs\n\n| Id | What |\n| --- | --- |\n{rows}"),)))
    assert len(found) > 3
    assert {each.heading for each in found[1:]} == {"Costs > Id What"}
    assert all(whole[each.start : each.stop].startswith("| ") for each in found[1:])


def test_a_long_paragraph_or_log_is_cut() -> None:
    lines = "\n".join(f"10:00:{n % 60:02} request {n} handled" for n in range(2_000))
    _, found = passages(Document((Section(lines),)))
    assert max(each.stop - each.start for each in found) <= LONGEST
    assert found[-1].line > 1_900
