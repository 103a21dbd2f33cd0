"""XML: the one safe way to parse it, and XML files as text (feeds, exports, drawings)."""

from __future__ import annotations

import re
from typing import Any

from forethought.tools.documents.document import Document, Section
from forethought.tools.documents.plain import decode

_DECLARED = re.compile(rb"""\A<\?xml[^>]{0,200}\bencoding\s*=\s*["']([\w.:-]{1,40})["']""")


def parse(data: bytes) -> Any:
    """The root element. No entity is expanded, no address or file is opened, depth and text are limited."""
    from lxml import etree  # type: ignore[import-untyped]

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    return etree.fromstring(data, parser)


def read_xml(data: bytes) -> Document:
    """The text as it stands. It is not parsed, so that nothing in it can be expanded or fetched."""
    declared = _DECLARED.match(data.lstrip(b"\xef\xbb\xbf"))
    if declared:
        try:
            text = data.decode(declared[1].decode("ascii"))
        except (LookupError, UnicodeError):
            text = ""
        if text and "\0" not in text:
            return Document((Section(text.removeprefix("\ufeff").replace("\r\n", "\n").strip("\n")),))
    text, note = decode(data)
    return Document((Section(text.strip("\n")),), note=note)
