"""The goods of the small shop and what shoppers are sent for, all from a seed.

Each goal asks for a kind of product, attributes, options and a price limit. One product meets it; twins of
that product each miss one thing (an attribute, an option's value, the price), so that a shopper who overlooks
a constraint finds something nearly right and is rewarded less.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from forethought.evals.environments.small_shop.kinds import KINDS, Kind
from forethought.evals.environments.webshop.reward import Goal, Product, matching_options

GOALS = 60
FILLERS = 4
"""Products of no goal's own for each goal."""

_BRANDS = ("Arvika", "Belmora", "Castrel", "Dunholm", "Elvarra", "Fenwick", "Gostrava", "Halden")


@dataclass(frozen=True)
class Offer:
    """A product as the shop sells it."""

    id: str
    product: Product
    options: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Errand:
    """What one shopper is sent for."""

    goal: Goal
    instruction: str
    wanted: str
    """Id of the offer that meets the goal."""


@dataclass(frozen=True)
class Catalogue:
    """The shop's goods, and its errands."""

    offers: Mapping[str, Offer]
    errands: Sequence[Errand]


@lru_cache(maxsize=8)
def catalogue(seed: int) -> Catalogue:
    """The same goods and errands for the same seed."""
    maker = _Maker(random.Random(f"small shop {seed}"))
    errands = [maker.errand(KINDS[number % len(KINDS)]) for number in range(GOALS)]
    for _ in range(GOALS * FILLERS):
        maker.filler()
    return Catalogue(maker.shuffled(), tuple(errands))


def nouns(text: str) -> list[str]:
    """The nouns and names in a product's name: the shop knows its own."""
    return [word for word in text.lower().split() if word in _NOUNS]


_NOUNS = {word for kind in KINDS for word in kind.noun.split()} | {brand.lower() for brand in _BRANDS}


class _Maker:
    def __init__(self, rng: random.Random) -> None:
        self.random = rng
        self.offers: dict[str, Offer] = {}

    def errand(self, kind: Kind) -> Errand:
        """A goal, the offer that meets it, and its twins."""
        asked = self.random.sample(kind.attributes, 2)
        chosen = {name: self.random.choice(values) for name, values in kind.options.items()}
        low, high = kind.prices
        price = float(self.random.randrange(low, high)) + 0.99
        limit = float(10 * (int(price) // 10 + 1))
        wanted = self._offer(kind, self.random.choice(_BRANDS), asked, kind.options, price)
        for missing in asked:
            others = [other for other in kind.attributes if other not in asked]
            kept = [text for text in asked if text != missing] + [self.random.choice(others)]
            self._offer(kind, self.random.choice(_BRANDS), kept, kind.options, price - self._cents())
        dearer = limit + self.random.randrange(3, 30)
        self._offer(kind, self.random.choice(_BRANDS), asked, kind.options, dearer)
        for name, value in chosen.items():
            left = tuple(other for other in kind.options[name] if not matching_options([other], [value]))
            self._offer(kind, self.random.choice(_BRANDS), asked, {**kind.options, name: left}, price - 1)
        goal = Goal(
            name=wanted.product.name,
            query=wanted.product.query,
            product_category=wanted.product.product_category,
            attributes=tuple(asked),
            options=tuple(chosen.values()),
            price_upper=limit,
        )
        return Errand(goal, self._instruction(kind, goal, chosen), wanted.id)

    def filler(self) -> None:
        """An offer that nobody is sent for."""
        kind = self.random.choice(KINDS)
        own = self.random.sample(kind.attributes, self.random.randint(0, 1))
        price = self.random.randrange(*kind.prices) + self._cents()
        self._offer(kind, self.random.choice(_BRANDS), own, kind.options, price)

    def shuffled(self) -> dict[str, Offer]:
        """The offers in an order that tells nothing."""
        ids = sorted(self.offers)
        self.random.shuffle(ids)
        return {id: self.offers[id] for id in ids}

    def _cents(self) -> float:
        return self.random.randrange(5, 95) / 100

    def _offer(
        self,
        kind: Kind,
        brand: str,
        attributes: Sequence[str],
        options: Mapping[str, tuple[str, ...]],
        price: float,
    ) -> Offer:
        name = f"{brand} {kind.noun} {self.random.randrange(100, 1000)}"
        first = attributes[0] if attributes else "everyday"
        product = Product(
            name=name,
            query=kind.noun,
            product_category=f"{kind.department} › {kind.noun.title()}",
            attributes=tuple(attributes),
            title=f"{name}, {first}",
            bullet_points=tuple(f"This {kind.noun} is: {text}." for text in attributes),
            description=f"A {kind.noun} by {brand}, made to be used every day.",
            price=round(price, 2),
        )
        offer = Offer(self._id(), product, options)
        self.offers[offer.id] = offer
        return offer

    def _id(self) -> str:
        while True:
            id = "S" + "".join(self.random.choices("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789", k=9))
            if id not in self.offers:
                return id

    def _instruction(self, kind: Kind, goal: Goal, chosen: Mapping[str, str]) -> str:
        options = " and ".join(f"{name} {value}" for name, value in chosen.items())
        opening = self.random.choice(("i need a", "find me a", "i am looking for a", "please buy a"))
        attributes = ", ".join(goal.attributes)
        return (
            f"{opening} {kind.noun} ({attributes}) with {options}, "
            f"and price lower than {goal.price_upper:.2f} dollars"
        )
