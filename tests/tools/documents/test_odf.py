"""OpenDocument texts: marks on text."""

from __future__ import annotations

import io
import zipfile

import pytest

from forethought.tools.documents.formats import read_document

NAMES = {
    "text": "text", "table": "table", "draw": "drawing", "office": "office", "style": "style",
    "fo": "xsl-fo-compatible",
}  # fmt: skip
STYLES = (
    "<style:style style:name='S'><style:text-properties style:text-line-through-style='solid'/></style:style>"
    "<style:style style:name='H'><style:text-properties text:display='none'/></style:style>"
    "<style:style style:name='R'><style:text-properties style:text-position='super 58%'/></style:style>"
)
CHANGES = (
    "<text:tracked-changes>"
    "<text:changed-region text:id='c1'><text:deletion><office:change-info><dc:creator>Anna</dc:creator>"
    "</office:change-info><text:p>450</text:p></text:deletion></text:changed-region>"
    "<text:changed-region text:id='c2'><text:insertion><office:change-info><dc:creator>Bo</dc:creator>"
    "</office:change-info></text:insertion></text:changed-region></text:tracked-changes>"
)


def odt(body: str, styles: str = STYLES) -> bytes:
    spaces = " ".join(f"xmlns:{k}='urn:oasis:names:tc:opendocument:xmlns:{v}:1.0'" for k, v in NAMES.items())
    content = (
        f"<office:document-content {spaces} xmlns:dc='http://purl.org/dc/elements/1.1/' "
        f"xmlns:xlink='http://www.w3.org/1999/xlink'><office:automatic-styles>{styles}"
        f"</office:automatic-styles><office:body><office:text>{body}</office:text></office:body>"
        "</office:document-content>"
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"{CHANGES}<text:p>Fee <text:change text:change-id='c1'/><text:change-start text:change-id='c2'/>540"
         "<text:change-end text:change-id='c2'/> net</text:p>",
         "Fee [deleted by Anna: 450] [inserted by Bo: 540] net"),
        ("<text:p>Fee <text:span text:style-name='S'>450</text:span></text:p>", "Fee [struck: 450]"),
        ("<text:p>Fee <text:span text:style-name='H'>450</text:span></text:p>", "Fee [hidden text: 450]"),
        ("<text:p>450<text:span text:style-name='R'>2</text:span></text:p>", "450^2^"),
        ("<text:p>Fee<text:s text:c='2'/>4<text:tab/>5</text:p>", "Fee  4\t5"),
        ("<text:p>See <text:a xlink:href='https://example.org'>rules</text:a></text:p>",
         "See [rules](https://example.org)"),
        ("<text:p>Lodging: <office:annotation office:name='n'><dc:creator>Ann</dc:creator>"
         "<text:p>450?</text:p></office:annotation>the fee<office:annotation-end office:name='n'/>.</text:p>",
         "Lodging: the fee [comment on 'the fee' by Ann: 450?]."),
        ("<text:p/><text:list><text:list-item><text:p>a</text:p><text:list><text:list-item><text:p>b</text:p>"
         "</text:list-item></text:list></text:list-item></text:list>", "- a\n  - b"),
    ],
)  # fmt: skip
def test_a_mark_is_beside_its_text(body: str, text: str) -> None:
    assert read_document(odt(body), "a.odt").text == text
