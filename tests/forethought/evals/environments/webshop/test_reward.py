"""WebShop's reward: each part by itself, and what must hold of any purchase."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.evals.environments.webshop.reward import (
    Goal,
    Product,
    alike,
    colour_of,
    matching_attributes,
    matching_options,
    reward,
    type_reward,
)

GOAL = Goal(
    name="oak side table",
    query="side table",
    product_category="Home › Furniture › Tables",
    attributes=("solid wood", "easy assembly"),
    options={"color": "brown", "size": "18 inch"},
    price_upper=80.0,
)
TABLE = Product(
    name="oak side table",
    query="side table",
    product_category="Home › Furniture › Tables",
    attributes=("solid wood", "easy assembly"),
    title="Oak side table",
    bullet_points=("Made to last",),
    description="A table.",
    price=79.99,
)


def words(text: str) -> list[str]:
    """Every word is a noun."""
    return text.lower().split()


def earned(product: Product = TABLE, chosen: Any = ("brown", "18 inch"), goal: Goal = GOAL) -> float:
    return reward(product, chosen, goal, words).total


def test_everything_asked_for_earns_the_whole_reward() -> None:
    assert earned() == 1.0


@pytest.mark.parametrize(
    ("product", "chosen", "expected"),
    [
        (TABLE, ("brown",), 4 / 5),
        (TABLE, (), 3 / 5),
        (TABLE, ("blue", "18 inch"), 4 / 5),
        (replace(TABLE, price=80.01), ("brown", "18 inch"), 4 / 5),
        (replace(TABLE, attributes=("solid wood",)), ("brown", "18 inch"), 4 / 5),
        (replace(TABLE, attributes=(), price=100.0), (), 0.0),
    ],
)
def test_each_constraint_that_is_missed_costs_its_share(
    product: Product, chosen: tuple[str, ...], expected: float
) -> None:
    assert earned(product, chosen) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "query", "category", "expected"),
    [
        ("pine side shelf", "shelf", "Garden", 1.0),  # a third of the nouns
        ("oak wardrobe", "wardrobe", "Garden", 1.0),
        ("steel lamp", "side table", "Home › Furniture › Tables", 0.0),  # nothing of its name, whatever else
    ],
)
def test_the_type_goes_by_the_nouns_of_the_name(
    name: str, query: str, category: str, expected: float
) -> None:
    product = replace(TABLE, name=name, query=query, product_category=category)
    assert type_reward(product, GOAL, words)[0] == expected


@pytest.mark.parametrize(
    ("shared", "query", "category", "expected"),
    [
        (1, "x", "y", 0.1),  # less than a tenth, where nothing else matches
        (1, "side table", "Home › Furniture", 0.1),  # and where all else does
        (2, "x", "y", 0.5),
        (2, "side table", "y", 1.0),
        (2, "x", "Tables › a › Home", 1.0),
        (2, "x", "Tables › Tables › a", 0.5),
        (4, "x", "y", 1.0),
    ],
)
def test_the_type_of_a_name_that_shares_little(
    shared: int, query: str, category: str, expected: float
) -> None:
    goal = replace(GOAL, name=" ".join(f"n{number}" for number in range(15)))
    name = " ".join(f"n{number}" for number in range(shared))
    product = replace(TABLE, name=name, query=query, product_category=category)
    assert type_reward(product, goal, words)[0] == expected


def test_a_goal_without_nouns_counts_as_hardly_alike() -> None:
    assert type_reward(replace(TABLE, query="x", product_category="y"), GOAL, lambda text: [])[0] == 0.5


def test_an_attribute_is_found_in_the_list_nearly_and_in_the_texts_literally() -> None:
    goal = replace(GOAL, attributes=("solid wood", "easy assembly", "water proof"))
    product = replace(
        TABLE, attributes=("solid woods",), description="EASY ASSEMBLY", bullet_points=("proof",)
    )
    assert matching_attributes(product, goal) == 2


def test_options_are_compared_by_their_first_colour() -> None:
    assert colour_of("navy blue stripes") == "blue"
    assert matching_options(["dark red"], ["dark green"]) == 1  # both count as 'dark'
    assert matching_options(["red"], ["green"]) == 0


def test_a_named_option_counts_with_its_name() -> None:
    assert matching_options(["xl"], {"size": "XL"}) == 1
    assert matching_options(["size"], {"size": "XL"}) == 1, "as WebShop's own comparison has it"
    assert matching_options(["m"], {"size": "XL"}) == 0


def test_without_a_limit_any_price_will_do() -> None:
    assert earned(replace(TABLE, price=1e9), goal=replace(GOAL, price_upper=0)) == 1.0


TEXTS = st.text(max_size=20)
PRODUCTS = st.builds(
    Product,
    name=TEXTS,
    query=TEXTS,
    product_category=TEXTS,
    attributes=st.lists(TEXTS, max_size=3),
    title=TEXTS,
    bullet_points=st.lists(TEXTS, max_size=2),
    description=TEXTS,
    price=st.floats(0, 1e6),
)
GOALS = st.builds(
    Goal,
    name=TEXTS,
    query=TEXTS,
    product_category=TEXTS,
    attributes=st.lists(TEXTS, max_size=3),
    options=st.lists(TEXTS, max_size=3) | st.dictionaries(TEXTS, TEXTS, max_size=3),
    price_upper=st.floats(-1, 1e6),
)


@given(PRODUCTS, st.lists(TEXTS, max_size=3), GOALS)
def test_any_purchase_earns_between_nothing_and_the_whole(
    product: Product, chosen: list[str], goal: Goal
) -> None:
    made = reward(product, chosen, goal, words)
    assert 0.0 <= made.total <= made.type <= 1.0
    assert made.attributes <= len(goal.attributes)
    assert made.options <= len(goal.options)


@given(PRODUCTS, st.lists(TEXTS, max_size=2), GOALS, TEXTS)
def test_an_option_more_never_costs(product: Product, chosen: list[str], goal: Goal, more: str) -> None:
    assert reward(product, [*chosen, more], goal, words).total >= reward(product, chosen, goal, words).total


@given(st.lists(st.sampled_from("ab cd ef gh".split()), min_size=1, unique=True))  # noqa: SIM905
def test_the_order_of_words_says_nothing(parts: list[str]) -> None:
    assert alike(" ".join(parts), " ".join(reversed(parts)))
