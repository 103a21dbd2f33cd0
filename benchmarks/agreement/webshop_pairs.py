"""Generated purchases and goals, near enough to each other for every part of WebShop's reward to matter."""

from __future__ import annotations

import random
from typing import Any

from forethought.evals.environments.webshop.reward import COLOURS

Json = dict[str, Any]
_KINDS = (
    "shirt, sneakers, power cord, table lamp, shampoo, cabinet knob, coffee mug, phone case, "
    "makeup tweezers, sofa cover, laptop stand, hiking boots"
)
_EXTRAS = (
    "for men, with 2 prong plug, non slip, 4K Ultra HD, stainless steel, (silver), pack of 12, breathable, "
    "home theater system, 10 ft, machine washable"
)
_ATTRIBUTES = (
    "tea tree, essential oils, natural ingredients, non slip, machine wash, long lasting, easy to clean, "
    "stainless steel, high definition, slim fit, water resistant, bpa free, wireless charging, memory foam, "
    "gluten-free, men's, sugar_free"
)
_OPTIONS = (
    "navy blue, cool powder snow, XL, xx-large, pack of 12, 10 ft, queen | 60 x 80, dark red, 8.5 wide, "
    "men's 9, matte, rosé gold, 3-pack"
)
BRANDS = (
    "Saireed",
    "PEAK",
    "Minkissy",
    "Rusticware",
    "Nordhaus",
    "D.O.N. Issue 2",
    "BRST",
    "Café Zürich",
    "",
)
KINDS, EXTRAS, ATTRIBUTES = _KINDS.split(", "), _EXTRAS.split(", "), _ATTRIBUTES.split(", ")
OPTIONS = [*_OPTIONS.split(", "), *COLOURS[::9]]
OPTION_NAMES = ("color", "size", "style", "item package quantity")
CATEGORIES = ("Clothing", "Men", "Shoes", "Beauty", "Hair Care", "Electronics", "Cables", "Home & Kitchen")


def generated(rng: random.Random) -> tuple[Json, Json, float, dict[str, str]]:
    """A purchase, a goal, the price and the options bought: near enough to each other to matter."""

    def name(kind: str) -> str:
        return " ".join(filter(None, (rng.choice(BRANDS), kind, *rng.sample(EXTRAS, rng.randint(0, 3)))))

    def worn(text: str) -> str:
        """`text` as another seller would have it."""
        words = text.split()
        change = rng.randrange(6)
        if change == 0:
            rng.shuffle(words)
        elif change == 1:
            words[-1] = words[-1].removesuffix("s") if words[-1].endswith("s") else words[-1] + "s"
        elif change == 2:
            words = words[1:] or words
        elif change == 3:
            words.append(rng.choice(("new", "extra", "2x")))
        return " ".join(words).upper() if change == 4 else " ".join(words)

    kind, other = rng.choice(KINDS), rng.choice(KINDS)
    bought_kind = kind if rng.random() < 0.6 else other
    asked = rng.sample(ATTRIBUTES, rng.randint(1, 4))
    own = [worn(text) for text in asked if rng.random() < 0.6] + rng.sample(ATTRIBUTES, rng.randint(0, 2))
    wanted = dict(zip(OPTION_NAMES, rng.sample(OPTIONS, rng.randint(0, 3)), strict=False))
    bought = {
        key: worn(value) if rng.random() < 0.7 else rng.choice(OPTIONS) for key, value in wanted.items()
    }
    path = rng.sample(CATEGORIES, 3)
    elsewhere = path if rng.random() < 0.4 else rng.sample(CATEGORIES, 3)
    price = rng.choice((10.0, 19.99, 25.5, 100.0))
    goal = {
        "name": name(kind),
        "query": kind,
        "product_category": " › ".join(path),
        "attributes": asked,
        "goal_options": wanted if rng.random() < 0.5 else list(wanted.values()),
        "price_upper": rng.choice((10.0, 20.0, 30.0, 1000000)),
    }
    product = {
        "name": name(bought_kind),
        "query": bought_kind,
        "product_category": " › ".join(elsewhere),
        "Attributes": own,
        "Title": name(bought_kind) + " " + rng.choice((worn(asked[0]), "")),
        "BulletPoints": [worn(rng.choice(ATTRIBUTES)), rng.choice(EXTRAS)],
        "Description": rng.choice(("", "Made with " + asked[-1].title() + ".")),
    }
    return product, goal, price, bought
