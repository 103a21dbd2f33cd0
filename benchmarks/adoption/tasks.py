"""The tasks: half of each kind are planned with the mistake of the kind."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from benchmarks.planted_faults.held_out import YEARS, Market, market_tools
from benchmarks.planted_faults.world import ITEMS, TOWNS, Prices, tools_for
from forethought.tools.base import Tool

Fault = Literal["condition", "entry", "edition", "period", "cut"]
FAULTS: tuple[Fault, ...] = get_args(Fault)
_WORDING = {
    "condition": "What does a {item} cost at the market of {town}, the market's fee included?",
    "entry": "What exactly does a {item} cost the buyer in {town}, fee included? A rough figure is no use.",
    "edition": "What must a buyer pay in {town} for a {item} at present, with the fee?",
}


@dataclass(frozen=True)
class Task:
    """A task, and whether the model makes the mistake of its kind in it."""

    kind: Fault
    faulty: bool
    question: str
    answer: int
    world: Prices | Market

    def tools(self) -> list[Tool]:
        """The tools, as they answer in this task. Text from elsewhere would put all advice in quarantine."""
        tools = tools_for(self.world) if isinstance(self.world, Prices) else market_tools(self.world)
        return [replace(tool, outside=False) for tool in tools]

    def makes(self, fault: Fault) -> bool:
        """Whether a plan for this task can hold the mistake."""
        if isinstance(self.world, Prices):
            return fault in _WORDING
        return fault == "cut" if self.kind == "cut" else fault == "period"


def tasks(per_kind: int, seed: int) -> list[Task]:
    """Draw so many tasks of each kind, every other one with its mistake."""
    rng = random.Random(seed)
    made = []
    for kind in FAULTS:
        pairs = rng.sample([(item, town) for item in ITEMS for town in TOWNS[1:]], per_kind)
        made += [_task(rng, kind, at % 2 == 0, *pair) for at, pair in enumerate(pairs)]
    return made


def _task(rng: random.Random, kind: Fault, faulty: bool, item: str, town: str) -> Task:
    price, fee = rng.randint(20, 60), rng.randint(2, 9)
    if kind in _WORDING:
        prices = Prices(item, town, price, fee, price + 11, price - 12)
        return Task(kind, faulty, _WORDING[kind].format(item=item, town=town), price + fee, prices)
    market = Market("cut" if kind == "cut" else "period", item, town, rng.choice(YEARS), price, fee, 0)
    question = (
        market.task.replace("five pieces of", f"five pieces of {town}'s") if kind == "cut" else market.task
    )
    return Task(kind, faulty, question, market.target, market)


def by_question(made: Sequence[Task], text: str) -> Task:
    """The task that a prompt is about."""
    return next(task for task in made if task.question in text)
