from __future__ import annotations

import pytest
from fpdf import FPDF
from PIL import Image

from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.formats import read_document
from forethought.tools.documents.pdf import NO_TEXT, PICTURE


def pdf(*pages: str, password: str = "") -> bytes:
    document = FPDF()
    document.set_font("helvetica", size=12)
    if password:
        document.set_encryption(owner_password=password + "!", user_password=password)
    for text in pages:
        document.add_page()
        if text:
            document.multi_cell(0, 6, text)
        else:
            document.rect(20, 20, 50, 50)
    return bytes(document.output())


def test_pages_have_headings_and_an_image_page_says_so() -> None:
    document = read_document(pdf("Lodging: EUR 80\nMeals: EUR 30", "", "Annex"), "rules.pdf")
    assert document.text == (
        "## Page 1 of 3\n\nLodging: EUR 80\nMeals: EUR 30\n\n"
        f"## Page 2 of 3\n\n{NO_TEXT.format(2)}\n\n"
        "## Page 3 of 3\n\nAnnex"
    )
    assert document.where(["1", "2", "3"]) == "pages 1-3 of 3"


@pytest.mark.parametrize(
    ("data", "message", "cause", "hint"),
    [
        (pdf("", ""), "2 pages are images", "empty", "OCR"),
        (pdf("secret", password="hunter2"), "locked with a password", "", "without the password"),
        (b"%PDF-1.7\nnothing", "damaged", "", ""),
    ],
    ids=["scan", "locked", "damaged"],
)
def test_an_unusable_pdf_names_its_fault(data: bytes, message: str, cause: str, hint: str) -> None:
    with pytest.raises(Unreadable, match=message) as raised:
        read_document(data, "a.pdf")
    assert cause in raised.value.cause
    assert hint in raised.value.hint


def raw_pdf(
    annotations: list[bytes], *objects: bytes, catalog: bytes = b"", resources: bytes = b"", more: bytes = b""
) -> bytes:
    """Return a page that says 'Lodging', with these annotations (from number 6 on) and other objects."""
    stream = b"BT /F1 12 Tf 20 200 Td (Lodging) Tj ET " + more
    names = b" ".join(b"%d 0 R" % (6 + number) for number in range(len(annotations)))
    all_objects = [
        b"<< /Type /Catalog /Pages 2 0 R %s >>" % catalog,
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R /Annots [%s]"
        b" /Resources << /Font << /F1 5 0 R >> %s >> >>" % (names, resources),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *(b"<< /Type /Annot /Rect [10 10 100 30] %s >>" % annotation for annotation in annotations),
        *objects,
    ]
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % item for item in enumerate(all_objects, 1))
    return b"%PDF-1.7\n" + body + b"trailer << /Size %d /Root 1 0 R >>\n%%%%EOF" % (len(all_objects) + 1)


def test_form_fields_and_comments_are_shown() -> None:
    data = raw_pdf(
        [
            b"/Subtype /Widget /FT /Tx /T (name) /V (Ann)",
            b"/Subtype /Widget /FT /Btn /T (agree) /TU (I agree) /V /Yes",
            b"/Subtype /Widget /FT /Btn /T (newsletter) /V /Off",
            b"/Subtype /Text /Contents (Ask Ana\nfirst)",
            b"/Subtype /FreeText /Contents <FEFF0038003020AC>",
            b"/Subtype /Popup /Contents (Ask Ana)",
            b"/Subtype /Link /Contents (1) /A << /S /URI /URI (https://example.org) >>",
        ]
    )
    assert read_document(data, "form.pdf").sections[0].text == (
        "Lodging\n\nForm fields:\n- name: Ann\n- I agree: Yes\n\nComments:\n- Ask Ana first\n- 80€"
    )


def test_a_field_has_the_value_and_name_of_the_field_above_it() -> None:
    data = raw_pdf(
        [
            b"/Subtype /Widget /Parent 9 0 R",
            b"/Subtype /Widget /FT /Btn /T (late) /AS /Off",
            b"/Subtype /Widget /FT /Ch /T (room) /Opt [[(1) (Single)] [(2) (Double)]] /V (2)",
        ],
        b"<< /FT /Tx /T (fee) /V (450) /Kids [6 0 R] >>",
        catalog=b"/AcroForm << /Fields [9 0 R 7 0 R 8 0 R] >>",
    )
    text = read_document(data, "form.pdf").text
    assert "- fee: 450" in text
    assert "- late: not ticked" in text
    assert "- room: Double" in text


def test_a_comment_names_its_passage_and_a_struck_one_is_struck() -> None:
    quad = b"/QuadPoints [18 212 66 212 18 196 66 196]"
    data = raw_pdf(
        [
            b"/Subtype /Highlight /T (Ann) /Contents (Too dear?) " + quad,
            b"/Subtype /StrikeOut /T (Bo) " + quad,
            b"/Subtype /Highlight " + quad,
            b"/Subtype /Caret /Contents (Meals)",
            b"/Subtype /Stamp /Name /Approved",
        ]
    )
    assert read_document(data, "a.pdf").sections[0].text == (
        "[struck: Lodging]\n\nComments:\n- [comment on 'Lodging' by Ann: Too dear?]\n"
        "- [highlighted: Lodging]\n- [insertion: Meals]\n- [stamp: Approved]"
    )


def test_text_on_a_layer_that_is_off_is_hidden() -> None:
    text = b"/OC /%s BDC BT /F1 12 Tf 20 %d Td (%s) Tj ET EMC "
    data = raw_pdf(
        [],
        b"<< /Type /OCG /Name (2023) >>",
        b"<< /Type /OCG /Name (2024) >>",
        catalog=b"/OCProperties << /OCGs [6 0 R 7 0 R] /D << /OFF [6 0 R] >> >>",
        resources=b"/Properties << /Old 6 0 R /New 7 0 R >>",
        more=text % (b"Old", 180, b"EUR 80") + text % (b"New", 160, b"EUR 90"),
    )
    text_of_page = read_document(data, "a.pdf").sections[0].text
    assert text_of_page == "Lodging\n[hidden text, on a layer that is off: EUR 80]\nEUR 90"


def test_a_bookmark_is_a_heading() -> None:
    document = FPDF()
    document.set_font("helvetica", size=12)
    document.add_page()
    document.start_section("Annex B")
    document.multi_cell(0, 6, "Rates\nAnnex B\nEUR 80")
    read = read_document(bytes(document.output()), "a.pdf")
    assert read.sections[0].text == "Rates\n\n### Annex B\n\nEUR 80"


def test_a_scan_with_a_stamp_of_the_scanner_says_that_its_text_is_missing() -> None:
    picture = Image.new("RGB", (800, 1100), "grey")
    document = FPDF()
    document.set_font("helvetica", size=8)
    for text in ("Scanned by DeskScan 3", "A page of words"):
        document.add_page()
        if text.startswith("Scanned"):
            document.image(picture, 0, 0, 210, 297)
        document.text(10, 290, text)
    read = read_document(bytes(document.output()), "a.pdf")
    assert PICTURE.format(1) in read.sections[0].text
    assert PICTURE.format(2) not in read.sections[1].text
    assert read.note.startswith("Page 1 has no text, or little: inspect_image(path, page)")
