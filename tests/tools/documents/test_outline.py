"""Outlines of long documents."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from forethought.sizes import extent
from forethought.tools.documents.document import Document, Section, split
from forethought.tools.documents.outline import outline
from forethought.tools.documents.tables import markdown_table


def test_a_table_over_several_parts_is_one_line_with_all_its_rows() -> None:
    rows = [["Item", "Price"], *([f"item {n}", str(n)] for n in range(400))]
    sheets = tuple(
        Section(f"Cells A1:B401:\n\n{markdown_table(rows)}", name, f'## Sheet "{name}" ({n} of 2)')
        for n, name in enumerate(("June", "May"), 1)
    )
    parts = split(Document(sheets, unit="sheet"), 4000)
    assert len(parts) == 4
    assert outline(parts, 1000, "sheet").split("\n") == [
        '- part 1-2: Sheet "June" (1 of 2); table of 400 rows: Item | Price',
        '- part 2-4: Sheet "May" (2 of 2); table of 400 rows: Item | Price',
    ]


def test_headings_pages_and_parts_without_either() -> None:
    pages = tuple(Section(f"Chapter {n}\n" + "word " * 300, str(n), f"## Page {n} of 3") for n in (1, 2, 3))
    assert outline(split(Document(pages, unit="page"), 1600), 1000, "page").split("\n") == [
        "- part 1: Page 1 of 3: Chapter 1",
        "- part 2: Page 2 of 3: Chapter 2",
        "- part 3: Page 3 of 3: Chapter 3",
    ]
    text = "# Rules\n\n" + "one two " * 150 + "\n\n## Limits\n\n" + "three four " * 400
    lines = outline(split(Document((Section(text),)), 2000), 1000).split("\n")
    assert lines[:2] == ["- part 1: Rules", "- part 1: Limits"]
    assert lines[2].startswith("- part 2: three four")


def test_what_has_no_room_is_counted() -> None:
    text = "\n\n".join(f"# Heading {n}\n\ntext" for n in range(50))
    lines = outline(split(Document((Section(text),)), 12_000), 300).split("\n")
    assert lines[-1] == f"- and {50 - len(lines) + 1} more headings or tables"
    assert outline(split(Document((Section(text),)), 12_000), 30) == ""


@given(
    st.text(alphabet=st.sampled_from("#|- \nab1é"), max_size=400), st.integers(20, 300), st.integers(0, 300)
)
def test_any_text_has_an_outline_within_its_limit(text: str, size: int, limit: int) -> None:
    parts = split(Document((Section(text, "1", "## Page 1 of 1"),), unit="page"), size)
    assert extent(outline(parts, limit, "page")) <= limit
