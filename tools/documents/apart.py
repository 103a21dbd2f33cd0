"""Other people's parsers in processes of their own, which can be stopped, may crash, and have little to take.

A thread that hangs in a parser cannot be ended, and a parser that crashes or fills the memory takes its
process along. So documents and pages are read by `tools.documents.child`: with a limit on time, memory and
text, and without the environment's keys. A process serves one reading after another, since its imports take
seconds; the one that misbehaves is killed.
"""

from __future__ import annotations

import atexit
import json
import os
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forethought.tools.documents.document import Document, Section, Unreadable

MOST_TEXT = 100_000_000
"""Bytes of text that a reading may give: spans and shared strings make gigabytes of a small file."""
HEADER = struct.Struct(">QQ")
"""Before each message: the length of its JSON, and of the bytes that follow."""
_MOST_IDLE = 2
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
_HINT = "Ask the user for the part that matters, as a file of its own."

_idle: list[_Reader] = []
_lock = threading.Lock()


class _Killed(Exception):
    """The process ended without an answer: because its time was up, or by itself."""

    def __init__(self, in_time: bool) -> None:
        super().__init__()
        self.in_time = in_time


def document_apart(data: bytes, name: str, seconds: float) -> Document:
    """What `read_document` makes of `data`. Blocking. Raises Unreadable: also where it takes longer than
    `seconds`, crashes its reader, or has too much text in it.
    """
    made = answer_apart({"job": "document", "name": name}, data, seconds)
    sections = tuple(Section(*section) for section in made["sections"])
    return Document(sections, unit=made["unit"], note=made["note"])


def answer_apart(job: Mapping[str, Any], data: bytes, seconds: float) -> dict[str, Any]:
    """The answer of a process to a job (see `tools.documents.child`). Blocking. Raises Unreadable."""
    reader = _free() or _Reader()
    try:
        answer = reader.ask(job, data, seconds)
    except _Killed as killed:
        raise _without_answer(killed, seconds) from None
    finally:
        reader.leave()
    if "unreadable" in answer:
        what, hint, cause = answer["unreadable"]
        raise Unreadable(what, hint=hint, cause=cause)
    return answer


def _without_answer(killed: _Killed, seconds: float) -> Unreadable:
    if not killed.in_time:
        return Unreadable(f"takes longer than {seconds:g} seconds to read", cause="timeout", hint=_HINT)
    return Unreadable(
        "cannot be read: its reader crashed or needed too much memory", cause="limit", hint=_HINT
    )


def _free() -> _Reader | None:
    with _lock:
        while _idle:
            reader = _idle.pop()
            if reader.alive:
                return reader
            reader.end()
    return None


class _Reader:
    """One process and the way to it."""

    def __init__(self) -> None:
        kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        path = json.dumps([str(Path(entry).absolute()) for entry in sys.path])
        try:
            # A session of its own: Ctrl-C is for this process, which ends the other one.
            self._process = subprocess.Popen(
                [sys.executable, "-c", _START, path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**kept, **_SPARING},
                start_new_session=True,
            )
        except OSError as error:
            raise Unreadable(
                f"cannot be read: its reader does not start ({error.strerror})", cause="unavailable"
            ) from error
        self._owner, self._whole = os.getpid(), True

    @property
    def alive(self) -> bool:
        """Whether it can be given a job; never in a process that was forked from the one that started it."""
        return self._owner == os.getpid() and self._process.poll() is None

    def ask(self, job: Mapping[str, Any], data: bytes, seconds: float) -> dict[str, Any]:
        """Its answer. Raises _Killed, Unreadable."""
        self._whole = False
        up = threading.Event()

        def stop() -> None:
            up.set()
            self._process.kill()

        timer = threading.Timer(seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            answer = self._exchange({**job, "seconds": seconds}, data)
        except (OSError, EOFError, ValueError) as error:
            raise _Killed(in_time=not up.is_set()) from error
        finally:
            timer.cancel()
        self._whole = not answer.pop("last", False)
        return answer

    def _exchange(self, job: Mapping[str, Any], data: bytes) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        head = json.dumps(job).encode()
        for part in (HEADER.pack(len(head), len(data)), head, data):
            self._process.stdin.write(part)
        self._process.stdin.flush()
        length, _ = HEADER.unpack(_exactly(self._process.stdout, HEADER.size))
        if length > MOST_TEXT:
            raise Unreadable("has more text than can be read at once", cause="limit", hint=_HINT)
        answer = json.loads(_exactly(self._process.stdout, length))
        if not isinstance(answer, dict):
            raise ValueError("no answer")
        return answer

    def leave(self) -> None:
        """Keep it for the next reading, or end it."""
        with _lock:
            keep = self._whole and self.alive and len(_idle) < _MOST_IDLE
            if keep:
                _idle.append(self)
        if not keep:
            self.end()

    def end(self) -> None:
        """Kill it, and let nothing of it remain. A process that was forked only lets go of it."""
        if self._owner == os.getpid():
            self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # what could not be sent any more
                    continue
        if self._owner == os.getpid():
            self._process.wait()


def _exactly(stream: Any, length: int) -> bytes:
    found: bytes = stream.read(length)
    if len(found) < length:
        raise EOFError
    return found


@atexit.register
def _end_all() -> None:
    for reader in _idle:
        reader.end()
