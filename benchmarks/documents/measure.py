"""Run readers over cases, and measure time and peak memory of the processes that read."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.documents import ours, peers
from benchmarks.documents.corpus import Case
from forethought.settings import Settings

OURS = "forethought"
PYTHON = Path(".venv-bench-documents/bin/python")
"""The interpreter of the other readers."""
LIMIT_S = 60.0
Reader = Callable[[Case, Path], dict[str, Any]]


class Peak:
    """The most memory that processes started from here take together, in MB; Linux only."""

    def __init__(self) -> None:
        self.megabytes = 0.0
        self._running = True
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._running = False
        self._thread.join()

    def _watch(self) -> None:
        while self._running:
            self.megabytes = max(self.megabytes, sum(map(_resident, _children(os.getpid()))))
            time.sleep(0.02)


def _children(pid: int) -> Iterator[int]:
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield int(child)
                yield from _children(int(child))


def _resident(pid: int) -> float:
    with suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    return 0.0


def read_ours(case: Case, path: Path) -> dict[str, Any]:
    """The texts that Forethought shows of a case, and how long its longest call took."""
    with TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder))
        seen = ours.Seen(case.name, path.read_bytes(), settings)
        asyncio.run(seen.see(case.question))
        return {"texts": seen.texts, "seconds": seen.seconds, "error": ""}


@contextmanager
def peer(name: str) -> Iterator[Reader]:
    """Another reader, in a process that is started again when it has crashed or hung."""
    running: list[subprocess.Popen[str]] = []

    def read(case: Case, path: Path) -> dict[str, Any]:
        if not running or running[-1].poll() is not None:
            running.append(_started(name))
        process = running[-1]
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(LIMIT_S, process.kill)
        timer.start()
        line = ""
        with suppress(OSError):
            process.stdin.write(f"{path}\n")
            process.stdin.flush()
            line = process.stdout.readline()
        timer.cancel()
        answer = json.loads(line) if line else {"text": "", "error": "crashed or hung", "seconds": LIMIT_S}
        return {**answer, "texts": {"read": answer["text"] or answer["error"]}}

    try:
        yield read
    finally:
        for process in running:
            process.kill()
            process.wait()


def _started(name: str) -> subprocess.Popen[str]:
    command = [str(PYTHON), peers.__file__, name]
    offline = {"HF_HUB_OFFLINE": "1", "SCARF_NO_ANALYTICS": "true", "DO_NOT_TRACK": "true"}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True, env={**os.environ, **offline}
    )


def judged(case: Case, found: dict[str, Any]) -> dict[str, Any]:
    """The faults of a reading; for Forethought also those of the look and of python's files."""
    texts = found["texts"]
    main = texts.get(case.where, texts["read"]) if case.where else texts["read"]
    result: dict[str, Any] = {"fault": case.fault(main)}
    if "look" in texts and not case.where:
        result["look"], result["files"] = case.fault(texts["look"]), case.fault(texts["files"])
    result |= {"seconds": round(found["seconds"], 2), "error": found["error"]}
    return result
