from __future__ import annotations

import pytest
from fpdf import FPDF

from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.formats import read_document
from forethought.tools.documents.pdf import NO_TEXT


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


def with_annotations(*annotations: bytes) -> bytes:
    """Return a page that says 'Lodging', with these annotations."""
    stream = b"BT /F1 12 Tf 20 200 Td (Lodging) Tj ET"
    names = b" ".join(b"%d 0 R" % (6 + number) for number in range(len(annotations)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R /Annots [%s]"
        b" /Resources << /Font << /F1 5 0 R >> >> >>" % names,
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *(b"<< /Type /Annot /Rect [10 10 100 30] %s >>" % annotation for annotation in annotations),
    ]
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % item for item in enumerate(objects, 1))
    return b"%PDF-1.7\n" + body + b"trailer << /Size %d /Root 1 0 R >>\n%%%%EOF" % (len(objects) + 1)


def test_form_fields_and_comments_are_shown() -> None:
    data = with_annotations(
        b"/Subtype /Widget /FT /Tx /T (name) /V (Ann)",
        b"/Subtype /Widget /FT /Btn /T (agree) /TU (I agree) /V /Yes",
        b"/Subtype /Widget /FT /Btn /T (newsletter) /V /Off",
        b"/Subtype /Text /Contents (Ask Ana\nfirst)",
        b"/Subtype /FreeText /Contents <FEFF0038003020AC>",
        b"/Subtype /Popup /Contents (Ask Ana)",
        b"/Subtype /Link /A << /S /URI /URI (https://example.org) >>",
    )
    assert read_document(data, "form.pdf").sections[0].text == (
        "Lodging\n\nForm fields:\n- name: Ann\n- I agree: Yes\n\nComments:\n- Ask Ana first\n- 80€"
    )
