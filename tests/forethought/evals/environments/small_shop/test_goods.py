"""The small shop's goods: from a seed alone, one right purchase an errand, and twins that miss one thing."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from forethought.evals.environments.small_shop.goods import Errand, Offer, catalogue, reward
from forethought.evals.environments.small_shop.shop import Shop

SHOP = catalogue(1)


def best(offer: Offer, errand: Errand) -> float:
    """The most that buying `offer` can earn: with the options asked for, where it has them."""
    options = [value for value in errand.options if any(value in own for own in offer.options.values())]
    return reward(offer, options, errand)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_errand_can_be_done_and_few_offers_will_do(seed: int) -> None:
    shop = catalogue(seed)
    for errand in shop.errands:
        assert best(shop.offers[errand.wanted], errand) == 1.0
        alike = [offer for offer in shop.offers.values() if offer.noun == errand.noun]
        assert sum(best(offer, errand) < 1.0 for offer in alike) > len(alike) * 0.7


@pytest.mark.parametrize("errand", SHOP.errands[::12], ids=lambda errand: errand.noun)
def test_each_constraint_that_is_overlooked_costs_its_share(errand: Errand) -> None:
    wanted, count = SHOP.offers[errand.wanted], len(errand.attributes) + len(errand.options) + 1
    short = 1 - 1 / count
    assert reward(wanted, errand.options[1:], errand) == pytest.approx(short)
    assert reward(replace(wanted, price=errand.limit + 0.01), errand.options, errand) == pytest.approx(short)
    lacking = replace(wanted, attributes=wanted.attributes[1:])
    assert reward(lacking, errand.options, errand) == pytest.approx(short)
    assert reward(replace(wanted, noun="another"), errand.options, errand) == 0.0
    twins = [best(offer, errand) for offer in SHOP.offers.values() if offer.noun == errand.noun]
    assert sum(earned == pytest.approx(short) for earned in twins) >= count


def test_the_instruction_says_all_that_counts() -> None:
    for errand in SHOP.errands:
        texts = [errand.noun, *errand.attributes, *errand.options, f"{errand.limit:.2f}"]
        assert all(text in errand.instruction for text in texts)


def test_the_goods_are_the_same_in_another_process() -> None:
    code = "from forethought.evals.environments.small_shop.goods import catalogue; print(catalogue(4))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert other.strip() == str(catalogue(4))
    assert str(catalogue(5)) != str(catalogue(4))


def test_the_search_finds_what_is_asked_for() -> None:
    shop = Shop(SHOP)
    for errand in SHOP.errands:
        assert errand.wanted in {offer.id for offer in shop.search(errand.instruction)}
    assert shop.search("zzz") == shop.search("") == []
