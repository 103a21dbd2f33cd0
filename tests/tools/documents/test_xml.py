from __future__ import annotations

import pytest
from lxml import etree

from forethought.tools.documents.load import read_document
from forethought.tools.documents.xml import parse
from tests.tools.documents import bombs


@pytest.mark.parametrize(
    "xml", [bombs.BILLION_LAUGHS, bombs.EXTERNAL_ENTITY, bombs.PARAMETER_ENTITY, bombs.QUADRATIC]
)
def test_entities_are_text_like_any_other(xml: str) -> None:
    """Nothing is expanded, and no file or address is opened."""
    assert read_document(xml.encode(), "a.xml").text == xml


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-15", "windows-1252", "utf-16", "utf-8-sig"])
def test_the_declared_encoding_counts(encoding: str) -> None:
    declared = "utf-8" if encoding == "utf-8-sig" else encoding
    text = f'<?xml version="1.0" encoding="{declared}"?>\n<käse preis="3 €"/>'
    document = read_document(text.encode(encoding), "a.xml")
    assert (document.text, document.note) == (text, "")


def test_a_declaration_that_is_wrong_does_no_harm() -> None:
    for declared in ("x-nonsense", "ascii", "rot13", "base64"):
        text = f'<?xml version="1.0" encoding="{declared}"?><käse/>'
        assert read_document(text.encode(), "a.svg").text == text


@pytest.mark.parametrize(
    "xml", [bombs.BILLION_LAUGHS, bombs.EXTERNAL_ENTITY, bombs.PARAMETER_ENTITY, bombs.QUADRATIC]
)
def test_the_parser_expands_and_fetches_nothing(xml: str) -> None:
    """It is the one for parts of documents, from which entities are kept away besides."""
    try:
        text = "".join(parse(xml.encode()).itertext())
    except etree.XMLSyntaxError:
        return
    assert len(text) < 100
    assert "root:" not in text


def test_the_parser_has_a_limit_of_depth() -> None:
    with pytest.raises(etree.XMLSyntaxError):
        parse(("<a>" * 10_000 + "</a>" * 10_000).encode())
