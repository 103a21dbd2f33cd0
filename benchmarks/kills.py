"""Kills real processes with SIGKILL, goes on with what they leave, and counts what was done twice or lost.

    python -m benchmarks.kills --kills 200 --seed 1

A kill falls around an effect, before or after a durable write, or at a random moment; a thread is killed once
or several times before it may end. Where the person is asked whether a broken-off change took effect, they
look at the effects and say so. Prints a table, and exits with 1 where an effect happened twice, a step was
lost, a thread was not answered, or more was asked of the model again than what was in flight at the kills.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.kill_process import Ended, Kill, load, run
from benchmarks.kill_world import (
    AT,
    EFFECTS,
    FOLDER,
    READS,
    REQUESTS,
    STEPS,
    THREAD,
    WIDTH,
    noted,
    policy,
)

Json = dict[str, Any]
SETTINGS = ("replanning=false", "approve_tools=never", f"max_parallel={WIDTH}", "prospective_reflection=true")
_MOST = 40
"""Processes of one thread; it has long ended by then."""


@dataclass
class Tally:
    """What was counted over the threads of one kind of kill."""

    threads: int = 0
    kills: int = 0
    asked: int = 0
    """Questions about a change whose outcome nobody knew."""
    repeated: int = 0
    """Model requests beyond the first of their kind."""
    in_flight: int = 0
    """Model requests that no process kept the reply of, so that they may be repeated."""
    wrong: list[str] = field(default_factory=list)


class Bench:
    """Threads that are killed, in a folder."""

    def __init__(self, folder: Path, url: str, chance: random.Random) -> None:
        self.folder, self.url, self.chance = folder, url, chance
        self.tallies: dict[str, Tally] = {}
        self.threads = 0
        self.seconds = self.seconds_anew = 60.0
        """How long a run takes that nobody kills, in a fork and begun anew."""

    def measure(self) -> int:
        """Run two threads that nobody kills; how often such a run writes."""
        began = time.monotonic()
        self.thread("unkilled", [])
        self.seconds = time.monotonic() - began
        writes = int((self.folder / "writes").read_text())
        began = time.monotonic()
        self.thread("unkilled", [Kill("exec", 600)])
        self.seconds_anew = time.monotonic() - began
        return writes

    def thread(self, kind: str, kills: list[Kill]) -> int:
        """Run a thread to its end through `kills`; the kills that fell while it ran."""
        self.threads += 1
        name = f"{kind}{self.threads}"
        tally = self.tallies.setdefault(kind, Tally())
        before = tally.kills
        wanted = iter(kills)
        arguments = ["run", f"Do what is due for thread {name}.", "--thread", name]
        for _ in range(_MOST):
            kill, began = next(wanted, None), time.monotonic()
            ended = self._run(name, arguments, kill)
            if not ended.killed and kill is not None:
                self._came_too_late(kill, time.monotonic() - began)
            tally.kills += ended.killed
            if "is finished" in ended.err:  # killed when all was done
                ended = self._run(name, ["show", name], None)
            if not ended.killed and ended.code != 4:
                break
            arguments = self._go_on(name, ended, tally)
        tally.threads += 1
        tally.wrong += self._wrong(name, ended, tally, tally.kills - before)
        return tally.kills - before

    def _came_too_late(self, kill: Kill, seconds: float) -> None:
        """A process had ended before its kill: where a machine is busy by turns, later kills fall earlier."""
        if kill.kind == "within":
            self.seconds = min(self.seconds, seconds)
        if kill.kind == "exec":
            self.seconds_anew = min(self.seconds_anew, seconds)

    def _run(self, name: str, arguments: list[str], kill: Kill | None) -> Ended:
        env = {
            FOLDER: str(self.folder),
            THREAD: name,
            "FORETHOUGHT_BASE_URL": self.url,
            "FORETHOUGHT_MODEL": "openai:scripted",
            "FORETHOUGHT_DATA_DIR": str(self.folder / "data"),
            "FORETHOUGHT_TOOLS": "benchmarks.kill_world",
            AT: f"{kill.kind} {kill.effect}" if kill and kill.effect else "",
        }
        if arguments[0] != "show":
            arguments = [*arguments, *(part for setting in SETTINGS for part in ("--set", setting))]
        return run([*arguments, "--json"], env, self.folder, kill)

    def _go_on(self, name: str, ended: Ended, tally: Tally) -> list[str]:
        """The next command: the same again where nothing was kept yet, else to resume, with the replies of a
        person who has looked at the effects."""
        if not self._kept(name, "SELECT 1 FROM checkpoints WHERE thread_id = ? LIMIT 1"):
            return ["run", f"Do what is due for thread {name}.", "--thread", name]
        arguments = ["resume", name]
        waiting = json.loads(ended.out)["interrupts"] if ended.code == 4 else []
        for question in waiting:
            what = question["unknown"]["arguments"]["what"]
            happened, again, _ = question["choices"]
            said = happened if what in noted(self.folder, name, "effects") else again
            arguments += ["--reply", f"{question['id']}={said}"]
            tally.asked += 1
        return arguments

    def _wrong(self, name: str, ended: Ended, tally: Tally, kills: int) -> list[str]:
        """What must not be, of a thread that has ended."""
        effects, reads, requests = (
            Counter(noted(self.folder, name, kind)) for kind in ("effects", "reads", "requests")
        )
        keys = self._entries(name)
        lost_replies = sum(requests.values()) - sum(key.startswith("reply") for key in keys)
        lost_reads = sum(reads.values()) - sum("look_up" in key and key.endswith("outcome") for key in keys)
        repeated = sum(requests.values()) - len(requests)
        tally.repeated += repeated
        tally.in_flight += lost_replies
        try:
            result = json.loads(ended.out)
        except ValueError:
            return [f"{name}: ended with {ended.code} and no result: {ended.err[-300:]}"]
        steps = [(step["n"], step["ok"]) for step in result.get("steps") or []]
        found = {
            f"status {result['status']}": result["status"] != "answered",
            f"steps {steps}": steps != [(n, True) for n in range(1, STEPS + 1)],
            f"effects {dict(effects)}": effects != Counter(EFFECTS),
            f"requests {dict(requests)}": set(requests) != set(REQUESTS),
            f"{repeated} requests repeated, {lost_replies} in flight": repeated > lost_replies,
            f"reads {dict(reads)}": set(reads) != set(READS) or sum(reads.values()) - len(READS) > lost_reads,
            f"{lost_replies} replies lost at {kills} kills": lost_replies > WIDTH * kills,
        }
        return [f"{name}: {text}" for text, is_wrong in found.items() if is_wrong]

    def _entries(self, name: str) -> list[str]:
        """The keys of the thread's journal."""
        from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

        loads = JsonPlusSerializer().loads_typed
        query = "SELECT type, value FROM writes WHERE thread_id = ? AND channel = 'forethought:journal'"
        return [loads((kind, value))["key"] for kind, value in self._kept(name, query)]

    def _kept(self, name: str, query: str) -> list[Any]:
        path = self.folder / "data" / "threads.sqlite"
        if not path.exists():
            return []
        connection = sqlite3.connect(path)
        try:
            return connection.execute(query, (name,)).fetchall()
        except sqlite3.OperationalError:  # killed before its tables were made
            return []
        finally:
            connection.close()


