"""Other people's parsers in processes of their own, which can be stopped, may crash, and hold no secrets.

A thread that hangs in a parser cannot be ended, and a parser that crashes or fills the memory takes its
process along. So documents, pages and pictures are read by `tools.documents.child`: with a limit on time,
memory and text, and without the environment's keys. At most one a core reads at a time; the others wait, and
their own time begins when they read. A reading without a caller is dropped before it begins;
one that has begun ends within its time, and its answer is kept. A process serves one reading
after another, since its imports take seconds; the one that misbehaves is killed.
"""

from __future__ import annotations

import asyncio
import atexit
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from forethought.settings import Settings
from forethought.tools.base import ToolError
from forethought.tools.documents.document import PART_HINT, Content, Document, Member, Section, Unreadable
from forethought.tools.files import FileStore
from forethought.tools.given_files import stored_bytes
from forethought.tools.threads import SharedWork, Turns, Work

WAIT_S = 40.0
"""For a turn; with the reading it is less than a tool's own limit."""
MOST_TEXT = 100_000_000
"""Bytes of text that a reading may give: spans and shared strings make gigabytes of a small file."""
_MOST_IDLE = 2
_KEPT = 32 << 20
"""Bytes of answers that are kept, packed to about a fifth."""
_KEPT_VARIABLES = (
    *("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LD_LIBRARY_PATH"),
    *("DYLD_LIBRARY_PATH", "USERPROFILE", "XDG_CACHE_HOME"),
)
# One thread, one arena: each would reserve memory that the limit counts.
_SPARING = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    "from forethought.tools.documents.child import main; main()"
)

Answer = TypeVar("Answer")
TURNS = Turns(os.cpu_count() or 1)
_answers: SharedWork[bytes] = SharedWork(
    _KEPT, TURNS, weigh=len, failure_s=lambda error: 300.0 if isinstance(error, Unreadable) else 0.0
)
"""Packed JSON."""
_readers: set[_Reader] = set()
_idle: list[_Reader] = []


async def load_document(store: FileStore, content_hash: str, name: str, settings: Settings) -> Document:
    """Read a stored file as a document.

    Args:
        store: The files.
        content_hash: The hash of the file's bytes.
        name: The file's name.
        settings: The limits of a reading.

    Raises:
        ToolError: The file cannot be read.
    """
    return _document(await _load("document", store, content_hash, name, settings))


async def load_content(store: FileStore, content_hash: str, name: str, settings: Settings) -> Content:
    """Read a stored file as a program gets it. Arguments and errors are those of `load_document`."""
    return Content(**await _load("content", store, content_hash, name, settings))


async def _load(
    job: str, store: FileStore, content_hash: str, name: str, settings: Settings
) -> dict[str, Any]:
    """The answer of a reading, kept for the next call; concurrent calls for one file share one reading."""

    def read() -> bytes:
        data = stored_bytes(store, content_hash, name)
        answer = answer_apart({"job": job, "name": name}, data, settings)
        return zlib.compress(json.dumps(answer).encode(), level=1)

    # By the whole name: the names of the files in this one begin with it.
    key = (job, store, content_hash, name, settings.reader_seconds, settings.reader_memory_mb)
    try:
        packed = await _awaited(_answers.start(key, read), settings)
        unpacked: dict[str, Any] = await asyncio.to_thread(lambda: json.loads(zlib.decompress(packed)))
        return unpacked
    except Unreadable as error:
        raise ToolError(f"{name} {error.what}", cause=error.cause, hint=error.hint) from error


async def read_apart(job: Mapping[str, Any], data: bytes, settings: Settings) -> dict[str, Any]:
    """Have a process do a job.

    Args:
        job: The job (see `tools.documents.child`).
        data: The bytes that belong to it.
        settings: The limits of a reading.

    Returns:
        The process's answer.

    Raises:
        Unreadable: The bytes cannot be read within the limits.
    """
    return await _awaited(TURNS.start(lambda: answer_apart(job, data, settings)), settings)


async def _awaited(reading: Work[Answer], settings: Settings) -> Answer:
    try:
        async with asyncio.timeout(WAIT_S + settings.reader_seconds):
            return await asyncio.wrap_future(reading)
    except TimeoutError as error:
        what, hint = "is still waiting to be read, after other files", "Make the same call again later."
        raise Unreadable(what, cause="timeout", hint=hint) from error


