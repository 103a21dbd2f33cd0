"""A process for each framework, which forks one for each cell, so that memory and caches start alike.

    python -m benchmarks.peers.worker MODULE

It reads cells as lines of JSON from stdin, and writes what was measured as lines of JSON to stdout.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import resource
import signal
import sys
import time
import traceback
import urllib.request
from typing import Any

from benchmarks.peers.task import Task, Warehouse

Json = dict[str, Any]
LIMIT_S = 400
"""A cell that takes longer is broken off, and has failed."""


async def measure(module: Any, cell: Json) -> Json:
    """Run a cell: `url`, `options`, `shape`, `k`, `runs`, `latency_ms`, `repeats`. Figures are means of the
    repeats; sums over all runs."""
    runs, repeats = cell["runs"], cell["repeats"]
    tasks = [Task(number + 1, cell["shape"], cell["k"]) for number in range(runs * repeats)]
    warehouse = Warehouse([*tasks, Task(0, cell["shape"], 1)])
    async with module.opened(cell["url"], warehouse.look_up, cell["options"]) as play:
        await _ask(cell["url"], "begin", latency_ms=0)
        await play(Task(0, cell["shape"], 1))  # what is loaded once is not counted
        await _ask(cell["url"], "begin", latency_ms=cell["latency_ms"])
        begun, used = time.perf_counter(), _processor_s()
        answers: list[Any] = []
        for first in range(0, len(tasks), runs):
            together = map(play, tasks[first : first + runs])
            answers += await asyncio.gather(*together, return_exceptions=True)
        wall, cpu = time.perf_counter() - begun, _processor_s() - used
        served = await _ask(cell["url"], "end")
    texts = [a if isinstance(a, str) else f"{type(a).__name__}: {a}" for a in answers]
    faults = served.pop("faults") + [fault for fault in map(warehouse.fault, tasks, texts) if fault]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1 << 20 if sys.platform == "darwin" else 1 << 10
    )
    sums = {name: value / repeats for name, value in {**served, "wall_s": wall, "cpu_s": cpu}.items()}
    return {**sums, "peak_mb": peak, "failed": faults[0] if faults else ""}


async def _ask(url: str, what: str, **given: Any) -> Json:
    def send() -> Json:
        with urllib.request.urlopen(f"{url}/{what}", json.dumps(given).encode()) as response:
            return dict(json.load(response))

    return await asyncio.to_thread(send)


def _processor_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _in_child(module: Any, cell: Json, out: int, import_s: float) -> int:
    """Fork, measure there, and write one line; the exit status."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    signal.alarm(LIMIT_S)
    try:
        figures = asyncio.run(measure(module, cell)) | {"import_s": import_s}
    except Exception as error:
        traceback.print_exc()
        figures = {"failed": f"{type(error).__name__}: {error}"}
    os.write(out, f"{json.dumps(figures)}\n".encode())
    os._exit(0)


def main() -> None:
    """See the module. What frameworks print goes to stderr."""
    out = os.dup(1)
    os.dup2(2, 1)
    begun = time.perf_counter()
    module = importlib.import_module(f"benchmarks.peers.contenders.{sys.argv[1]}")
    took = time.perf_counter() - begun
    for line in sys.stdin:
        if status := _in_child(module, json.loads(line), out, took):
            late = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM
            why = f"took more than {LIMIT_S} s" if late else f"its process ended with status {status}"
            os.write(out, f"{json.dumps({'failed': why})}\n".encode())


if __name__ == "__main__":
    main()
