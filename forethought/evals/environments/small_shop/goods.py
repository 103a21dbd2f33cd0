"""The goods of the small shop and what shoppers are sent for, all from a seed.

Each errand asks for a kind of product, two attributes, options and a price limit. One offer meets it; twins
of that offer each miss one thing, so that a shopper who overlooks a constraint is rewarded less.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

ERRANDS = 60
FILLERS = 4
"""Offers for each errand that nobody is sent for."""
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

    @property
    def title(self) -> str:
        """What a list of results shows: only the first attribute is in it."""
        return f"{self.name}, {self.attributes[0] if self.attributes else 'everyday'}"

    @property
    def features(self) -> list[str]:
        """A sentence on each attribute."""
        return [f"This {self.noun} is: {text}." for text in self.attributes]


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


@dataclass(frozen=True)
class Catalogue:
    """The shop's goods, and its errands."""

    offers: Mapping[str, Offer]
    errands: Sequence[Errand]


def reward(offer: Offer, chosen: Collection[str], errand: Errand) -> float:
    """The share of the errand's constraints that a purchase meets; 0 for another kind of product."""
    if offer.noun != errand.noun:
        return 0.0
    met = [text in offer.attributes for text in errand.attributes]
    met += [value in chosen for value in errand.options]
    met.append(offer.price <= errand.limit)
    return sum(met) / len(met)


@lru_cache(maxsize=8)
def catalogue(seed: int) -> Catalogue:
    """The same goods and errands for the same seed."""
    maker = _Maker(random.Random(f"small shop {seed}"))
    kinds: Sequence[Kind] = _GOODS["kinds"]
    errands = [maker.errand(kinds[number % len(kinds)]) for number in range(ERRANDS)]
    for _ in range(ERRANDS * FILLERS):
        maker.filler(maker.random.choice(kinds))
    offers = sorted(maker.offers.items())
    maker.random.shuffle(offers)
    return Catalogue(dict(offers), tuple(errands))


class _Maker:
    """Draws offers and errands."""

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
        for kept in asked:
            self._offer(kind, [kept, self.random.choice(others)], kind["options"], price - 0.5)
        self._offer(kind, asked, kind["options"], limit + self.random.randrange(3, 30))
        for name, value in chosen.items():
            left = [other for other in kind["options"][name] if other != value]
            self._offer(kind, asked, {**kind["options"], name: left}, price - 1)
        opening = self.random.choice(("i need a", "find me a", "i am looking for a", "please buy a"))
        options = " and ".join(f"{name} {value}" for name, value in chosen.items())
        instruction = (
            f"{opening} {kind['noun']} ({', '.join(asked)}) with {options}, and price lower than {limit:.2f} "
            "dollars"
        )
        values = tuple(chosen.values())
        return Errand(kind["noun"], tuple(asked), values, limit, instruction, wanted.id)

    def filler(self, kind: Kind) -> None:
        """An offer that nobody is sent for."""
        own = self.random.sample(kind["attributes"], self.random.randint(0, 1))
        self._offer(kind, own, kind["options"], self.random.randrange(*kind["prices"]) + 0.49)

    def _offer(self, kind: Kind, attributes: Sequence[str], options: Options, price: float) -> Offer:
        id = "S" + "".join(self.random.choices("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789", k=9))
        name = f"{self.random.choice(_GOODS['brands'])} {kind['noun']} {self.random.randrange(100, 1000)}"
        self.offers[id] = Offer(id, kind["noun"], name, tuple(attributes), options, round(price, 2))
        return self.offers[id]