def document_apart(data: bytes, name: str, settings: Settings) -> Document:
    """The answer of `read_document`. Blocking. Raises Unreadable, also if it takes too long or too
    much memory, crashes its reader, or has too much text in it.
    """
    return _document(answer_apart({"job": "document", "name": name}, data, settings))


def members_apart(data: bytes, name: str, settings: Settings) -> list[Member]:
    """The answer of `read_members`. Blocking. Raises Unreadable, as `document_apart`."""
    answer = answer_apart({"job": "members", "name": name}, data, settings)
    contents = io.BytesIO(answer.get("contents", b""))
    return [Member(path, contents.read(length), *about) for path, length, *about in answer["members"]]


def _document(answer: Mapping[str, Any]) -> Document:
    sections = tuple(Section(*section) for section in answer["sections"])
    return Document(sections, unit=answer["unit"], note=answer["note"])


def answer_apart(job: Mapping[str, Any], data: bytes, settings: Settings) -> dict[str, Any]:
    """As `read_apart`, at once. Blocking."""
    reader = _idle_reader() or _Reader()
    try:
        answer = reader.ask(job, data, settings.reader_seconds, settings.reader_memory_mb)
    except BaseException:
        reader.end()
        raise
    if answer.pop("last") or len(_idle) >= _MOST_IDLE:
        reader.end()
    else:
        _idle.append(reader)
    if "unreadable" in answer:
        what, hint, cause = answer["unreadable"]
        raise Unreadable(what, hint=hint, cause=cause)
    return answer


def _idle_reader() -> _Reader | None:
    with suppress(IndexError):  # from an empty list
        while True:
            reader = _idle.pop()
            if reader.process.poll() is None:
                return reader
            reader.end()
    return None


class _Reader:
    """One process and the way to it: a line of JSON and the bytes go in, a line of JSON comes out."""

    def __init__(self) -> None:
        environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        path = json.dumps([str(Path(entry).absolute()) for entry in sys.path])
        # A session of its own: Ctrl-C is for this process, which ends the other one.
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**environment, **_SPARING},
            start_new_session=True,
        )
        _readers.add(self)

    def ask(self, job: Mapping[str, Any], data: bytes, seconds: float, megabytes: int) -> dict[str, Any]:
        """Its answer. Raises Unreadable if there is none: the process is of no use then."""
        timer = threading.Timer(seconds, self._kill)
        timer.daemon, began = True, time.monotonic()
        timer.start()
        try:
            whole = {**job, "size": len(data), "seconds": seconds, "memory": megabytes << 20}
            answer: dict[str, Any] = json.loads(self._exchange(json.dumps(whole).encode(), data))
            if answer.get("members"):
                assert self.process.stdout is not None
                answer["contents"] = self.process.stdout.read(sum(each[1] for each in answer["members"]))
            return answer
        except (OSError, ValueError) as error:
            if time.monotonic() - began >= seconds:
                what, cause, setting = f"takes longer than {seconds:g} seconds to read", "timeout", "SECONDS"
            else:
                what = f"cannot be read: it needs more than {megabytes} MB of memory, or its reader crashed"
                cause, setting = "limit", "MEMORY_MB"
            hint = f"{PART_HINT} The operator can raise FORETHOUGHT_READER_{setting}."
            raise Unreadable(what, cause=cause, hint=hint) from error
        finally:
            timer.cancel()

    def _exchange(self, head: bytes, data: bytes) -> bytes:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        for part in (head, b"\n", data):
            self.process.stdin.write(part)
        self.process.stdin.flush()
        line = self.process.stdout.readline(MOST_TEXT)
        if len(line) == MOST_TEXT:
            raise Unreadable("has more text than can be read at once", cause="limit", hint=PART_HINT)
        return line

    def _kill(self) -> None:
        """Kill the process and its children, such as LibreOffice."""
        if sys.platform == "win32" or self.process.poll() is not None:
            self.process.kill()
            return
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def end(self) -> None:
        """Kill it, and let nothing of it remain."""
        self._kill()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError):  # what could not be sent any more
                if stream is not None:
                    stream.close()
        self.process.wait()
        _readers.discard(self)


@atexit.register
def _end_all() -> None:
    for reader in list(_readers):
        reader.end()
