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
"""A cell that takes longer is stopped and counts as failed."""


async def measure(module: Any, cell: Json) -> Json:
    """Run a cell: `url`, `options`, `repeats` and a Setting's fields. Sums over its runs, means of the
    repeats."""
    url, runs, repeats = cell["url"], cell["runs"], cell["repeats"]
    first, *tasks = [Task(number, cell["shape"], cell["k"]) for number in range(runs * repeats + 1)]
    warehouse = Warehouse([first, *tasks])
    async with module.opened(url, warehouse.look_up, cell["options"]) as play:
        _ask(url, "begin", latency_ms=0)
        await asyncio.gather(play(first), return_exceptions=True)  # what is loaded once is not counted
        _ask(url, "begin", latency_ms=cell["latency_ms"])
        begun, used = time.perf_counter(), time.process_time()
        answers: list[Any] = []
        for at in range(0, len(tasks), runs):
            answers += await asyncio.gather(*map(play, tasks[at : at + runs]), return_exceptions=True)
        spent = {"wall_s": time.perf_counter() - begun, "cpu_s": time.process_time() - used}
        sums = _ask(url, "end") | spent
    texts = [answer if isinstance(answer, str) else repr(answer) for answer in answers]
    faults = sums.pop("faults") + [fault for fault in map(warehouse.fault, tasks, texts) if fault]
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1 << (20 if sys.platform == "darwin" else 10)
    )
    means = {name: value / repeats for name, value in sums.items()}
    return {**means, "peak_mb": peak_mb, "failed": faults[0] if faults else ""}


def _ask(url: str, what: str, **given: Any) -> Json:
    with urllib.request.urlopen(f"{url}/{what}", json.dumps(given).encode()) as response:
        return dict(json.load(response))


def _in_child(module: Any, cell: Json, import_s: float) -> Json:
    """What a cell came to, measured in a fork."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(LIMIT_S)
        try:
            figures = asyncio.run(measure(module, cell)) | {"import_s": import_s}
        except Exception as error:
            traceback.print_exc()
            figures = {"failed": repr(error)}
        os.write(writing, json.dumps(figures).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as written:
        text = written.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == -signal.SIGALRM:
        return {"failed": f"took more than {LIMIT_S} s"}
    return dict(json.loads(text)) if text else {"failed": f"its process ended with {status}"}


def main() -> None:
    """See the module. What frameworks print goes to stderr."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    begun = time.perf_counter()
    module = importlib.import_module(f"benchmarks.peers.contenders.{sys.argv[1]}")
    import_s = time.perf_counter() - begun
    for line in sys.stdin:
        print(json.dumps(_in_child(module, json.loads(line), import_s)), file=out)


if __name__ == "__main__":
    main()
