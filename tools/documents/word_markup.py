"""Text of a Word document that its readers skip, put where they find it: what tracked changes insert, what
stands in content controls (the fields of a form) and in text boxes. What tracked changes delete is left out.
"""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_PARTS = re.compile(r"word/(document|header\d*|footer\d*|footnotes|endnotes)\.xml")
_SPECIAL = re.compile(rb"<\w+:(ins|del|moveTo|moveFrom|sdt|smartTag|customXml|txbxContent)[\s>/]")
_WRAPPERS = tuple(_W + name for name in ("ins", "moveTo", "sdt", "sdtContent", "smartTag", "customXml"))
_DROPPED = tuple(_W + name for name in ("del", "moveFrom", "sdtPr", "sdtEndPr", "smartTagPr", "customXmlPr"))


def settled(data: bytes) -> bytes:
    """The document as if all its changes were accepted and all its controls and boxes were plain text."""
    out = io.BytesIO()
    changed = False
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w") as target:
        for member in source.infolist():
            content = source.read(member)
            if _PARTS.fullmatch(member.filename) and _SPECIAL.search(content):
                content, changed = _settled(content), True
            target.writestr(member.filename, content)
    return out.getvalue() if changed else data


def _settled(content: bytes) -> bytes:
    from lxml import etree  # type: ignore[import-untyped]

    root = etree.fromstring(content, etree.XMLParser(resolve_entities=False, no_network=True))
    for fallback in list(root.iter(_FALLBACK)):  # says what its neighbour says, for older programs
        if any(True for _ in fallback.itersiblings(preceding=True)):
            fallback.getparent().remove(fallback)
    for element in list(root.iter(*_DROPPED)):
        if element.getparent() is not None:
            element.getparent().remove(element)
    for box in list(root.iter(f"{_W}txbxContent")):
        _move_out(box)
    for wrapper in reversed(list(root.iter(*_WRAPPERS))):  # the innermost first
        _unwrap(wrapper)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True))


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