def schedule(bench: Bench, kills: int, anew: int, writes: int) -> Iterator[None]:
    """Threads until `kills` kills have fallen: some around effects, a third around durable writes, one a
    thread, the others at random moments, some of them of processes begun anew; a step for each thread."""
    chance, fallen = bench.chance, 0
    effects = [(effect, kind) for effect in EFFECTS for kind in ("begun", "done")]
    for effect, kind in effects[: max(2, kills // 20)]:
        fallen += bench.thread(kind, [Kill(kind, effect=effect)])
        yield
    boundaries = [(kind, at) for at in range(1, writes + 1) for kind in ("before", "after")]
    chance.shuffle(boundaries)
    for kind, at in boundaries[: max(2, kills // 3)]:
        fallen += bench.thread(kind, [Kill(kind, at)])
        yield
    while anew > 0 and fallen < kills:
        # The first half of a process begun anew is its start.
        done = bench.thread("exec", [Kill("exec", bench.seconds_anew * (0.3 + 0.7 * chance.random()))])
        anew, fallen = anew - done, fallen + done
        yield
    while fallen < kills:
        several = min(kills - fallen, chance.randint(1, 5))
        moments = [bench.seconds * chance.random() for _ in range(several)]
        fallen += bench.thread("within", [Kill("within", moment) for moment in moments])
        yield


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200, help="how many kills (default 200)")
    parser.add_argument("--seed", type=int, default=1, help="of the moments (default 1)")
    parser.add_argument("--exec", type=int, default=4, dest="anew", help="kills of `python -m` processes")
    given = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Begun before anything is loaded: this process stays without threads, so that it can be forked.
        near, far = multiprocessing.Pipe()
        server = multiprocessing.get_context("fork").Process(target=serve, args=(folder, far), daemon=True)
        server.start()
        try:
            bench = Bench(folder, near.recv(), random.Random(given.seed))
            load()
            writes = bench.measure()
            for _ in schedule(bench, given.kills, given.anew, writes):
                fallen = sum(tally.kills for tally in bench.tallies.values())
                print(f"\r{fallen} of {given.kills} kills", end="", file=sys.stderr, flush=True)
        finally:
            server.terminate()
            server.join()
    print(file=sys.stderr)
    return report(bench, writes, given.seed, time.monotonic() - started)


def serve(folder: Path, far: Any) -> None:
    """The model server, in a process of its own."""
    from tests.support.model_server import ModelServer

    server = ModelServer(policy(folder))
    far.send(server.url)
    server.closing.wait()


def report(bench: Bench, writes: int, seed: int, seconds: float) -> int:
    """Print the table; 0 if nothing is wrong in it, else 1."""
    print(f"seed {seed}, {writes} durable writes a run, {seconds:.0f} s\n")
    print("| kill | threads | kills | asked the person | model calls repeated | wrong |")
    print("| --- | --- | --- | --- | --- | --- |")
    names = {
        "unkilled": "none",
        "begun": "before an effect",
        "done": "after an effect, before its result",
        "before": "before a durable write",
        "after": "after a durable write",
        "within": "at a random moment",
        "exec": "at a random moment of `python -m forethought`",
    }
    for kind, tally in bench.tallies.items():
        cells = (tally.threads, tally.kills, tally.asked, tally.repeated, len(tally.wrong))
        print(f"| {names[kind]} | {' | '.join(map(str, cells))} |")
    every = bench.tallies.values()
    cells = (
        sum(tally.threads for tally in every),
        sum(tally.kills for tally in every),
        sum(tally.asked for tally in every),
        sum(tally.repeated for tally in every),
        sum(len(tally.wrong) for tally in every),
    )
    print(f"| all | {' | '.join(map(str, cells))} |")
    wrong = [text for tally in every for text in tally.wrong]
    for text in wrong:
        print(f"wrong: {text}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
