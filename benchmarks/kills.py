"""Kills real processes with SIGKILL, goes on with what they leave, and counts what was done twice or lost.

    python -m benchmarks.kills --kills 260 --seed 1

A kill falls around each effect, and before and after each durable write: of a run without approvals from its
beginning to its end, and of a run whose writes a person approves, from each approval on. The others fall at
random moments. A thread is killed once or several times before it may end. Where the person is asked whether
a broken-off change took effect, they look at the effects and say so. Prints a table, and exits with 1 where
an effect happened twice, a step was lost, a thread was not answered, or more was asked of the model again
than the nodes under way at the kills had asked.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.kill_bench import Bench, Writes
from benchmarks.kill_process import Kill, load
from benchmarks.kill_world import APPROVED, EFFECTS, policy

_KNOWN = 0.85
"""Maximum share of kills at known places."""
_TRIES = 3
"""Threads for one place, since a run may end before its kill."""
NAMES = {
    "unkilled": "none",
    "begun": "before an effect",
    "done": "after an effect, before its result",
    "before": "before a durable write",
    "after": "after a durable write",
    "begun approved": "before an approved effect",
    "done approved": "after an approved effect, before its result",
    "before approved": "before a durable write after an approval",
    "after approved": "after a durable write after an approval",
    "exec": "at a random moment of `python -m forethought`",
    "within": "at a random moment",
}


@dataclass(frozen=True)
class Planned:
    """A thread that is to be killed once, at a place that is known."""

    kind: str
    kills: tuple[Kill | None, ...]
    approved: bool = False


def places(writes: Writes) -> list[list[Planned]]:
    """Every place at which a run is killed, in groups: around effects and durable writes, without approvals;
    the same of the processes that an approval begins."""
    moments = ("begun", "done")
    effects = [Planned(kind, (Kill(kind, effect=effect),)) for effect in EFFECTS for kind in moments]
    plain = [Planned(kind, (Kill(kind, at),)) for kind, at in _around(writes.plain)]
    approved_effects = [
        Planned(f"{kind} approved", (*[None] * before, Kill(kind, effect=effect)), True)
        for effect, before in APPROVED.items()
        for kind in moments
    ]
    approved = [
        Planned(f"{kind} approved", (*[None] * number, Kill(kind, at)), True)
        for number, most in enumerate(writes.approved, 1)
        for kind, at in _around(most)
    ]
    return [effects, plain, approved_effects, approved]


def _around(writes: int) -> list[tuple[str, int]]:
    return [(kind, at) for at in range(1, writes + 1) for kind in ("before", "after")]


def schedule(bench: Bench, kills: int, anew: int, groups: Sequence[Sequence[Planned]]) -> Iterator[None]:
    """Threads until `kills` kills have fallen: one at each of the known places, or where `kills` are too few
    at some of each group; the others at random moments, some of them of processes begun anew. A step for
    each thread."""
    chance, fallen = bench.chance, 0
    share = min(1.0, _KNOWN * kills / sum(map(len, groups)))
    for group in groups:
        for planned in chance.sample(group, math.ceil(share * len(group))):
            for _ in range(_TRIES):
                done = bench.thread(planned.kind, planned.kills, approved=planned.approved)
                yield
                if done:
                    bench.met.add(planned)
                    break
            fallen += done
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
    parser.add_argument("--kills", type=int, default=260, help="number of kills (default 260)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the moments (default 1)")
    parser.add_argument(
        "--exec", type=int, default=4, dest="anew", help="number of kills of `python -m` processes"
    )
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
            groups = places(writes)
            for _ in schedule(bench, given.kills, given.anew, groups):
                fallen = sum(tally.kills for tally in bench.tallies.values())
                print(f"\r{fallen} of {given.kills} kills", end="", file=sys.stderr, flush=True)
        finally:
            server.terminate()
            server.join()
    print(file=sys.stderr)
    print(f"seed {given.seed}, {time.monotonic() - started:.0f} s, {given.kills} kills wanted")
    print(
        f"durable writes: {writes.plain} of a run, {' and '.join(map(str, writes.approved))} after approvals"
    )
    print(f"known places reached: {len(bench.met)} of {sum(map(len, groups))}\n")
    return report(bench)


def serve(folder: Path, far: Any) -> None:
    """The model server, in a process of its own."""
    from tests.support.model_server import ModelServer

    server = ModelServer(policy(folder))
    far.send(server.url)
    server.closing.wait()


def report(bench: Bench) -> int:
    """Print the table; 0 if nothing is wrong in it, else 1."""
    print("| kill | threads | kills | asked the person | approved again | model calls repeated | wrong |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for kind, name in NAMES.items():
        if kind in bench.tallies:
            print(f"| {name} | {' | '.join(map(str, bench.tallies[kind].figures))} |")
    every = [tally.figures for tally in bench.tallies.values()]
    print(f"| all | {' | '.join(str(sum(column)) for column in zip(*every, strict=True))} |")
    wrong = [text for tally in bench.tallies.values() for text in tally.wrong]
    for text in wrong:
        print(f"wrong: {text}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
