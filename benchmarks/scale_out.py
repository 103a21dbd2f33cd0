"""Carries a batch out with several worker processes on one Postgres, of which one is killed in the middle and
one is told to stop, and counts what was done twice, lost, or asked again.

    python -m benchmarks.scale_out --tasks 200 --workers 3

Starts the Postgres (pgserver) and a scripted model server itself. Each task asks the model four times and
makes one change, which is written down outside of it (with fsync). A change whose outcome nobody knows, since
the worker was killed around it, is not made again: its job waits for a person, who looks at what was written
down and says so (`forethought resume`); then the job is taken up again (`forethought jobs --retry`). Prints a
table, and exits with 1 where a task did not end, or ended twice, a change was made twice or not at all, or
more was asked again than the killed worker had under way.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.scale_world import EFFECTS, FOLDER, REQUESTS, TEXT, noted, serve

Json = dict[str, Any]
ROOT = Path(__file__).parents[1]
CALLS = {"Plan", "PlanDiagnosis", "ToolChoice", "AnswerDraft"}
RESCUED_WITHIN_S = 30.0
_LONGEST_S = 900.0


@dataclass
class Worker:
    """A worker process."""

    process: subprocess.Popen[str]
    number: int
    """Its id in the queue."""


@dataclass
class Figures:
    """What came of it."""

    seconds: float = 0.0
    killed_with: list[str] = field(default_factory=list)
    """Threads of the killed worker's running jobs."""
    rescued_s: float = 0.0
    """Seconds from the kill until all of them were back in the queue or taken over."""
    stopped_with: int = 0
    stopped_s: float = 0.0
    stopped_code: int | None = None
    put_back_s: float = 0.0
    asked: int = 0
    """Jobs that asked a person whether a change took effect."""
    repeated: Counter[str] = field(default_factory=Counter)
    states: Json = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


