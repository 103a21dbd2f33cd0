"""Threads that are killed and gone on with, and what is counted of them (`benchmarks/kills.py`)."""

from __future__ import annotations

import json
import random
import sqlite3
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.kill_process import Ended, Kill, run
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
)

Json = dict[str, Any]
SETTINGS = ("replanning=false", f"max_parallel={WIDTH}", "prospective_reflection=true")
REVISING = 2
"""Maximum model calls of a node: after a kill it repeats them."""
_MOST = 40
"""Maximum processes of one thread."""


@dataclass
class Tally:
    """What was counted over the threads of one kind of kill."""

    threads: int = 0
    kills: int = 0
    asked: int = 0
    """Questions about changes with an unknown outcome."""
    approved_again: int = 0
    """Approvals beyond the first of each call."""
    repeated: int = 0
    """Model requests beyond the first of their kind."""
    wrong: list[str] = field(default_factory=list)

    @property
    def figures(self) -> tuple[int, ...]:
        """The table's columns."""
        return (self.threads, self.kills, self.asked, self.approved_again, self.repeated, len(self.wrong))


@dataclass(frozen=True)
class Writes:
    """Durable writes of a run that nobody kills."""

    plain: int
    """Of one that needs no approval, and so is one process."""
    approved: Sequence[int]
    """Of each process that a person's approval begins."""


class Bench:
    """Threads that are killed, in a folder."""

    def __init__(self, folder: Path, url: str, chance: random.Random) -> None:
        self.folder, self.url, self.chance = folder, url, chance
        self.tallies: dict[str, Tally] = {}
        self.threads = 0
        self.seconds = self.seconds_anew = 60.0
        """Seconds of a run without a kill, in a fork and in a new process."""
        self.writes: list[int] = []
        """Durable writes of each process of the last thread without a kill."""
        self.met: set[object] = set()
        """The places at which threads were killed."""
        self._settings: tuple[str, ...] = ()
        self._approved: Counter[str] = Counter()

    def measure(self) -> Writes:
        """Run three threads that nobody kills; how often each of their processes writes."""
        began = time.monotonic()
        self.thread("unkilled", [])
        self.seconds = time.monotonic() - began
        (plain,) = self.writes
        began = time.monotonic()
        self.thread("unkilled", [Kill("exec", 600)])
        self.seconds_anew = time.monotonic() - began
        self.thread("unkilled", [], approved=True)
        _, *approved = self.writes
        return Writes(plain, approved)

    def thread(self, kind: str, kills: Sequence[Kill | None], *, approved: bool = False) -> int:
        """Run a thread to its end through `kills`, one a process (None: that one is let be); the kills that
        fell while it ran. `approved`: a person approves each write."""
        self.threads += 1
        name = f"{kind}{self.threads}".replace(" ", "-")
        tally = self.tallies.setdefault(kind, Tally())
        self.writes, self._settings = [], (*SETTINGS, f"approve_tools={'always' if approved else 'never'}")
        self._approved = Counter()
        before = tally.kills
        wanted = iter(kills)
        arguments = ["run", f"Do what is due for thread {name}.", "--thread", name]
        for _ in range(_MOST):
            kill, began = next(wanted, None), time.monotonic()
            ended = self._run(name, arguments, kill)
            if not ended.killed and (self.folder / "writes").exists():
                self.writes.append(int((self.folder / "writes").read_text()))
            if not ended.killed and kill is not None:
                self._came_too_late(kill, time.monotonic() - began)
            tally.kills += ended.killed
            if "is finished" in ended.err:  # killed when all was done
                ended = self._run(name, ["show", name], None)
            if not ended.killed and ended.code != 4:
                break
            arguments = self._go_on(name, ended, tally)
        tally.threads += 1
        tally.approved_again += sum(self._approved.values()) - len(self._approved)
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
            "FORETHOUGHT_EFFORT": "paper",  # with revisions, so that there are more places to be killed at
            "FORETHOUGHT_DATA_DIR": str(self.folder / "data"),
            "FORETHOUGHT_TOOLS": "benchmarks.kill_world",
            AT: f"{kill.kind} {kill.effect}" if kill and kill.effect else "",
        }
        if arguments[0] != "show":
            arguments = [*arguments, *(part for setting in self._settings for part in ("--set", setting))]
        return run([*arguments, "--json"], env, self.folder, kill)

    def _go_on(self, name: str, ended: Ended, tally: Tally) -> list[str]:
        """The next command: the same again where nothing was kept yet, else to resume, with the replies of a
        person who has looked at the effects."""
        if not self._kept(name, "SELECT 1 FROM checkpoints WHERE thread_id = ? LIMIT 1"):
            return ["run", f"Do what is due for thread {name}.", "--thread", name]
        arguments = ["resume", name]
        waiting = json.loads(ended.out)["interrupts"] if ended.code == 4 else []
        for question in waiting:
            if question["kind"] == "tool":
                arguments += ["--reply", f"{question['id']}=approve"]
                self._approved[question["id"]] += 1
                continue
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
        repeated = sum(requests.values()) - len(requests)
        repeated_reads = sum(reads.values()) - len(reads)
        tally.repeated += repeated
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
            f"{repeated} requests repeated at {kills} kills": repeated > REVISING * WIDTH * kills,
            f"reads {dict(reads)}": set(reads) != set(READS) or repeated_reads > len(READS) * kills,
        }
        return [f"{name}: {text}" for text, is_wrong in found.items() if is_wrong]

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
