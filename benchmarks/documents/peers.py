"""Other readers, in an environment of their own: `python peers.py NAME` reads paths from its input.

Each line is a path; each answer a line {text, error, seconds}. It imports nothing of the project.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable
from typing import Any


def _markitdown() -> Callable[[str], str]:
    from markitdown import MarkItDown

    reader = MarkItDown()
    return lambda path: str(reader.convert(path).text_content)


def _kreuzberg() -> Callable[[str], str]:
    from kreuzberg import extract_file_sync

    return lambda path: str(extract_file_sync(path).content)


def _unstructured() -> Callable[[str], str]:
    import spacy
    from unstructured.nlp import tokenize
    from unstructured.partition.auto import partition

    sentences = spacy.blank("en")  # its model, which tells titles from prose, would be a download
    sentences.add_pipe("sentencizer")
    tokenize._load_spacy_model = lambda: sentences

    def read(path: str) -> str:
        elements: list[Any] = partition(filename=path, strategy="fast", languages=[""])
        return "\n\n".join(getattr(each.metadata, "text_as_html", None) or str(each) for each in elements)

    return read


def _docling() -> Callable[[str], str]:
    from docling.document_converter import DocumentConverter

    reader = DocumentConverter()
    return lambda path: str(reader.convert(path).document.export_to_markdown())


READERS: dict[str, Callable[[], Callable[[str], str]]] = {
    "markitdown": _markitdown, "kreuzberg": _kreuzberg, "unstructured": _unstructured, "docling": _docling,
}  # fmt: skip


def main() -> None:
    """Serve until the input ends."""
    answers = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):  # a reader's own output is no answer
        read = READERS[sys.argv[1]]()
        for line in sys.stdin:
            began, text, error = time.monotonic(), "", ""
            try:
                text = read(line.rstrip("\n"))
            except BaseException as raised:  # a reader may raise just anything
                error = f"{type(raised).__name__}: {raised}"[:300]
            answer = {"text": text, "error": error, "seconds": time.monotonic() - began}
            print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