class Bench:
    """A batch, its database and its workers."""

    def __init__(self, folder: Path, database: str, url: str, concurrency: int) -> None:
        self.folder, self.database, self.url, self.concurrency = folder, database, url, concurrency
        self.workers: list[Worker] = []

    def rows(self, query: str, *given: Any) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with psycopg.connect(self.database, autocommit=True) as connection:
            return connection.execute(query, given).fetchall()  # type: ignore[call-overload,no-any-return]

    def command(self, *arguments: str) -> list[str]:
        """A command line of ours."""
        return [sys.executable, "-m", "forethought", *arguments, "--db", self.database]

    def env(self, machine: str) -> dict[str, str]:
        """The environment of a machine: with a data folder of its own."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("FORETHOUGHT_")}
        return {
            **kept,
            FOLDER: str(self.folder),
            "PYTHONPATH": str(ROOT),
            "FORETHOUGHT_BASE_URL": self.url,
            "FORETHOUGHT_MODEL": "openai:scripted",
            "FORETHOUGHT_DATA_DIR": str(self.folder / machine),
        }

    def run(self, *arguments: str) -> Json:
        """The JSON of a command that ends by itself."""
        done = subprocess.run(
            [*self.command(*arguments), "--json"],
            env=self.env("submitter"), cwd=self.folder, capture_output=True, text=True,
        )  # fmt: skip
        if not done.stdout:
            raise SystemExit(f"{arguments}: ended with {done.returncode}: {done.stderr[-500:]}")
        return dict(json.loads(done.stdout))

    def start(self) -> Worker:
        """Start a worker, and wait until the queue knows it."""
        known = {row[0] for row in self.rows("SELECT id FROM procrastinate_workers")}
        name = f"machine{len(self.workers) + 1}"
        arguments = ("--concurrency", str(self.concurrency), "--until-empty")
        with (self.folder / f"{name}.log").open("w") as log:
            process = subprocess.Popen(
                self.command("worker", "--tools", "benchmarks.scale_world", *arguments),
                env=self.env(name), cwd=self.folder, stdout=log, stderr=log, text=True,
            )  # fmt: skip
        new: set[int] = set()

        def registered() -> bool:
            new.update({row[0] for row in self.rows("SELECT id FROM procrastinate_workers")} - known)
            return bool(new) or process.poll() is not None

        wait_for(registered, "a worker to start")
        if not new:
            raise SystemExit(f"a worker did not start: {(self.folder / f'{name}.log').read_text()[-500:]}")
        self.workers.append(Worker(process, new.pop()))
        return self.workers[-1]

    def ended(self) -> int:
        """How many jobs have ended."""
        return int(self.rows("SELECT count(*) FROM forethought_jobs WHERE outcome IS NOT NULL")[0][0])

    def held_by(self, worker: Worker) -> list[str]:
        """Threads of the jobs that a worker has under way."""
        query = (
            "SELECT args->>'thread_id' FROM procrastinate_jobs WHERE status = 'doing' AND worker_id = %s "
            "AND args->>'thread_id' NOT IN (SELECT thread_id FROM forethought_jobs WHERE outcome IS NOT NULL)"
        )
        return [row[0] for row in self.rows(query, worker.number)]

    def taken(self, threads: list[str], lost: Worker) -> bool:
        """Whether jobs are in the queue again, or with another worker."""
        query = (
            "SELECT count(*) FROM procrastinate_jobs WHERE args->>'thread_id' = ANY(%s) AND status = 'doing' "
            "AND (worker_id IS NULL OR worker_id = %s)"
        )
        return self.rows(query, threads, lost.number)[0][0] == 0


def scale_out(bench: Bench, tasks: int, workers: int) -> Figures:
    """Carry out a batch through a kill and a stop."""
    figures = Figures()
    path = bench.folder / "tasks.jsonl"
    names = [f"t{number:04}" for number in range(1, tasks + 1)]
    path.write_text("".join(json.dumps({"id": name, "task": TEXT.format(name)}) + "\n" for name in names))
    switches = ("--set", "approve_tools=never", "--set", "prospective_reflection=true")
    first = bench.run("submit", str(path), "--batch", "bench", *switches)
    second = bench.run("submit", str(path), "--batch", "bench", *switches)
    if (first["added"], second["added"]) != (tasks, 0):
        figures.wrong.append(f"submitted {first['added']}, and {second['added']} the second time")
    began = time.monotonic()
    for _ in range(workers):
        bench.start()
    rescue = _kill(bench, bench.workers[0], tasks // 4, figures)
    _stop(bench, bench.workers[1], tasks // 2, figures)
    rescue.join()
    wait_for(lambda: all(worker.process.poll() is not None for worker in bench.workers), "the workers to end")
    _answer(bench, figures)
    figures.seconds = time.monotonic() - began
    _judge(bench, names, figures)
    return figures


def _kill(bench: Bench, worker: Worker, after: int, figures: Figures) -> threading.Thread:
    """Kill a worker that has work under way; the thread measures until its jobs are taken over."""
    wait_for(lambda: bench.ended() >= after and bool(bench.held_by(worker)), "a quarter of the tasks")
    worker.process.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    worker.process.wait()
    figures.killed_with = bench.held_by(worker)

    def measure() -> None:
        wait_for(lambda: bench.taken(figures.killed_with, worker), "the rescue")
        figures.rescued_s = time.monotonic() - killed
        if figures.rescued_s > RESCUED_WITHIN_S:
            figures.wrong.append(f"rescued after {figures.rescued_s:.1f} s")

    rescue = threading.Thread(target=measure)
    rescue.start()
    return rescue


def _stop(bench: Bench, worker: Worker, after: int, figures: Figures) -> None:
    """Tell a worker to stop in the middle."""
    held: list[str] = []

    def in_the_middle() -> bool:
        held[:] = bench.held_by(worker)
        return bench.ended() >= after and (bool(held) or worker.process.poll() is not None)

    wait_for(in_the_middle, "half of the tasks")
    figures.stopped_with = len(held)
    worker.process.send_signal(signal.SIGTERM)
    stopped = time.monotonic()
    wait_for(lambda: bench.taken(held, worker), "its jobs to be put back")
    figures.put_back_s = time.monotonic() - stopped
    worker.process.wait()
    figures.stopped_s, figures.stopped_code = time.monotonic() - stopped, worker.process.returncode
    if figures.stopped_code != 0:
        figures.wrong.append(f"the stopped worker ended with {figures.stopped_code}")


def _answer(bench: Bench, figures: Figures) -> None:
    """Say of each change that nobody knows of whether it was made, as a person does who has looked."""
    effects = noted(bench.folder, EFFECTS)
    for (thread_id,) in bench.rows("SELECT thread_id FROM forethought_jobs WHERE outcome = 'waiting'"):
        shown = bench.run("show", thread_id)
        for question in shown["interrupts"]:
            what = question["unknown"]["arguments"]["what"]
            happened, again, _ = question["choices"]
            reply = happened if what in effects else again
            bench.run("resume", thread_id, "--tools", "benchmarks.scale_world", "--reply", reply)
        figures.asked += 1
    if figures.asked:
        bench.run("jobs", "--retry")
    # A reply takes its job to the end; a worker is for what it left open.
    if bench.rows("SELECT 1 FROM forethought_jobs WHERE outcome IS NULL"):
        bench.start().process.wait()


def _judge(bench: Bench, names: list[str], figures: Figures) -> None:
    """What must not be."""
    figures.states = bench.run("jobs", "--results", str(bench.folder / "results.jsonl"))
    results = [json.loads(line) for line in (bench.folder / "results.jsonl").read_text().splitlines()]
    answers = {result["id"]: result.get("answer") for result in results}
    effects, asked = Counter(noted(bench.folder, EFFECTS)), Counter(noted(bench.folder, REQUESTS))
    figures.repeated = Counter({key: count - 1 for key, count in asked.items() if count > 1})
    killed = {thread_id.partition(":")[2] for thread_id in figures.killed_with}
    strange = [key for key, more in figures.repeated.items() if key.split()[0] not in killed or more > 1]
    kinds = {(key.split()[0], key.split()[1]) for key in asked}
    of_each = Counter(key.split()[0] for key in figures.repeated)
    found = {
        f"states {figures.states['states']}": figures.states["states"]["done"] != len(names),
        "a result is missing, twice, or not answered": sorted(answers) != names
        or len(results) != len(names)
        or any(answers[name] != f"{name} is paid" for name in names),
        f"effects {[key for key, count in effects.items() if count != 1]}": effects != Counter(names),
        f"asked again, though not under way: {strange}": bool(strange),
        f"asked again more than once for a task: {of_each}": any(count > 1 for count in of_each.values()),
        "some call was never made": kinds != {(name, kind) for name in names for kind in CALLS},
    }
    figures.wrong += [text for text, is_wrong in found.items() if is_wrong]


def wait_for(done: Callable[[], bool], what: str) -> None:
    """Wait until it is so. Exits when it takes too long."""
    until = time.monotonic() + _LONGEST_S
    while not done():
        if time.monotonic() > until:
            raise SystemExit(f"no sign of {what} within {_LONGEST_S:.0f} s")
        time.sleep(0.1)


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """The address of a Postgres server of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a runtime folder that is not set
        import pgserver
    folder.mkdir()
    server = pgserver.get_server(folder, cleanup_mode="stop")
    try:
        yield f"postgresql://postgres@/postgres?host={folder.resolve()}"
    finally:
        server.cleanup()


