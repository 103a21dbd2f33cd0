"""Word documents (.docx) through `unstructured`, and what it omits: footnotes and comments, what tracked
changes insert, what stands in content controls (the fields of a form), fields and text boxes, and formulas as
one line. What tracked changes delete is left out.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from forethought.tools.documents.archive import parse_xml
from forethought.tools.documents.document import Document, Section
from forethought.tools.documents.unstructured import markdown, partitioner

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_PARTS = re.compile(r"word/(document|header\d*|footer\d*)\.xml")
_DROPPED = tuple(_W + name for name in ("del", "moveFrom", "sdtPr", "sdtEndPr", "smartTagPr", "customXmlPr"))
_WRAPPERS = (
    *(_W + name for name in ("ins", "moveTo", "sdt", "sdtContent", "smartTag", "customXml")),
    *(_W + name for name in ("fldSimple", "dir", "bdo")),
    f"{_M}oMathPara",
)
_SIGNS = {"sup": "^({})", "sub": "_({})", "den": "/({})", "num": "({})", "rad": "root({})"}
"""How parts of a formula read on one line; of any other the text alone."""
_GAPS = tuple(_W + name for name in ("p", "tab", "br", "cr"))
_NOTES = {"footnotes": "Footnotes", "endnotes": "Endnotes", "comments": "Comments"}


def read_docx(data: bytes) -> Document:
    """Headings, paragraphs, lists and tables in order, then footnotes, endnotes and comments."""
    elements = partitioner("docx").partition_docx(
        file=io.BytesIO(_plain(data)), languages=[""], include_page_breaks=False
    )
    return Document((Section("\n\n".join(filter(None, [markdown(elements), *_notes(data)]))),))


def _notes(data: bytes) -> Iterator[str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for part, title in _NOTES.items():
            if f"word/{part}.xml" not in archive.namelist():
                continue
            root = parse_xml(archive.read(f"word/{part}.xml"))
            texts = (" ".join("".join(map(_piece, note.iter())).split()) for note in root)
            if notes := [f"- {text}" for text in texts if text]:
                yield "\n".join([f"{title}:", *notes])


def _piece(element: Any) -> str:
    """What an element of a note adds to its text: words, or what stands between them."""
    if element.tag == f"{_W}t":
        return element.text or ""
    return " " if element.tag in _GAPS else ""


def _plain(data: bytes) -> bytes:
    """The document as if all its changes were accepted and all its controls and boxes were plain text."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w") as target:
        for member in source.infolist():
            content = source.read(member)
            target.writestr(
                member.filename, _unwrapped(content) if _PARTS.fullmatch(member.filename) else content
            )
    return out.getvalue()


def _unwrapped(content: bytes) -> bytes:
    from lxml import etree  # type: ignore[import-untyped]

    root = parse_xml(content)
    for fallback in list(root.iter(_FALLBACK)):  # says what its neighbour says, for older programs
        if any(True for _ in fallback.itersiblings(preceding=True)):
            fallback.getparent().remove(fallback)
    for element in list(root.iter(*_DROPPED)):
        element.getparent().remove(element)
    for box in list(root.iter(f"{_W}txbxContent")):
        # Its paragraphs and tables go behind the paragraph that it hangs on.
        for child in reversed(list(box)):
            next(box.iterancestors(f"{_W}p")).addnext(child)
    for formula in list(root.iter(f"{_M}oMath")):
        run = etree.Element(f"{_W}r")
        etree.SubElement(run, f"{_W}t").text = _line(formula)
        run.tail = formula.tail
        formula.getparent().replace(formula, run)
    for wrapper in reversed(list(root.iter(*_WRAPPERS))):  # the innermost first
        parent = wrapper.getparent()
        at = parent.index(wrapper)
        parent[at : at + 1] = list(wrapper)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True))


def _line(part: Any) -> str:
    """A formula or a part of one as a line of text."""
    name = str(part.tag).removeprefix(_M)
    if name == "t":
        return part.text or ""
    text = "".join(map(_line, part))
    if name == "nary":  # a sum, or an integral where no sign is given
        sign = part.find(f"{_M}naryPr/{_M}chr")
        return ("∫" if sign is None else sign.get(f"{_M}val", "∫")) + text
    return _SIGNS.get(name, "{}").format(text) if text else ""
