"""PDFs whose text is drawn out of order, in columns, in tables, turned, struck or hidden."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fpdf import FPDF

from forethought.tools.documents.formats import read_document

Draw = Callable[[FPDF], None]
LEFT = "The choir meets every week in the old hall of the town and sings until ten in the evening."
RIGHT = "Guests may listen from the balcony but are asked to be quiet while the conductor speaks."


def page(draw: Draw) -> str:
    """Return the text of a page on which `draw` draws."""
    made = FPDF()
    made.set_font("helvetica", size=11)
    made.add_page()
    draw(made)
    return read_document(bytes(made.output()), "a.pdf").sections[0].text


def at(x: float, y: float, text: str, size: float = 11) -> Draw:
    def draw(made: FPDF) -> None:
        made.set_font_size(size)
        made.text(x, y, text)

    return draw


def all_of(*draws: Draw) -> Draw:
    def draw(made: FPDF) -> None:
        for each in draws:
            each(made)

    return draw


def rows(*lines: tuple[str, ...], widths: tuple[float, ...] = (20, 70, 100, 130), top: float = 40) -> Draw:
    """Draw lines of cells without rules; an empty cell draws nothing."""
    return all_of(
        *(
            at(x, top + 6 * number, text)
            for number, line in enumerate(lines)
            for x, text in zip(widths, line, strict=False)
            if text
        )
    )


def test_an_empty_cell_does_not_shift_the_values_after_it() -> None:
    text = page(
        rows(
            ("City", "2023", "2024", "2025"),
            ("Graz", "", "450", ""),
            ("Linz", "7", "", "9"),
            ("Wien", "1", "2", "3"),
        )
    )
    assert "| Graz |  | 450 |  |\n| Linz | 7 |  | 9 |" in text


@pytest.mark.parametrize("cells", ["30", "NY"])
def test_cells_of_one_character_are_not_one_cell_if_only_spacing_divides_them(cells: str) -> None:
    def spaced(made: FPDF) -> None:
        made.set_char_spacing(30 * made.k - made.get_string_width("0") * made.k)
        made.text(70, 46, cells)

    lines = rows(("City", "2023", "2024", "2025"), ("Guam", "", "", "171"), ("Linz", "7", "8", "9"))
    assert f"| Guam | {cells[0]} | {cells[1]} | 171 |" in page(all_of(lines, spaced))


def test_text_that_is_drawn_row_by_row_across_columns_is_read_by_column() -> None:
    def draw(made: FPDF) -> None:
        left, right = (
            made.multi_cell(80, 5, text * 2, dry_run=True, output="LINES") for text in (LEFT, RIGHT)
        )
        for number, (one, other) in enumerate(zip(left, right, strict=False)):
            at(10, 40 + 5 * number, one)(made)
            at(110, 40 + 5 * number, other)(made)

    words = page(
        all_of(at(40, 20, "A headline over both of the columns, which is wide enough"), draw)
    ).split()
    assert " ".join(words).index("ten in the evening.") < " ".join(words).index("Guests may listen")


def test_a_label_that_is_drawn_before_all_values_is_beside_its_own() -> None:
    labels = [
        at(20, 40 + 8 * number, label) for number, label in enumerate(("Rent:", "Heating:", "Deposit:"))
    ]
    values = [at(80, 40 + 8 * number, value) for number, value in ((2, "1,800"), (0, "900"), (1, "120"))]
    text = page(all_of(*labels, *values))
    assert "| Rent: | 900 |" in text
    assert "| Deposit: | 1,800 |" in text


def test_a_raised_figure_does_not_become_a_digit() -> None:
    def draw(made: FPDF) -> None:
        made.set_xy(20, 40)
        made.write(text="Lodging costs 450")
        made.char_vpos = "SUP"
        made.write(text="2")
        made.char_vpos = "LINE"
        made.write(text=" a night, in 23 rooms.")

    assert page(draw) == "Lodging costs 450^2^ a night, in 23 rooms."


def test_cells_between_ruled_lines_hold_all_their_lines() -> None:
    def draw(made: FPDF) -> None:
        with made.table(width=120, col_widths=(30, 60, 30)) as table:
            for line in (("Item", "Remark", "EUR"), ("Fee", LEFT, "450"), ("Tax", "", "12")):
                row = table.row()
                for cell in line:
                    row.cell(cell)

    assert f"| Fee | {LEFT} | 450 |\n| Tax |  | 12 |" in page(draw)


def test_a_cell_over_two_columns_is_over_both() -> None:
    def draw(made: FPDF) -> None:
        with made.table(width=120) as table:
            for line in (
                (("Item", 1), ("Plan", 2)),
                (("", 1), ("May", 1), ("June", 1)),
                (("Tea", 1), ("5", 2)),
            ):
                row = table.row()
                for cell, span in line:
                    row.cell(cell, colspan=span)

    text = page(draw)
    assert "| Item | Plan | Plan |" in text
    assert "| Tea | 5 | (same cell) |" in text


@pytest.mark.parametrize("angle", [90, 270])
def test_a_turned_table_is_a_table(angle: int) -> None:
    cells = [
        ("City", "Limit", "Meals"),
        ("Prague", "110", ""),
        ("London", "140", "30"),
        ("Zurich", "", "45"),
    ] * 2

    def draw(made: FPDF) -> None:
        with made.rotation(angle, 100, 140):
            rows(*cells)(made)

    assert "| Prague | 110 |  |\n| London | 140 | 30 |\n| Zurich |  | 45 |" in page(draw)


def test_a_stamp_across_the_page_is_told_from_its_text() -> None:
    def draw(made: FPDF) -> None:
        at(20, 40, "Lodging: 450 a night")(made)
        with made.rotation(45, 100, 140):
            at(100, 140, "DRAFT", 60)(made)

    assert page(draw) == "Lodging: 450 a night\n\n[text across the page: DRAFT]"


def test_a_struck_figure_is_not_taken_for_a_valid_one() -> None:
    def draw(made: FPDF) -> None:
        at(20, 40, "Fee: 450 540")(made)
        start = 20 + made.get_string_width("Fee: ")
        made.line(start, 38.7, start + made.get_string_width("450"), 38.7)
        at(60, 60, "8")(made)
        made.line(20, 58.7, 120, 58.7)

    assert page(draw) == "Fee: [struck: 450] 540\n\n8"


def test_underlined_text_is_not_struck() -> None:
    def draw(made: FPDF) -> None:
        made.set_font(style="U")
        at(20, 40, "Total: 450")(made)

    assert page(draw) == "Total: 450"


def test_white_text_on_white_is_hidden_and_on_a_dark_ground_is_not() -> None:
    def draw(made: FPDF) -> None:
        made.set_fill_color(20, 20, 90)
        made.rect(15, 30, 60, 20, style="F")
        made.set_text_color(255, 255, 255)
        at(20, 40, "Header")(made)
        at(20, 80, "Ignore 450")(made)

    assert page(draw) == "Header\n\n[hidden text: Ignore 450]"


def test_a_list_is_no_table() -> None:
    lines = [("1.", "Tea is served at four in the hall"), ("2.", "Coffee is not"), ("3.", "Water is free")]
    assert page(rows(*lines, widths=(20, 30))).startswith("1.  Tea is served at four in the hall\n2.  Coffee")


def test_a_header_left_of_right_aligned_figures_heads_them() -> None:
    def draw(made: FPDF) -> None:
        for number, line in enumerate(
            (("Kind", "Price", "Crates"), ("Assam", "3.5", "4"), ("Sum", "", "24.5"))
        ):
            for column, cell in enumerate(line):
                made.set_xy(20 + 30 * column, 40 + 6 * number)
                made.cell(30, 6, cell, align="R" if column and number else "L")

    assert "| Kind | Price | Crates |\n| --- | --- | --- |\n| Assam | 3.5 | 4 |\n| Sum |  | 24.5 |" in page(
        draw
    )


def test_what_is_under_a_box_or_outside_the_page_is_hidden() -> None:
    def draw(made: FPDF) -> None:
        made.set_fill_color(255, 240, 80)
        made.rect(15, 34, 60, 8, style="F")
        at(20, 40, "on a ground")(made)
        at(20, 80, "blacked 450")(made)
        made.set_fill_color(0, 0, 0)
        made.rect(15, 74, 60, 8, style="F")
        at(20, -20, "cut 540")(made)

    assert page(draw).split("\n\n") == [
        "[hidden text, outside the page: cut 540]", "on a ground", "[hidden text, under a box: blacked 450]"
    ]  # fmt: skip
