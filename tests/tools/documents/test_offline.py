from __future__ import annotations

import subprocess
import sys
from importlib import import_module

from forethought.tools.documents.offline import partitioner


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


def test_nothing_heavy_is_imported_before_a_file_is_read() -> None:
    heavy = (
        "unstructured",
        "spacy",
        "openpyxl",
        "pypdfium2",
        "docx",
        "pptx",
        "xlrd",
        "markdownify",
        "bs4",
        "lxml",
    )
    code = f"import sys, tools.documents.load; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
