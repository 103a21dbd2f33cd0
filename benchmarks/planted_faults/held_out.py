"""Tasks with faults that the rules of effort were not written for."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from benchmarks.planted_faults.world import ITEMS, TOWNS
from forethought.evals.types import Attempt, Benchmark, Sample, Score, Services
from forethought.tools.base import Tool, make_tool

HeldOut = Literal["unit", "target", "period", "cut"]
HELD_OUT: tuple[HeldOut, ...] = get_args(HeldOut)
YEARS = (2021, 2022, 2023)
LATEST = 2024
ROWS = 3
"""Rows of a page that is cut."""


@dataclass(frozen=True)
class Market:
    """The facts of one task."""

    fault: HeldOut
    item: str
    town: str
    year: int
    price: int
    """Euros in the year asked for, in the first town; each town further on adds a euro."""
    fee: int
    """Euros. The tool says it in cents."""
    number: int
    """The number of the next order."""

    @property
    def task(self) -> str:
        """The question."""
        if self.fault == "target":
            return f"Order one {self.item} at the market of {self.town}. Answer with the order's number."
        if self.fault == "cut":
            return (
                f"What do five pieces of {self.item} cost in {self.year}, one from each of the five markets "
                f"from {TOWNS[0]} to {TOWNS[-1]}, without fees? Answer with the number of euros."
            )
        return (
            f"What did a {self.item} cost at the market of {self.town} in {self.year}, the fee included? "
            "The fees are kept in cents. Answer with the number of euros."
        )

    @property
    def target(self) -> int:
        """The right answer."""
        if self.fault == "target":
            return self.number
        if self.fault == "cut":
            return sum(self.price + at for at in range(len(TOWNS)))
        return self.price + TOWNS.index(self.town) + self.fee


def market_tools(market: Market) -> list[Tool]:
    """The market's tools, as they answer in this task."""
    orders: list[str] = []

    async def prices(item: str, year: int, part: int = 1) -> str:
        """Read an item's prices by town.

        Args:
            item: The item.
            year: The year.
            part: Part of the page.
        """
        moved = market.price + 7 * (year != market.year)
        rows = [f"{town}: {moved + at} euros" for at, town in enumerate(TOWNS)]
        size = ROWS if market.fault == "cut" else len(rows)
        return f"Prices of {item}, year {year}.\n" + "\n".join(rows[(part - 1) * size : part * size])

    async def fees(town: str) -> str:
        """Read the fee of a town's market.

        Args:
            town: The town.
        """
        return f"The market of {town} takes a fee of {market.fee * 100} cents."

    async def add(amounts: list[int]) -> str:
        """Add amounts up.

        Args:
            amounts: The amounts.
        """
        return f"The sum is {sum(amounts)}."

    async def order(item: str, town: str) -> str:
        """Order one piece of an item. An order cannot be taken back.

        Args:
            item: The item.
            town: The town of the market.
        """
        orders.append(town)
        # Only a single order at the right market has the right number.
        right = orders == [market.town] and item == market.item
        return f"Order {market.number + (not right) * 100} of {item} at {town} is placed."

    return [
        make_tool(prices),
        make_tool(fees),
        make_tool(add, outside=False),
        make_tool(order, effect="write"),
    ]


@dataclass(frozen=True)
class HeldOutFaults(Benchmark):
    """The benchmark: `per_fault` tasks for each kind of fault."""

    per_fault: int = 8
    seed: int = 2
    name: str = "held-out-faults"
    title: str = "Held-out faults (scripted model)"
    about: str = "A small made-up market for a scripted model."
    main_metric: str = "correct"

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """All tasks; `data` is not looked at."""
        rng, samples = random.Random(self.seed), []
        items = [(item, YEARS[at % len(YEARS)]) for at, item in enumerate(ITEMS)]
        for fault in HELD_OUT:
            for at, (item, year) in enumerate(items[: self.per_fault]):
                town, price = rng.choice(TOWNS[1:]), rng.randint(20, 60)
                shown = YEARS[(at + 1) % len(YEARS)] if fault == "period" else year
                made = Market(fault, item, town, shown, price, rng.randint(2, 9), rng.randint(100, 999))
                samples.append(
                    Sample(
                        id=f"{fault}-{at + 1}",
                        task=made.task,
                        target=made.target,
                        groups={"fault": fault},
                        data=vars(made),
                    )
                )
        return samples

    def tools(self, sample: Sample, services: Services) -> list[Tool]:
        """See `market_tools`."""
        return market_tools(Market(**sample.data))

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """Whether the answer's one number is right."""
        numbers = re.findall(r"\d+", attempt.answer)
        return Score({"correct": float(numbers == [str(sample.target)])}, f"the answer is {sample.target}")


BENCHMARK = HeldOutFaults()
