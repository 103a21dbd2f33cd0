"""Plain files in any encoding, archives, databases, notebooks, OpenDocument files, and mere first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sqlite3
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.documents.builders.parts import zipped

PACKERS: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def text(text: str, *, encoding: str = "utf-8", times: int = 1, head: str = "", tail: str = "") -> bytes:
    """A text in an encoding, repeated between a head and a tail; '{n}' in it counts."""
    lines = (text.replace("{n}", str(number)) for number in range(1, times + 1))
    return (head + "".join(lines) + tail).encode(encoding)


def binary(start: str, *, inside: str = "") -> bytes:
    """Bytes that no text has after these first ones (hex), with a text in them."""
    filling = bytes(range(128, 256)) * 4
    return (bytes.fromhex(start) + filling + inside.encode("utf-16-le")).ljust(4000, b"\x93")


def archive(*, files: Mapping[str, bytes] = {}, grow: int = 0, how: str = "") -> bytes:
    """A zip archive of files, and of `grow` texts; `how`: locked (marked so) or cp437 (names)."""
    texts = {f"f{n}.txt": f"name {n}" for n in range(1, grow + 1)}
    data = zipped({**files, **texts}, old=how == "cp437")
    if how == "locked":
        data = _flagged(_flagged(data, b"PK\x03\x04", 6), b"PK\x01\x02", 8)
    return data


def _flagged(data: bytes, signature: bytes, at: int) -> bytes:
    """The archive with the flag of a password in each header of this signature."""
    first, *headers = data.split(signature)
    return first + b"".join(
        signature + each[: at - 4] + bytes([each[at - 4] | 1]) + each[at - 3 :] for each in headers
    )


def tar(*, files: Mapping[str, bytes]) -> bytes:
    """A tar archive."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as made:
        for name, data in files.items():
            about = tarfile.TarInfo(name)
            about.size = len(data)
            made.addfile(about, io.BytesIO(data))
    return file.getvalue()


def sqlite(sql: str) -> bytes:
    """A database that these statements make."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(sql)
    return connection.serialize()


def parquet(query: str) -> bytes:
    """What DuckDB's query gives."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.parquet")
        duckdb.sql(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
        return path.read_bytes()


def notebook(source: str, *, out: Mapping[str, Any]) -> bytes:
    """A Jupyter notebook of one cell; `out` is its output; PICTURE in it becomes a picture's data."""
    output = json.loads(json.dumps(out).replace("PICTURE", "iVBORw0KGgo" + "A" * 5000))
    cell = {
        "cell_type": "code",
        "source": [source],
        "metadata": {},
        "execution_count": 1,
        "outputs": [output],
    }
    return json.dumps({"cells": [cell], "nbformat": 4, "nbformat_minor": 4, "metadata": {}}).encode()


_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_SPACES = {
    **{name: f"{_ODF}:{name}:1.0" for name in ("office", "text", "table", "style")},
    "draw": f"{_ODF}:drawing:1.0",
    "dc": "http://purl.org/dc/elements/1.1/",
}


def open_document(kind: str, *, xml: str) -> bytes:
    """An OpenDocument file of this body."""
    media = f"application/vnd.oasis.opendocument.{kind}"
    spaces = " ".join(f'xmlns:{name}="{uri}"' for name, uri in _SPACES.items())
    body = f"<office:body><office:{kind}>{xml}</office:{kind}></office:body>"
    files = (("/", media), ("content.xml", "text/xml"))
    entries = (f'<m:file-entry m:full-path="{path}" m:media-type="{about}"/>' for path, about in files)
    content = f'<office:document-content {spaces} office:version="1.2">{body}</office:document-content>'
    manifest = f'<m:manifest xmlns:m="{_ODF}:manifest:1.0">{"".join(entries)}</m:manifest>'
    return zipped({"mimetype": media, "content.xml": content, "META-INF/manifest.xml": manifest})


BUILDERS: dict[str, Callable[..., bytes]] = {
    "text": text, "binary": binary, "zip": archive, "tar": tar, "sqlite": sqlite, "parquet": parquet,
    "ipynb": notebook, "odt": partial(open_document, "text"), "ods": partial(open_document, "spreadsheet"),
    "odp": partial(open_document, "presentation"),
}  # fmt: skip
