from __future__ import annotations

import pytest

from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.formats import read_document
from tests.tools.documents import bombs

CONTAINER = '<container><rootfile full-path="OEBPS/b.opf"/></container>'
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">
<metadata><dc:title>Tea</dc:title><dc:creator>Ana</dc:creator><dc:creator>Ben</dc:creator></metadata>
<manifest><item id="two" href="text/two%20.xhtml"/><item id="one" href="../one.xhtml"/>
<item id="no" href="x.css"/><item id="gone" href="gone.xhtml"/>
<item id="out" href="../../../../etc/passwd"/></manifest>
<spine><itemref idref="one"/><itemref idref="two"/><itemref idref="gone"/>
<itemref idref="out"/><itemref idref="one"/></spine></package>"""


def test_chapters_come_once_in_the_order_of_the_spine() -> None:
    book = bombs.zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "OEBPS/b.opf": PACKAGE,
            "one.xhtml": "<?xml version='1.0'?><!DOCTYPE html><html><h1>One</h1><p>Zürich</p></html>",
            "OEBPS/text/two .xhtml": "<html><body><table><tr><td>a</td><td>b</td></tr></table></body></html>",
        }
    )
    document = read_document(book, "tea.epub")
    assert document.note == "E-book: Tea by Ana, Ben."
    assert document.text == (
        "## Chapter 1 of 2\n\n# One\n\nZürich\n\n## Chapter 2 of 2\n\n| a | b |\n| --- | --- |"
    )
    assert document.where(["1", "2"]) == "chapters 1-2 of 2"


@pytest.mark.parametrize(
    "members",
    [{}, {"OEBPS/b.opf": "x"}, {"OEBPS/b.opf": "<package/>"}, {"META-INF/container.xml": "<container/>"}],
)
def test_an_unusable_e_book_is_named(members: dict[str, bytes | str]) -> None:
    book = {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER, **members}
    with pytest.raises(Unreadable, match=r"damaged|no chapter"):
        read_document(bombs.zipped(book), "a.epub")
