"""Parsers in processes of their own: limits of time, memory and text, crashes, and secrets."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from openpyxl import Workbook

from forethought.tools.documents import apart
from forethought.tools.documents.apart import document_apart
from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.read import read_document


def merged_sheet() -> bytes:
    """A workbook of a few kilobytes that merges a whole sheet: 17 billion cells for its reader."""
    book, file = Workbook(), io.BytesIO()
    book.create_sheet("merged").merged_cells.add("A1:XFD1048576")
    book.save(file)
    return file.getvalue()


@pytest.fixture(autouse=True)
def no_process_left() -> Iterator[None]:
    yield
    for reader in apart._idle:
        reader.end()
    apart._idle.clear()


def idle_pid() -> int:
    return apart._idle[-1].process.pid


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
        "from forethought.tools.documents import apart; large = b'x' * (300 << 20);"
        f"apart._START = apart._START.replace('import main;', {size!r});"
        "apart.document_apart(b'x', 'a.txt', 30); print(len(apart._idle))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


def test_a_parser_over_its_time_limit_is_killed() -> None:
    document_apart(b"warm", "a.txt", 30)
    pid, began = idle_pid(), time.monotonic()
    with pytest.raises(Unreadable, match=r"longer than 0\.5 seconds") as caught:
        document_apart(merged_sheet(), "a.xlsx", 0.5)
    assert caught.value.cause == "timeout"
    assert time.monotonic() - began < 5
    assert (exists(pid), apart._idle) == (False, [])
    assert document_apart(b"again", "a.txt", 30).text == "again"


def test_a_crash_is_an_error_and_the_next_call_works(monkeypatch: pytest.MonkeyPatch) -> None:
    crashing = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    monkeypatch.setattr(apart, "_START", crashing)
    with pytest.raises(Unreadable, match="crashed") as caught:
        document_apart(b"words" * 100_000, "a.txt", 30)
    assert caught.value.cause == "limit"
    monkeypatch.undo()
    assert document_apart(b"again", "a.txt", 30).text == "again"


def test_a_child_that_died_while_idle_is_replaced() -> None:
    document_apart(b"words", "a.txt", 30)
    apart._idle[-1].process.kill()
    apart._idle[-1].process.wait()
    assert document_apart(b"again", "a.txt", 30).text == "again"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hold a limit of memory")
def test_a_parser_over_its_memory_limit_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    small = apart._START.replace(
        "import main;", "import main; import forethought.tools.documents.child as c; c.MEMORY = 120 << 20;"
    )
    monkeypatch.setattr(apart, "_START", small)
    with pytest.raises(Unreadable, match="memory") as caught:
        document_apart(b"x" * 45_000_000, "a.txt", 30)
    assert caught.value.cause == "limit"
    assert apart._idle == []


def test_a_document_over_the_text_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "MOST_TEXT", 5000)
    with pytest.raises(Unreadable, match="more text") as caught:
        document_apart(b"x" * 6000, "a.txt", 30)
    assert caught.value.cause == "limit"
    assert document_apart(b"x" * 600, "a.txt", 30).text == "x" * 600


def test_a_parser_has_no_keys_and_its_prints_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-of-the-user-0001")
    start = "from forethought.tools.documents.child import main"
    print_and_show_key = (
        "import os; from forethought.tools.documents import read;"
        "from forethought.tools.documents.document import Document, Section;"
        "read.READERS['text'] = lambda data: print('noise') or"
        f" Document((Section(os.environ.get('SOME_API_KEY', 'no key')),)); {start}"
    )
    monkeypatch.setattr(apart, "_START", apart._START.replace(start, print_and_show_key))
    assert document_apart(b"x", "a.txt", 30).text == "no key"


def test_idle_children_end_with_their_parent() -> None:
    code = (
        "from forethought.tools.documents import apart; apart.document_apart(b'x', 'a.txt', 30);"
        "print(apart._idle[0].process.pid)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not exists(int(done.stdout))
