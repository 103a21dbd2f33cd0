"""WebShop's reward (Yao et al. 2022, section 2.2 and appendix A.4), in the form that its code gives it.

    reward = type * (attributes met + options met + price kept) / (attributes + options + 1)

The type is 0 where the product's name shares no noun with the goal's, 0.1 where it shares less than a tenth
of them, 0.5 where it shares up to a fifth and neither the query nor two categories match, and 1 otherwise.

Departures: a goal without attributes or without a price limit, on which the code fails, is rewarded for what
is left. Texts are compared by rapidfuzz, as newer versions of thefuzz do; benchmarks/agreement/webshop.py
counts where the version that WebShop pins comes out otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz.fuzz import token_set_ratio

Nouns = Callable[[str], Sequence[str]]
"""The nouns and names of a text in small letters, repeated ones too; WebShop has spaCy's tagger find them."""

ENOUGH_ALIKE = 85
"""Two texts are the same attribute or option above this token set ratio, of 100."""
SEPARATOR = "›"
_COLOURS = (
    "alabaster apricot aqua ash asphalt azure banana beige black blue blush bordeaux bronze brown "
    "burgundy camel camo caramel champagne charcoal cheetah chestnut chocolate christmas coffee cognac "
    "copper coral cranberry cream crystal dark denim eggplant elephant espresso fuchsia gold granite "
    "grape graphite grass gray green grey heather indigo ivory ivy khaki lavender lemon leopard light "
    "lilac lime magenta maroon mauve merlot midnight mint mocha multicolor mushroom mustard natural navy "
    "nude olive orange peach pewter pink plum purple rainbow red rose royal rust sand sapphire seashell "
    "silver skull slate steel stone stonewash sunflower tan taupe teal tiger turquoise violet walnut "
    "wheat white wine yellow"
)
COLOURS = tuple(_COLOURS.split())
"""An option that holds one of these counts as the first of them."""


@dataclass(frozen=True)
class Goal:
    """What a shopper is sent for."""

    name: str
    query: str
    product_category: str
    """Categories, outermost first, separated by ›."""
    attributes: Sequence[str]
    options: Mapping[str, str] | Sequence[str]
    price_upper: float
    """In dollars; 0 or less: no limit."""


@dataclass(frozen=True)
class Product:
    """What can be bought, as far as the reward looks at it."""

    name: str
    query: str
    product_category: str
    attributes: Sequence[str]
    title: str
    bullet_points: Sequence[str]
    description: str
    price: float


@dataclass(frozen=True)
class Reward:
    """The reward, from 0 to 1, and what it is made of."""

    total: float
    type: float
    title: float
    """How many of the goal's nouns the title has, from 0 to 1."""
    attributes: int
    options: int
    price: bool


def reward(product: Product, chosen: Iterable[str], goal: Goal, nouns: Nouns) -> Reward:
    """The reward for buying `product` with the options `chosen` when `goal` was asked for."""
    kind, title = type_reward(product, goal, nouns)
    attributes = matching_attributes(product, goal)
    options = matching_options(chosen, goal.options)
    price = goal.price_upper <= 0 or product.price <= goal.price_upper
    share = (attributes + options + price) / (len(goal.attributes) + len(goal.options) + 1)
    return Reward(kind * share, kind, title, attributes, options, price)


def type_reward(product: Product, goal: Goal, nouns: Nouns) -> tuple[float, float]:
    """How far it is the right kind of product, and the share of the goal's nouns in its name."""
    wanted, found = nouns(goal.name), nouns(product.name)
    title = len(set(wanted) & set(found)) / len(wanted) if wanted else 0.2
    if title == 0.0:
        return 0.0, title
    if title < 0.1:
        return 0.1, title
    alike = product.query == goal.query or same_category(product, goal) or title > 0.2
    return (1.0 if alike else 0.5), title


def same_category(product: Product, goal: Goal) -> bool:
    """Whether they share two categories, wherever those stand."""
    theirs, asked = (
        {part.strip() for part in path.split(SEPARATOR)}
        for path in (product.product_category, goal.product_category)
    )
    return len(theirs & asked) >= 2


def matching_attributes(product: Product, goal: Goal) -> int:
    """How many of the goal's attributes the product has, in its list or in its texts."""
    texts = [product.title, " ".join(product.bullet_points), product.description]
    texts = [text.lower() for text in texts]
    return sum(
        any(alike(own, asked) for own in product.attributes) or any(asked in text for text in texts)
        for asked in goal.attributes
    )


def matching_options(chosen: Iterable[str], asked: Mapping[str, str] | Sequence[str]) -> int:
    """How many of the options asked for were chosen. With names, an option is its name and value together,
    as the code compares it."""
    own = [colour_of(option) for option in chosen]
    wanted = [_named(item) for item in asked.items()] if isinstance(asked, Mapping) else map(colour_of, asked)
    return sum(any(alike(option, other) for option in own) for other in wanted)


def colour_of(option: str) -> str:
    """The first colour named in `option`; the option itself where there is none."""
    return next((colour for colour in COLOURS if colour in option), option)


def alike(one: str, other: str) -> bool:
    """Whether two texts hold nearly the same words, in any order, or one all of the other's."""
    return round(token_set_ratio(_words(one), _words(other))) > ENOUGH_ALIKE


def _named(item: tuple[str, str]) -> str:
    """A named option as the code compares it: a colour only where the value is exactly one."""
    return next((colour for colour in COLOURS if colour in item), str(item))


def _words(text: str) -> str:
    """Letters, digits and underscores of `text`, without Latin-1's upper half, as thefuzz prepares it."""
    plain = "".join(letter for letter in text if not 128 <= ord(letter) <= 255)
    return re.sub(r"\W", " ", plain).lower().strip()
