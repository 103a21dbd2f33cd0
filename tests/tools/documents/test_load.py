from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from forethought.tools.base import ToolError
from forethought.tools.documents import load
from forethought.tools.documents.document import Document, Section
from forethought.tools.documents.load import load_document
from forethought.tools.files import FileStore

NAMES = [
    f"a.{suffix}" for suffix in ("txt", "html", "csv", "xlsx", "docx", "pptx", "pdf", "eml", "doc", "bin")
]
STARTS = [b"", b"PK\x03\x04", b"%PDF-1.7\n", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"<html>", b"\xef\xbb\xbf"]


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path)


@hypothesis_settings(
    deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(start=st.sampled_from(STARTS), data=st.binary(max_size=300), name=st.sampled_from(NAMES))
def test_random_bytes_are_read_or_refused(store: FileStore, start: bytes, data: bytes, name: str) -> None:
    content_hash = store.put(start + data)
    try:
        said = load_document(store, content_hash, name).text.strip()
    except ToolError as error:
        said = error.message if error.message.startswith(f"{name} ") and "\n" not in error.message else ""
    assert said, "neither a text nor one clear line"


def test_a_file_is_read_once_also_by_concurrent_calls(
    store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[bytes] = []

    def read(data: bytes, name: str, seconds: float) -> Document:
        calls.append(data)
        time.sleep(0.05)
        return Document((Section("text"),))

    monkeypatch.setattr(load, "document_apart", read)
    content_hash = store.put(b"read once")
    with ThreadPoolExecutor(4) as pool:
        texts = list(pool.map(lambda _: load_document(store, content_hash, "a.txt").text, range(8)))
    assert texts == ["text"] * 8
    assert calls == [b"read once"]
