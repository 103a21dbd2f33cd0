"""Parsers in processes of their own: limits of time, memory and text, crashes, and secrets."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from openpyxl import Workbook

from forethought.tools.base import ToolError
from forethought.tools.documents import reader
from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.formats import read_document
from forethought.tools.documents.reader import document_apart, load_document
from forethought.tools.files import FileStore


def merged_sheet() -> bytes:
    """A workbook of a few kilobytes that merges a whole sheet: 17 billion cells for its reader."""
    book, file = Workbook(), io.BytesIO()
    book.create_sheet("merged").merged_cells.add("A1:XFD1048576")
    book.save(file)
    return file.getvalue()


@pytest.fixture(autouse=True)
def no_process_left() -> Iterator[None]:
    yield
    for process in reader._idle:
        process.end()
    reader._idle.clear()


def idle_pid() -> int:
    return reader._idle[-1].process.pid


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_result_is_the_same_as_in_process_and_the_child_is_reused() -> None:
    data = "a;b\nČaj \ud83c;2\n".encode("utf-8", "surrogatepass")
    assert document_apart(data, "a.csv", 30) == read_document(data, "a.csv")
    first = idle_pid()
    assert document_apart(b"words", "a.docx", 30).note.startswith("The file is not .docx")
    assert idle_pid() == first
    with pytest.raises(Unreadable, match="is empty") as caught:
        document_apart(b"", "a.csv", 30)
    assert (caught.value.cause, idle_pid()) == ("empty", first)


def test_a_large_parent_does_not_cost_the_child_its_place() -> None:
    size = "import main; import forethought.tools.documents.child as c; c._TIRED = 40 << 20;"
    code = (
        "from forethought.tools.documents import reader; large = b'x' * (300 << 20);"
        f"reader._START = reader._START.replace('import main;', {size!r});"
        "reader.document_apart(b'x', 'a.txt', 30); print(len(reader._idle))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


def test_a_parser_over_its_time_limit_is_killed() -> None:
    document_apart(b"warm", "a.txt", 30)
    pid = idle_pid()
    with pytest.raises(Unreadable, match=r"longer than 0\.5 seconds") as caught:
        document_apart(merged_sheet(), "a.xlsx", 0.5)
    assert caught.value.cause == "timeout"
    assert (exists(pid), reader._idle) == (False, [])
    assert document_apart(b"again", "a.txt", 30).text == "again"


def test_a_crash_is_an_error_and_the_next_call_works(monkeypatch: pytest.MonkeyPatch) -> None:
    crashing = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    monkeypatch.setattr(reader, "_START", crashing)
    with pytest.raises(Unreadable, match="crashed") as caught:
        document_apart(b"words" * 100_000, "a.txt", 30)
    assert caught.value.cause == "limit"
    monkeypatch.undo()
    assert document_apart(b"again", "a.txt", 30).text == "again"


def test_a_child_that_died_while_idle_is_replaced() -> None:
    document_apart(b"words", "a.txt", 30)
    reader._idle[-1].process.kill()
    reader._idle[-1].process.wait()
    assert document_apart(b"again", "a.txt", 30).text == "again"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hold a limit of memory")
def test_a_parser_over_its_memory_limit_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    small = reader._START.replace(
        "import main;", "import main; import forethought.tools.documents.child as c; c.MEMORY = 120 << 20;"
    )
    monkeypatch.setattr(reader, "_START", small)
    with pytest.raises(Unreadable, match="memory") as caught:
        document_apart(b"x" * 45_000_000, "a.txt", 30)
    assert caught.value.cause == "limit"
    assert reader._idle == []


def test_a_document_over_the_text_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_TEXT", 5000)
    with pytest.raises(Unreadable, match="more text") as caught:
        document_apart(b"x" * 6000, "a.txt", 30)
    assert caught.value.cause == "limit"
    assert document_apart(b"x" * 600, "a.txt", 30).text == "x" * 600


def test_a_parser_has_no_keys_and_its_prints_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-of-the-user-0001")
    start = "from forethought.tools.documents.child import main"
    print_and_show_key = (
        "import os; from forethought.tools.documents import formats;"
        "from forethought.tools.documents.document import Document, Section;"
        "formats.READERS['text'] = lambda data: print('noise') or"
        f" Document((Section(os.environ.get('SOME_API_KEY', 'no key')),)); {start}"
    )
    monkeypatch.setattr(reader, "_START", reader._START.replace(start, print_and_show_key))
    assert document_apart(b"x", "a.txt", 30).text == "no key"


def test_idle_children_end_with_their_parent() -> None:
    code = (
        "from forethought.tools.documents import reader; reader.document_apart(b'x', 'a.txt', 30);"
        "print(reader._idle[0].process.pid)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not exists(int(done.stdout))


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

    def read(job: object, data: bytes, seconds: float) -> dict[str, object]:
        calls.append(data)
        time.sleep(0.05)
        return {"sections": [["text", "", ""]], "unit": "", "note": ""}

    monkeypatch.setattr(reader, "answer_apart", read)
    content_hash = store.put(b"read once")
    with ThreadPoolExecutor(4) as pool:
        texts = list(pool.map(lambda _: load_document(store, content_hash, "a.txt").text, range(8)))
    assert texts == ["text"] * 8
    assert calls == [b"read once"]
