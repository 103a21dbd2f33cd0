"""Parsers in processes of their own: limits of time, memory and text, crashes, and secrets."""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from openpyxl import Workbook

from forethought.settings import Settings
from forethought.tools.base import ToolEnv, ToolError
from forethought.tools.call import call_tool
from forethought.tools.documents import child, reader
from forethought.tools.documents.document import Document, Unreadable
from forethought.tools.documents.formats import read_document
from forethought.tools.documents.reader import document_apart, load_document
from forethought.tools.files import FileStore
from forethought.tools.read_file import READ_FILE
from forethought.tools.threads import SharedWork, Turns
from tests.tools.documents import bombs


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


LINUX = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hold a limit of memory")
LIMITS = Settings(reader_seconds=30)
IN_A_PROCESS = (
    "from forethought.settings import Settings; from forethought.tools.documents import reader;"
    "reader.document_apart(b'x', 'a.txt', Settings())"
)


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
    assert document_apart(data, "a.csv", LIMITS) == read_document(data, "a.csv")
    first = idle_pid()
    assert document_apart(b"words", "a.docx", LIMITS).note.startswith("The file is not .docx")
    assert idle_pid() == first
    with pytest.raises(Unreadable, match="is empty") as caught:
        document_apart(b"", "a.csv", LIMITS)
    assert (caught.value.cause, idle_pid()) == ("empty", first)


