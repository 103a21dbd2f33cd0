"""`unstructured` without the network, and the elements that it finds as Markdown.

Its first use downloads a spaCy model, which only tells prose from titles; a blank pipeline with a sentence
splitter does for that. The function replaced is private to unstructured, so pyproject.toml pins the series,
and a test reads a document with sockets off, which fails should the function move.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from forethought.tools.documents.tables import html_rows, markdown_table

_QUIET = {"SCARF_NO_ANALYTICS": "true", "DO_NOT_TRACK": "true", "UNSTRUCTURED_DISABLE_NOTICE": "1"}
_NUMBERED = re.compile(r"\(?[\dA-Za-z]{1,4}[.)]\s")


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
            item = "  " * depth + (text if _NUMBERED.match(text) else f"- {text}")
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
