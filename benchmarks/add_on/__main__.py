"""Runs every fault in every framework, with the add-on and without it, and prints what came of it."""

from __future__ import annotations

import argparse
import asyncio
import random
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from benchmarks.add_on.hosts import HOSTS
from benchmarks.add_on.script import FAULTS, Fault, Script
from benchmarks.planted_faults.world import ITEMS, TOWNS, Prices, tools_for
from tests.support.model_server import ModelServer

Runs = dict[tuple[str, bool], Counter[str]]


def tasks(per_fault: int) -> list[tuple[Prices, Fault]]:
    """Tasks of the small price register, `per_fault` for each fault."""
    rng = random.Random(1)
    pairs = rng.sample([(item, town) for item in ITEMS for town in TOWNS], per_fault * len(FAULTS))
    made = []
    for at, (item, town) in enumerate(pairs):
        price = rng.randint(20, 60)
        prices = Prices(item, town, price, rng.randint(2, 9), price + 11, price - 12)
        made.append((prices, FAULTS[at % len(FAULTS)]))
    return made


async def measure(per_fault: int, hosts: tuple[Callable[..., Any], ...] = HOSTS) -> Runs:
    """By framework, with the add-on and without: right answers by fault; and of sound and faulty tasks the
    number, the calls and the tokens."""
    runs: Runs = {}
    chosen = tasks(per_fault)
    server = ModelServer(Script({prices.task: (prices, fault) for prices, fault in chosen}))
    try:
        for host in hosts:
            for with_it in (False, True):
                count = Counter[str]()
                for prices, fault in chosen:
                    before = len(server.requests)
                    answer = await host(server.url, prices.task, tools_for(prices), with_it)
                    count[fault] += re.findall(r"\d+", answer) == [str(prices.price + prices.fee)]
                    kind = "sound" if fault == "none" else "faulty"
                    replies = [server.policy(seen) for seen in server.requests[before:]]
                    count[f"{kind} tasks"] += 1
                    count[f"{kind} calls"] += len(replies)
                    count[f"{kind} tokens"] += sum(r.prompt_tokens + r.completion_tokens for r in replies)
                runs[host.__name__, with_it] = count
    finally:
        server.close()
    return runs


def table(runs: Runs, per_fault: int) -> str:
    """The report, as a table of Markdown."""
    names = ["agent", "add-on", *(f"{fault} fault" if fault != "none" else "sound" for fault in FAULTS)]
    names += [f"{what}, {kind}" for what in ("calls", "tokens") for kind in ("sound", "faulty")]
    lines = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    for (host, with_it), count in runs.items():
        cells = [
            host,
            "with" if with_it else "without",
            *(f"{count[fault]} of {per_fault}" for fault in FAULTS),
        ]
        for what, form in (("calls", ".1f"), ("tokens", ",.0f")):
            cells += [f"{count[f'{k} {what}'] / count[f'{k} tasks']:{form}}" for k in ("sound", "faulty")]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.add_on", description=__doc__)
    parser.add_argument("--per-fault", type=int, default=4, help="tasks for each fault (default 4)")
    given = parser.parse_args()
    print("Right answers by what was planted, and the mean calls and tokens of a task:\n")
    print(table(asyncio.run(measure(given.per_fault)), given.per_fault))


if __name__ == "__main__":
    main()
