"""A small price register: the tasks, their tools, and a benchmark of them."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from forethought.evals.types import Attempt, Benchmark, Sample, Score, Services
from forethought.tools.base import Tool, ToolError, make_tool

Fault = Literal["none", "condition", "tool", "plan", "move", "spelling", "entry", "edition"]
FAULTS: tuple[Fault, ...] = get_args(Fault)
ITEMS = (
    "blue lamp",
    "oak chair",
    "tin kettle",
    "wool rug",
    "clay pot",
    "brass bell",
    "reed basket",
    "glass jar",
)
TOWNS = ("Arden", "Bexley", "Corran", "Dunmore", "Elstow")


@dataclass(frozen=True)
class Prices:
    """What is true of one task."""

    item: str
    town: str
    price: int
    fee: int
    entry: int
    """What the catalogue's short entry says: not the price."""
    old: int
    """The price in the old edition."""

    @property
    def task(self) -> str:
        """The question."""
        return (
            f"What does a {self.item} cost at the market of {self.town}, the market's fee included? "
            "Answer with the number of euros."
        )


def prices_of(data: Mapping[str, Any]) -> Prices:
    """From a sample's data."""
    return Prices(**{name: data[name] for name in ("item", "town", "price", "fee", "entry", "old")})


def tools_for(prices: Prices) -> list[Tool]:
    """The register's tools, as they answer in this task."""

    async def catalogue(item: str) -> str:
        """Look an item up in the catalogue of short entries.

        Args:
            item: The item.
        """
        return f"{item}: about {prices.entry} euros. A short entry; the item's page has the prices by town."

    async def page(item: str, edition: str) -> str:
        """Open an item's page of prices.

        Args:
            item: The page's name.
            edition: new, or old.
        """
        name = prices.item.replace(" ", "-")
        if item != name:
            raise ToolError(
                f"there is no page {item!r}", cause="not_found", hint="pages are named like oak-chair"
            )
        if edition != "new":
            return f"Prices of {name}, old edition. In all towns: {prices.old} euros."
        rows = [
            f"{town}: {prices.price + (town != prices.town) * (at + 1)} euros"
            for at, town in enumerate(TOWNS)
        ]
        return f"Prices of {name}, new edition, by town.\n" + "\n".join(rows)

    async def ledger(item: str, town: str) -> str:
        """Look a price up in the towns' ledger.

        Args:
            item: The item.
            town: The town.
        """
        raise ToolError("the ledger is closed and answers nothing any more", cause="unavailable")

    async def fees(town: str) -> str:
        """The fee of a town's market.

        Args:
            town: The town.
        """
        return f"The market of {town} takes a fee of {prices.fee} euros."

    return [make_tool(function) for function in (catalogue, page, ledger, fees)]


@dataclass(frozen=True)
class PriceRegister(Benchmark):
    """The benchmark: `per_fault` tasks for each kind of fault."""

    per_fault: int = 4
    seed: int = 1
    name: str = "planted-faults"
    title: str = "Planted faults (scripted model)"
    about: str = "A small made-up price register for a scripted model."
    main_metric: str = "correct"

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """All tasks; `data` is not looked at."""
        rng, samples = random.Random(self.seed), []
        pairs = rng.sample([(item, town) for item in ITEMS for town in TOWNS], self.per_fault * len(FAULTS))
        for at, (item, town) in enumerate(pairs):
            price = rng.randint(20, 60)
            made = Prices(item, town, price, rng.randint(2, 9), price + 11, price - 12)
            fault = FAULTS[at % len(FAULTS)]
            samples.append(
                Sample(
                    id=f"{fault}-{at // len(FAULTS) + 1}",
                    task=made.task,
                    target=made.price + made.fee,
                    groups={"fault": fault},
                    data=vars(made),
                )
            )
        return samples

    def tools(self, sample: Sample, services: Services) -> list[Tool]:
        """See `tools_for`."""
        return tools_for(prices_of(sample.data))

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """Whether the answer's one number is right."""
        numbers = re.findall(r"\d+", attempt.answer)
        return Score({"correct": float(numbers == [str(sample.target)])}, f"the answer is {sample.target}")


BENCHMARK = PriceRegister()
