from __future__ import annotations

import threading

import pytest
from fpdf import FPDF

from tools.documents.document import Document, Unreadable
from tools.documents.load import read_document
from tools.documents.pdf import NO_TEXT, read_pdf


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
        f"## Page 2 of 3\n\n{NO_TEXT}\n\n"
        "## Page 3 of 3\n\nAnnex"
    )
    assert document.where(["1", "2", "3"]) == "pages 1-3 of 3"


def test_a_scan_says_that_it_is_one_and_what_to_do() -> None:
    with pytest.raises(Unreadable, match="2 pages are images") as raised:
        read_document(pdf("", ""), "scan.pdf")
    assert raised.value.cause == "empty"
    assert "OCR" in raised.value.hint


def test_a_locked_pdf_says_that_it_is_locked() -> None:
    with pytest.raises(Unreadable, match="locked with a password") as raised:
        read_document(pdf("secret", password="hunter2"), "locked.pdf")
    assert "without the password" in raised.value.hint


def test_a_damaged_pdf_is_named_as_damaged() -> None:
    with pytest.raises(Unreadable, match="damaged"):
        read_document(b"%PDF-1.7\nnothing", "a.pdf")


def test_pdfs_read_at_the_same_time_do_not_disturb_each_other() -> None:
    data = [pdf(*[f"document {i} page {j}" for j in range(5)]) for i in range(4)]
    found: dict[int, Document] = {}
    threads = [
        threading.Thread(target=lambda i=i: found.update({i: read_document(data[i], "a.pdf")}))
        for i in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(f"document {i} page 4" in found[i].text for i in range(4))


def test_a_pdf_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not only by who waits for it: other PDFs wait, too."""
    monkeypatch.setattr("tools.documents.pdf.LONGEST_S", -1)
    with pytest.raises(Unreadable, match=r"too long|takes longer than -1 seconds to read \(2 pages\)"):
        read_pdf(pdf("one", "two"))
