"""`unstructured` without the network.

Its first use downloads a spaCy model, which only tells prose from titles; a blank pipeline with a sentence
splitter does for that. The function replaced is private to unstructured, so pyproject.toml pins the series,
and a test reads a document with sockets off, which fails should the function move.
"""

from __future__ import annotations

import os
import warnings
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any

_QUIET = {"SCARF_NO_ANALYTICS": "true", "DO_NOT_TRACK": "true", "UNSTRUCTURED_DISABLE_NOTICE": "1"}


def partitioner(kind: str) -> ModuleType:
    """The module unstructured.partition.KIND, ready for work offline. The first call takes seconds."""
    _prepare()
    return import_module(f"unstructured.partition.{kind}")


@lru_cache(maxsize=1)
def _prepare() -> None:
    os.environ.update(_QUIET)  # read when unstructured is imported
    warnings.filterwarnings("ignore", module=r"(spacy|unstructured|docx|pptx)\b")
    spacy = import_module("spacy")
    tokenizer: Any = import_module("unstructured.nlp.tokenize")
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    if not hasattr(tokenizer, "_get_nlp"):
        raise RuntimeError(
            "this version of unstructured is not supported; install 'unstructured>=0.27,<0.28'"
        )
    tokenizer._get_nlp = lambda: pipeline
