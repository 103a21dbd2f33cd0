"""The goods of the small shop and what shoppers are sent for, drawn once and for all.

Each errand asks for a kind of product, two attributes, options and a price limit. One offer meets it; twins
of that offer each miss one thing, so that a shopper who overlooks a constraint is rewarded less.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ERRANDS = 60
_GOODS = yaml.safe_load(Path(__file__).with_name("goods.yaml").read_text("utf-8"))
Kind = Mapping[str, Any]
"""noun, attributes, options (name -> values) and prices (from, to) of a kind of product."""
Options = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Offer:
    """A product as the shop sells it."""

    id: str
    noun: str
    name: str
    attributes: tuple[str, ...]
    options: Options
    price: float


@dataclass(frozen=True)
class Errand:
    """What one shopper is sent for."""

    noun: str
    attributes: tuple[str, ...]
    options: tuple[str, ...]
    limit: float
    """Dollars at most."""
    instruction: str
    wanted: str
    """Id of the offer that meets it."""


def reward(offer: Offer, chosen: Collection[str], errand: Errand) -> float:
    """The share of the errand's constraints that a purchase meets; 0 for another kind of product."""
    if offer.noun != errand.noun:
        return 0.0
    met = [text in offer.attributes for text in errand.attributes]
    met += [value in chosen for value in errand.options]
    met.append(offer.price <= errand.limit)
    return sum(met) / len(met)


@cache
def catalogue() -> tuple[Mapping[str, Offer], Sequence[Errand]]:
    """The offers by their ids, and the errands; the same in every process."""
    maker, kinds = _Maker(random.Random("small shop")), _GOODS["kinds"]
    errands = [maker.errand(kinds[number % len(kinds)]) for number in range(ERRANDS)]
    offers = sorted(maker.offers.items())
    maker.random.shuffle(offers)
    return dict(offers), errands


class _Maker:
    """Draws errands and offers."""

    def __init__(self, rng: random.Random) -> None:
        self.random = rng
        self.offers: dict[str, Offer] = {}

    def errand(self, kind: Kind) -> Errand:
        """An errand, the offer that meets it, and its twins."""
        asked = self.random.sample(kind["attributes"], 2)
        chosen = {name: self.random.choice(values) for name, values in kind["options"].items()}
        price = self.random.randrange(*kind["prices"]) + 0.99
        limit = float(10 * (int(price) // 10 + 1))
        wanted = self._offer(kind, asked, kind["options"], price)
        others = [text for text in kind["attributes"] if text not in asked]
        for text in asked:
            self._offer(kind, [text, self.random.choice(others)], kind["options"], price - 0.5)
        self._offer(kind, asked, kind["options"], limit + self.random.randrange(3, 30))
        for name, value in chosen.items():
            left = [other for other in kind["options"][name] if other != value]
            self._offer(kind, asked, {**kind["options"], name: left}, price - 1)
        options = " and ".join(f"{name} {value}" for name, value in chosen.items())
        instruction = (
            f"i need a {kind['noun']} ({', '.join(asked)}) with {options}, and price lower than {limit:.2f} "
            "dollars"
        )
        return Errand(kind["noun"], tuple(asked), tuple(chosen.values()), limit, instruction, wanted.id)

    def _offer(self, kind: Kind, attributes: Sequence[str], options: Options, price: float) -> Offer:
        id = "S" + "".join(self.random.choices("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789", k=9))
        name = f"{self.random.choice(_GOODS['brands'])} {kind['noun']} {self.random.randrange(100, 1000)}"
        self.offers[id] = Offer(id, kind["noun"], name, tuple(attributes), options, round(price, 2))
        return self.offers[id]