def run(tasks: int, workers: int, concurrency: int, latency_ms: float) -> Figures:
    """Carry it out in a folder that is deleted."""
    with tempfile.TemporaryDirectory(prefix="scale-") as name, postgres(Path(name) / "pg") as database:
        near, far = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        server = context.Process(target=serve, args=(Path(name), latency_ms / 1000, far), daemon=True)
        server.start()
        bench = Bench(Path(name), database, near.recv(), concurrency)
        try:
            return scale_out(bench, tasks, workers)
        finally:
            for worker in bench.workers:
                worker.process.kill()
                worker.process.wait()
            server.terminate()
            server.join()


def report(figures: Figures, tasks: int, workers: int, concurrency: int) -> int:
    """Print the table; 0 if nothing is wrong in it, else 1."""
    spent = figures.states
    lines = {
        "tasks done, of those submitted": f"{spent['states']['done']} of {tasks}",
        "workers, parallel jobs of each": f"{workers}, {concurrency}",
        "seconds from the first worker to the end": f"{figures.seconds:.0f}",
        "running jobs at the kill -9": len(figures.killed_with),
        "seconds from the kill until all were taken over": f"{figures.rescued_s:.1f}",
        "running jobs at the SIGTERM": figures.stopped_with,
        "seconds from SIGTERM until they were put back": f"{figures.put_back_s:.1f}",
        "seconds from SIGTERM to the exit, and its code": f"{figures.stopped_s:.1f}, {figures.stopped_code}",
        "model calls repeated": sum(figures.repeated.values()),
        "changes with a question to a person": figures.asked,
        "changes made twice or lost, tasks lost or done twice": 0 if not figures.wrong else "see below",
    }
    print("| what | figure |\n| --- | --- |")
    for what, figure in lines.items():
        print(f"| {what} | {figure} |")
    for text in figures.wrong:
        print(f"wrong: {text}")
    return 1 if figures.wrong else 0


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--concurrency", type=int, default=4)
    parser.add_argument("--latency-ms", type=float, default=50)
    given = parser.parse_args()
    if given.workers < 3:
        parser.error("--workers must be 3 or more, since one is killed and one is stopped")
    figures = run(given.tasks, given.workers, given.concurrency, given.latency_ms)
    return report(figures, given.tasks, given.workers, given.concurrency)


if __name__ == "__main__":
    sys.exit(main())
