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
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_PARTS = re.compile(r"word/(document|header\d*|footer\d*|footnotes|endnotes)\.xml")
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_SPECIAL = re.compile(
    rb"<\w+:(ins|del|moveTo|moveFrom|sdt|smartTag|customXml|txbxContent|fldSimple|dir|bdo|oMath)[\s>/]"
)
_WRAPPERS = (
    *(_W + name for name in ("ins", "moveTo", "sdt", "sdtContent", "smartTag", "customXml")),
    *(_W + name for name in ("fldSimple", "dir", "bdo")),
    f"{_M}oMathPara",
)
_SIGNS = {"sSup": "{e}^({sup})", "sSub": "{e}_({sub})", "sSubSup": "{e}_({sub})^({sup})",
          "f": "({num})/({den})", "rad": "root{deg}({e})", "d": "({e})", "func": "{fName}({e})",
          "nary": "{chr}_({sub})^({sup})({e})"}  # fmt: skip
"""How parts of a formula read on one line; of any other the text alone."""
_DROPPED = tuple(_W + name for name in ("del", "moveFrom", "sdtPr", "sdtEndPr", "smartTagPr", "customXmlPr"))

_GAPS = tuple(_W + name for name in ("p", "tab", "br", "cr"))
_APART = {"footnotes": "Footnotes", "endnotes": "Endnotes", "comments": "Comments"}


def read_docx(data: bytes) -> Document:
    """Headings, paragraphs, lists and tables in order, then footnotes, endnotes and comments."""
    data = accept_changes(data)
    elements = partitioner("docx").partition_docx(
        file=io.BytesIO(data), languages=[""], include_page_breaks=False
    )
    pieces = [markdown(elements), *_apart(data)]
    return Document((Section("\n\n".join(filter(None, pieces))),))


def _apart(data: bytes) -> Iterator[str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = set(archive.namelist())
        for part, title in _APART.items():
            if f"word/{part}.xml" not in members:
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


def accept_changes(data: bytes) -> bytes:
    """The document as if all its changes were accepted and all its controls and boxes were plain text."""
    out = io.BytesIO()
    changed = False
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w") as target:
        for member in source.infolist():
            content = source.read(member)
            if _PARTS.fullmatch(member.filename) and _SPECIAL.search(content):
                content, changed = _accept(content), True
            target.writestr(member.filename, content)
    return out.getvalue() if changed else data


def _accept(content: bytes) -> bytes:
    from lxml import etree  # type: ignore[import-untyped]

    root = parse_xml(content)
    for fallback in list(root.iter(_FALLBACK)):  # says what its neighbour says, for older programs
        if any(True for _ in fallback.itersiblings(preceding=True)):
            fallback.getparent().remove(fallback)
    for element in list(root.iter(*_DROPPED)):
        if element.getparent() is not None:
            element.getparent().remove(element)
    for box in list(root.iter(f"{_W}txbxContent")):
        _move_out(box)
    for formula in list(root.iter(f"{_M}oMath")):
        _in_words(formula)
    for wrapper in reversed(list(root.iter(*_WRAPPERS))):  # the innermost first
        _unwrap(wrapper)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True))


def _in_words(formula: Any) -> None:
    """Put a run with the formula's text in its place."""
    from lxml import etree

    run = etree.Element(f"{_W}r")
    text = etree.SubElement(run, f"{_W}t")
    text.text, run.tail = _line(formula), formula.tail
    if formula.getparent() is not None:
        formula.getparent().replace(formula, run)


def _line(part: Any) -> str:
    """A formula or a part of one as a line of text."""
    if part.tag == f"{_M}t":
        return part.text or ""
    children = [child for child in part if isinstance(child.tag, str)]
    sign = _SIGNS.get(part.tag.removeprefix(_M))
    if sign is None or not part.tag.startswith(_M):
        return "".join(_line(child) for child in children)
    parts = dict.fromkeys(("e", "sup", "sub", "num", "den", "deg", "fName"), "")
    for child in children:
        name = child.tag.removeprefix(_M)
        parts[name] = ", ".join(filter(None, (parts.get(name, ""), _line(child))))
    kind = next((mark.get(f"{_M}val") for mark in part.iter(f"{_M}chr")), None)
    return sign.format(**{**parts, "chr": kind or "∫", "deg": f"[{parts['deg']}]" if parts["deg"] else ""})


def _move_out(box: Any) -> None:
    """Put the paragraphs and tables of a text box behind the paragraph that it hangs on."""
    anchor = next(box.iterancestors(f"{_W}p"), None)
    if anchor is not None:
        for child in reversed(list(box)):
            anchor.addnext(child)


def _unwrap(wrapper: Any) -> None:
    parent = wrapper.getparent()
    if parent is not None:
        at = parent.index(wrapper)
        parent[at : at + 1] = list(wrapper)
