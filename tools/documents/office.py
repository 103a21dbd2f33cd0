"""Word documents (.docx) and presentations (.pptx) through `unstructured`, and what it omits.

Of a document these are footnotes and comments, what tracked changes insert, what stands in content controls
(the fields of a form), fields and text boxes, formulas as one line, and which words are raised (^1^) or
struck out (~~12~~); what tracked changes delete is left out. Of slides these are notes and comments, which
come through python-pptx.

The first use of `unstructured` downloads a spaCy model, which only tells prose from titles; a blank pipeline
with a sentence splitter does for that. The function replaced is private to unstructured, so pyproject.toml
pins the series, and a test reads a document with sockets off, which fails should the function move.
"""

from __future__ import annotations

import io
import os
import re
import warnings
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from forethought.tools.documents.archive import parse_xml
from forethought.tools.documents.document import Document, Section
from forethought.tools.documents.tables import html_rows, markdown_table

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
    module: Any = partitioner("docx")
    module.is_bulleted_text = lambda text: False  # would take a footnote's star or a minus for a bullet
    elements = module.partition_docx(file=io.BytesIO(_plain(data)), languages=[""], include_page_breaks=False)
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
    for run in root.iter(f"{_W}r"):
        for text in run.iter(f"{_W}t"):
            text.text = _marked(run, text.text or "")
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


def _marked(run: Any, text: str) -> str:
    """The text of a run: raised, else a footnote's mark would become a digit of a number; or struck out."""
    raised, struck = (run.find(f"{_W}rPr/{_W}{name}") for name in ("vertAlign", "strike"))
    words = marked = text.strip()
    if words.isalnum() and raised is not None and raised.get(f"{_W}val") == "superscript":
        marked = f"^{marked}^"
    if words and struck is not None and struck.get(f"{_W}val") not in ("0", "false"):
        marked = f"~~{marked}~~"
    return text.replace(words, marked)


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


_COMMENT_TEXT = (
    "{http://schemas.openxmlformats.org/presentationml/2006/main}text",
    "{http://schemas.openxmlformats.org/drawingml/2006/main}t",
)


def read_pptx(data: bytes) -> Document:
    """A section a slide: title, text, tables, notes, comments, and the number of charts and pictures."""
    module = partitioner("pptx")
    from pptx import Presentation

    by_slide: dict[int, list[Any]] = defaultdict(list)
    for element in module.partition_pptx(file=io.BytesIO(data), languages=[""], include_page_breaks=False):
        by_slide[element.metadata.page_number].append(element)
    slides = list(Presentation(io.BytesIO(data)).slides)
    sections = []
    for number, slide in enumerate(slides, 1):
        hidden = ", hidden" if slide.element.get("show") in ("0", "false") else ""
        body = markdown(by_slide[number], heading_level=3, deepest_heading=3)
        pieces = [body, _not_shown(slide), _speaker_notes(slide), _comments(slide)]
        text = "\n\n".join(filter(None, pieces)) or "(This slide has no text.)"
        sections.append(Section(text, str(number), f"## Slide {number} of {len(slides)}{hidden}"))
    return Document(tuple(sections), unit="slide")


def _speaker_notes(slide: Any) -> str:
    """The text of the notes page, which some programs keep in a plain text box; not its page number."""
    if not slide.has_notes_slide:
        return ""
    shapes = [shape for shape in slide.notes_slide.shapes if shape.has_text_frame and not _furniture(shape)]
    texts = [text for shape in shapes if (text := shape.text_frame.text.strip())]
    return "Speaker notes: " + "\n".join(texts) if texts else ""


def _furniture(shape: Any) -> bool:
    """Whether it is the header, footer, date or number of a page."""
    from pptx.enum.shapes import PP_PLACEHOLDER as KIND

    furniture = (KIND.HEADER, KIND.FOOTER, KIND.DATE, KIND.SLIDE_NUMBER)
    return bool(shape.is_placeholder) and shape.placeholder_format.type in furniture


def _comments(slide: Any) -> str:
    """Remarks of reviewers, which PowerPoint keeps in two forms: old, and threaded."""
    parts = [rel.target_part for rel in slide.part.rels.values() if rel.reltype.endswith("/comments")]
    notes: list[str] = []
    for part in parts:
        for comment in parse_xml(part.blob).iter("{*}cm", "{*}reply"):
            own = (e for child in comment if not child.tag.endswith("}replyLst") for e in child.iter())
            text = "".join(e.text or "" for e in own if e.tag in _COMMENT_TEXT)
            notes.append(f"- {' '.join(text.split())}")
    return "\n".join(["Comments:", *notes]) if notes else ""


def _not_shown(slide: Any) -> str:
    from pptx.enum.shapes import MSO_SHAPE_TYPE

    charts = sum(bool(shape.has_chart) for shape in slide.shapes)
    pictures = sum(shape.shape_type == MSO_SHAPE_TYPE.PICTURE for shape in slide.shapes)
    counted = [f"{n} {what}{'s' * (n > 1)}" for n, what in ((charts, "chart"), (pictures, "picture")) if n]
    return f"(Not shown as text: {' and '.join(counted)}.)" if counted else ""


_QUIET = {"SCARF_NO_ANALYTICS": "true", "DO_NOT_TRACK": "true", "UNSTRUCTURED_DISABLE_NOTICE": "1"}
_OWN_MARK = re.compile(r"\(?[\dA-Za-z]{1,4}[.)]\s|\*")


def partitioner(kind: str) -> ModuleType:
    """The module unstructured.partition.KIND, ready for work offline. The first call takes seconds."""
    _prepare()
    return import_module(f"unstructured.partition.{kind}")


@cache
def _prepare() -> None:
    os.environ.update(_QUIET)  # read when unstructured is imported
    warnings.filterwarnings("ignore", module=r"(spacy|unstructured|docx|pptx)\b")
    spacy = import_module("spacy")
    tokenizer: Any = import_module("unstructured.nlp.tokenize")
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    tokenizer._get_nlp = lambda: pipeline


def markdown(elements: Iterable[Any], heading_level: int = 1, deepest_heading: int = 6) -> str:
    """Elements as Markdown: titles as headings, list items as lists, tables as tables, others as paragraphs.

    Args:
        elements: Elements of unstructured, in the document's order.
        heading_level: Level of the topmost heading.
        deepest_heading: Titles deeper than this count as list items (short lines of a slide's body look
            like titles).
    """
    pieces: list[str] = []
    listing = False
    for element in elements:
        depth = element.metadata.category_depth or 0
        kind = element.category
        if kind == "Title" and depth + heading_level > deepest_heading:
            kind, depth = "ListItem", depth - 1
        text = _element(element, kind, depth + heading_level)
        if not text.strip():
            continue
        if kind == "ListItem":
            item = "  " * depth + (text if _OWN_MARK.match(text) else f"- {text}")
            if listing:
                pieces[-1] += f"\n{item}"
            else:
                pieces.append(item)
        else:
            pieces.append(text)
        listing = kind == "ListItem"
    return "\n\n".join(pieces)


def _element(element: Any, kind: str, level: int) -> str:
    if kind == "Table" and element.metadata.text_as_html:
        from bs4 import BeautifulSoup

        return markdown_table(html_rows(BeautifulSoup(element.metadata.text_as_html, "lxml")))
    text = str(element.text).strip()
    if kind == "Title":
        return f"{'#' * min(level, 6)} {' '.join(text.split())}"
    if kind in ("Header", "Footer") and text:
        return f"({kind} of the pages: {' '.join(text.split())})"
    return " ".join(text.split()) if kind == "ListItem" else text
