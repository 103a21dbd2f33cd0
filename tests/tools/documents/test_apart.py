"""Readings in processes of their own: what a parser may do wrong, done to a real one."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator

import pytest
from openpyxl import Workbook

from forethought.tools.documents import apart
from forethought.tools.documents.apart import answer_apart, document_apart
from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.read import read_document


def merged_sheet() -> bytes:
    """A workbook of a few kilobytes that merges a whole sheet: 17 billion cells for its reader."""
    plain, out = io.BytesIO(), io.BytesIO()
    Workbook().save(plain)
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(out, "w") as target:
        for member in source.infolist():
            content = source.read(member)
            if member.filename == "xl/worksheets/sheet1.xml":
                content = content.replace(b"</worksheet>", _MERGE + b"</worksheet>")
            target.writestr(member, content)
    return out.getvalue()


_MERGE = b'<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'


@pytest.fixture(autouse=True)
def no_process_left() -> Iterator[None]:
    yield
    for reader in apart._idle:
        reader.end()
    apart._idle.clear()


def end_of(reader: apart._Reader) -> None:
    reader.process.kill()
    reader.process.wait()


def process() -> int:
    return apart._idle[-1].process.pid


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_document_is_the_same_as_read_here_and_the_process_serves_the_next_one() -> None:
    data = "a;b\nČaj \ud83c;2\n".encode("utf-8", "surrogatepass")
    assert document_apart(data, "a.csv", 30) == read_document(data, "a.csv")
    first = process()
    assert document_apart(b"words", "a.docx", 30).note.startswith("The file is not .docx")
    assert process() == first
    with pytest.raises(Unreadable, match="is empty") as caught:
        document_apart(b"", "a.csv", 30)
    assert (caught.value.cause, process()) == ("empty", first)


def test_a_reading_that_takes_too_long_is_ended_with_its_process() -> None:
    document_apart(b"warm", "a.txt", 30)
    pid, began = process(), time.monotonic()
    with pytest.raises(Unreadable, match=r"longer than 0\.5 seconds") as caught:
        document_apart(merged_sheet(), "a.xlsx", 0.5)
    assert caught.value.cause == "timeout"
    assert time.monotonic() - began < 5
    assert (is_there(pid), apart._idle) == (False, [])
    assert document_apart(b"again", "a.txt", 30).text == "again"


def test_a_parser_that_crashes_takes_nobody_along(monkeypatch: pytest.MonkeyPatch) -> None:
    crashing = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    monkeypatch.setattr(apart, "_START", crashing)
    with pytest.raises(Unreadable, match="crashed") as caught:
        document_apart(b"words" * 100_000, "a.txt", 30)
    assert caught.value.cause == "limit"
    monkeypatch.undo()
    assert document_apart(b"again", "a.txt", 30).text == "again"


def test_a_process_that_died_while_it_was_idle_is_not_used() -> None:
    document_apart(b"words", "a.txt", 30)
    end_of(apart._idle[-1])
    assert document_apart(b"again", "a.txt", 30).text == "again"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hold a limit of memory")
def test_a_reading_that_needs_too_much_memory_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    small = apart._START.replace(
        "import main;", "import main; import forethought.tools.documents.child as c; c.MEMORY = 120 << 20;"
    )
    monkeypatch.setattr(apart, "_START", small)
    with pytest.raises(Unreadable, match="memory") as caught:
        document_apart(b"x" * 45_000_000, "a.txt", 30)
    assert caught.value.cause == "limit"
    assert apart._idle == []


def test_more_text_than_can_be_handled_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "MOST_TEXT", 5000)
    with pytest.raises(Unreadable, match="more text") as caught:
        document_apart(b"x" * 6000, "a.txt", 30)
    assert caught.value.cause == "limit"
    assert document_apart(b"x" * 600, "a.txt", 30).text == "x" * 600


def test_a_parser_has_no_keys_and_what_it_prints_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-of-the-user-0001")
    telling = (
        "import os; from forethought.tools.documents import read;"
        "from forethought.tools.documents.document import Document, Section;"
        "read.READERS['text'] = lambda data: print('noise') or"
        " Document((Section(os.environ.get('SOME_API_KEY', 'no key')),));"
        "from forethought.tools.documents.child import main"
    )
    monkeypatch.setattr(
        apart, "_START", apart._START.replace("from forethought.tools.documents.child import main", telling)
    )
    assert document_apart(b"x", "a.txt", 30).text == "no key"


def test_no_process_outlives_the_one_that_started_it() -> None:
    code = (
        "from forethought.tools.documents import apart; apart.document_apart(b'x', 'a.txt', 30);"
        "print(apart._idle[0].process.pid)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not is_there(int(done.stdout))


def test_an_unknown_job_is_a_failure_like_any_other() -> None:
    with pytest.raises(Unreadable, match="crashed"):
        answer_apart({"job": "document"}, b"x", 30)
