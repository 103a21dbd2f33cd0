from __future__ import annotations

from importlib import import_module

from forethought.tools.documents.unstructured import partitioner


def test_unstructured_works_without_the_network() -> None:
    partitioner("docx")
    tokenizer = import_module("unstructured.nlp.tokenize")
    assert tokenizer._get_nlp().pipe_names == ["sentencizer"], (
        "the pipeline that unstructured itself would use"
    )
    assert tokenizer.sent_tokenize("One. Two.") == ["One.", "Two."], (
        "with sockets off, a download would fail here"
    )
    assert [element.text for element in partitioner("text").partition_text(text="Some plain words.")]