def test_a_large_parent_does_not_cost_the_child_its_place() -> None:
    size = "import main; import forethought.tools.documents.child as c; c._TIRED = 40 << 20;"
    code = (
        "from forethought.tools.documents import reader; large = b'x' * (300 << 20);"
        f"reader._START = reader._START.replace('import main;', {size!r});"
        f"{IN_A_PROCESS}; print(len(reader._idle))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"


def test_a_parser_over_its_time_limit_is_killed() -> None:
    document_apart(b"warm", "a.txt", LIMITS)
    pid = idle_pid()
    with pytest.raises(Unreadable, match=r"longer than 0\.5 seconds") as caught:
        document_apart(merged_sheet(), "a.xlsx", Settings(reader_seconds=0.5))
    assert caught.value.cause == "timeout"
    assert (exists(pid), reader._idle) == (False, [])
    assert document_apart(b"again", "a.txt", LIMITS).text == "again"


def test_a_crash_is_an_error_and_the_next_call_works(monkeypatch: pytest.MonkeyPatch) -> None:
    crashing = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    monkeypatch.setattr(reader, "_START", crashing)
    with pytest.raises(Unreadable, match="crashed") as caught:
        document_apart(b"words" * 100_000, "a.txt", LIMITS)
    assert caught.value.cause == "limit"
    monkeypatch.undo()
    assert document_apart(b"again", "a.txt", LIMITS).text == "again"


@LINUX
def test_a_reader_takes_what_it_has_started_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    converting = "import subprocess as s; p = s.Popen(['sleep', '60']); print(p.pid, flush=True); p.wait()"
    monkeypatch.setattr(reader, "_START", converting)
    started = reader._Reader()
    assert started.process.stdout is not None
    state = Path(f"/proc/{int(started.process.stdout.readline())}/stat")
    started.end()
    while state.exists() and state.read_text().split()[2] != "Z":
        os.sched_yield()


def test_a_child_that_died_while_idle_is_replaced() -> None:
    document_apart(b"words", "a.txt", LIMITS)
    reader._idle[-1].process.kill()
    reader._idle[-1].process.wait()
    assert document_apart(b"again", "a.txt", LIMITS).text == "again"


@LINUX
@pytest.mark.parametrize("name", bombs.PDFS)
def test_a_small_file_that_grows_meets_a_limit(name: str) -> None:
    data, limits = bombs.PDFS[name], Settings(reader_seconds=10, reader_memory_mb=100)
    assert len(data) < 1300
    with pytest.raises(Unreadable, match="cannot be read: it needs more than 100 MB of memory") as caught:
        document_apart(data, "a.pdf", limits)
    assert caught.value.cause == "limit"
    assert caught.value.hint.endswith("The operator can raise FORETHOUGHT_READER_MEMORY_MB.")
    assert reader._idle == []


@LINUX
def test_the_memory_limit_is_each_readings_own() -> None:
    text = b"x" * 45_000_000
    with pytest.raises(Unreadable, match="memory"):
        document_apart(text, "a.txt", Settings(reader_memory_mb=64))
    assert len(document_apart(text, "a.txt", LIMITS).text) == len(text)


def test_a_system_that_holds_no_limits_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(limit: int, values: object) -> None:
        raise ValueError("current limit exceeds maximum limit")  # macOS, of RLIMIT_AS

    monkeypatch.setattr(child.resource, "setrlimit", refuse)
    child._limit(1, 1)


def test_a_document_over_the_text_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_TEXT", 5000)
    with pytest.raises(Unreadable, match="more text") as caught:
        document_apart(b"x" * 6000, "a.txt", LIMITS)
    assert caught.value.cause == "limit"
    assert document_apart(b"x" * 600, "a.txt", LIMITS).text == "x" * 600


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
    assert document_apart(b"x", "a.txt", LIMITS).text == "no key"


def test_children_end_with_their_parent_idle_or_not() -> None:
    code = (
        f"import threading; {IN_A_PROCESS}; idle = reader._idle.pop();"
        f"work = lambda: reader.document_apart({merged_sheet()!r}, 'a.xlsx', Settings());"
        "threading.Thread(target=work, daemon=True).start();"
        "exec('while len(reader._readers) < 2: pass');"
        "print(*(reader.process.pid for reader in reader._readers))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [exists(int(pid)) for pid in done.stdout.split()] == [False, False]


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
async def test_random_bytes_are_read_or_refused(
    store: FileStore, start: bytes, data: bytes, name: str
) -> None:
    content_hash = store.put(start + data)
    try:
        said = (await load_document(store, content_hash, name, LIMITS)).text.strip()
    except ToolError as error:
        said = error.message if error.message.startswith(f"{name} ") and "\n" not in error.message else ""
    assert said, "neither a text nor one clear line"


class Slow:
    """A stand-in for `answer_apart` that reads when it is let to."""

    def __init__(self) -> None:
        self.read: list[bytes] = []
        self.go = threading.Event()

    def __call__(self, job: object, data: bytes, limits: Settings) -> dict[str, object]:
        self.read.append(data)
        assert self.go.wait(10)
        return {"sections": [[data.decode(), "", ""]], "unit": "", "note": ""}


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    """Files are read slowly, and one at a time."""
    slow = Slow()
    monkeypatch.setattr(reader, "answer_apart", slow)
    monkeypatch.setattr(reader, "_answers", SharedWork(4, Turns(1)))
    yield slow
    slow.go.set()


async def test_a_file_is_read_once_also_by_concurrent_calls(store: FileStore, slow: Slow) -> None:
    content_hash = store.put(b"read once")
    calls = [asyncio.create_task(load_document(store, content_hash, "a.txt", LIMITS)) for _ in range(8)]
    await asyncio.sleep(0)
    slow.go.set()
    assert [document.text for document in await asyncio.gather(*calls)] == ["read once"] * 8
    assert slow.read == [b"read once"]


async def test_a_reading_that_nobody_waits_for_is_dropped_before_it_begins(
    store: FileStore, slow: Slow
) -> None:
    def call(text: str) -> asyncio.Task[Document]:
        return asyncio.create_task(load_document(store, store.put(text.encode()), "a.txt", LIMITS))

    first, shared, again, dropped = call("first"), call("shared"), call("shared"), call("dropped")
    await asyncio.sleep(0.02)
    for given_up in (first, shared, dropped):
        given_up.cancel()
    await asyncio.sleep(0)
    slow.go.set()
    assert (await again).text == "shared"
    assert slow.read == [b"first", b"shared"]
    assert (await call("first")).text == "first"
    assert (await call("dropped")).text == "dropped"
    assert slow.read == [b"first", b"shared", b"dropped"]


async def test_a_reading_waits_for_its_turn_so_long_and_says_what_to_do(
    store: FileStore, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "WAIT_S", 0.0)
    env = ToolEnv(settings=Settings(reader_seconds=0.05), files={"a.txt": store.put(b"a")}, store=store)
    seen = await call_tool(READ_FILE, {"path": "a.txt"}, env)
    assert (seen.ok, seen.cause) == (False, "timeout")
    assert "a.txt is still waiting to be read, after other files" in seen.text
    assert "Make the same call again later" in seen.hint
