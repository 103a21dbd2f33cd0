"""Make a file's bytes from its description: `make(name, description)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

from benchmarks.documents.builders.data import BUILDERS as DATA
from benchmarks.documents.builders.data import PACKERS
from benchmarks.documents.builders.mail import BUILDERS as MAIL
from benchmarks.documents.builders.pdfs import pdf
from benchmarks.documents.builders.pictures import BUILDERS as PICTURES
from benchmarks.documents.builders.slides import pptx
from benchmarks.documents.builders.word import docx
from benchmarks.documents.builders.workbooks import xls, xlsx

Builder = Callable[..., bytes]
BUILDERS: dict[str, Builder] = {
    **DATA, **PICTURES, **MAIL, "pdf": pdf, "pptx": pptx, "docx": docx, "docm": docx, "xlsx": xlsx,
    "xls": xls,
}  # fmt: skip
"""By the kind of a file."""
CONTAINERS = ("eml", "msg", "mbox", "zip", "tar", "docx", "tnef")
"""Kinds whose description has other files in it, under `files`: descriptions or texts."""


def make(name: str, given: Mapping[str, Any]) -> bytes:
    """The bytes of the file `name`.

    Args:
        name: Its ending is the kind, unless `given` has `as`.
        given: The builder's arguments. `files` is a mapping of names to descriptions.
    """
    options = dict(given)
    kind = options.pop("as", PurePosixPath(name).suffix.lower().lstrip("."))
    pack = options.pop("pack", "")
    if kind in CONTAINERS and "files" in options:
        options["files"] = {
            inner: about.encode() if isinstance(about, str) else make(inner, about)
            for inner, about in options["files"].items()
        }
    data = BUILDERS.get(kind, BUILDERS["text"])(**options)
    return PACKERS[pack](data) if pack else data
