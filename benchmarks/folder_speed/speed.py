"""The measurement itself, in processes of their own: one indexes the folder, another one uses the index."""

from __future__ import annotations

import asyncio
import json
import random
import resource
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from statistics import quantiles
from typing import Any

from benchmarks.folder_speed.documents import texts
from forethought.settings import Settings
from forethought.tools.base import ToolEnv
from forethought.tools.call import call_tool
from forethought.tools.files import FileStore
from forethought.tools.folders.given import Folders
from forethought.tools.folders.intake import index_folder
from forethought.tools.search_files import SEARCH_FILES

QUERIES = 200
_LOOK_S = 0.2
Figures = dict[str, float]


def first_start(root: Path, data: Path) -> Figures:
    """Index the folder. Returns the seconds, and the files without text."""
    started = time.monotonic()
    ref, scan = index_folder(root, Settings(data_dir=data))
    return {"seconds": time.monotonic() - started, "files": ref["count"], "unreadable": len(scan.unreadable)}


def later_use(root: Path, data: Path) -> Figures:
    """Start again, change a file, search. Returns the seconds of each."""
    settings = Settings(data_dir=data)
    started = time.monotonic()
    ref, _ = index_folder(root, settings)
    again = time.monotonic() - started
    changed, started = next(root.rglob("*.md")), time.monotonic()
    changed.write_text(f"{changed.read_text('utf-8')}\n\nThe quokka {started} came by.\n", "utf-8")
    ref, _ = index_folder(root, settings)
    hits = Folders([ref], settings).search("quokka", 3)
    seen = time.monotonic() - started
    assert [hit.name for hit in hits] == [str(changed.relative_to(root))], "the change is not found"
    folders = Folders([ref], settings)
    entries = {entry.hash: entry.characters for entry in folders.entries()}
    size = sum(path.stat().st_size for path in (data / "folders").glob("*.sqlite*"))
    took, cpu = zip(*asyncio.run(_searches(folders, settings)), strict=True)
    cuts = quantiles(took, n=20)
    return {
        "again": again,
        "seen": seen,
        "p50": cuts[9],
        "p95": cuts[18],
        "cpu95": quantiles(cpu, n=20)[18],
        "text": sum(entries.values()),
        "index": size,
    }


async def _searches(folders: Folders, settings: Settings) -> list[tuple[float, float]]:
    """The seconds of each call of `search_files`, and its processor time."""
    env = ToolEnv(settings=settings, folders=folders, store=FileStore.of(settings))
    took = []
    for query in queries():
        started, cpu = time.monotonic(), time.process_time()
        seen = await call_tool(SEARCH_FILES, {"query": query}, env)
        took.append((time.monotonic() - started, time.process_time() - cpu))
        assert seen.ok, seen.text
    return took


def queries() -> list[str]:
    """Three to eight words in a row from the documents."""
    rng = random.Random(1)
    paragraphs = [text.split() for text in texts(rng) if len(text.split()) > 10]
    chosen = rng.choices(paragraphs, k=QUERIES)
    starts = [(words, rng.randrange(len(words) - 8)) for words in chosen]
    return [" ".join(words[start : start + rng.randrange(3, 9)]) for words, start in starts]


def measured(step: str, root: Path, data: Path) -> Figures:
    """Run a step in a process of its own.

    Returns its figures, the most memory of it and its children, and their processor time.
    """
    import psutil

    command = [sys.executable, "-m", "benchmarks.folder_speed.speed", step, str(root), str(data)]
    before, most = resource.getrusage(resource.RUSAGE_CHILDREN), 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        watched = psutil.Process(process.pid)
        while process.poll() is None:
            most = max(most, _memory(watched))
            time.sleep(_LOOK_S)
        figures, _ = process.communicate()
    if process.returncode:
        raise SystemExit(f"the step {step} failed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {**json.loads(figures), "memory": most, "cpu": cpu}


def _memory(process: Any) -> int:
    """Bytes of a process and its children, shared pages counted once."""
    import psutil

    most = 0
    with suppress(psutil.Error):  # it has just ended
        for each in [process, *process.children(recursive=True)]:
            with suppress(psutil.Error):
                most += each.memory_full_info().pss
    return most


if __name__ == "__main__":
    step, root, data = sys.argv[1:]
    print(json.dumps({"first_start": first_start, "later_use": later_use}[step](Path(root), Path(data))))
