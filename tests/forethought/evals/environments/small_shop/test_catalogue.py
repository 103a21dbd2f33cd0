"""The small shop's goods: from a seed alone, one right purchase an errand, and twins that miss one thing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from forethought.evals.environments.small_shop.catalogue import GOALS, Errand, Offer, catalogue, nouns
from forethought.evals.environments.small_shop.search import Index
from forethought.evals.environments.webshop.reward import reward

SEEDS = (1, 2, 3)
ERRANDS = [(seed, number) for seed in SEEDS for number in range(0, GOALS, 12)]


def best(offer: Offer, errand: Errand) -> float:
    """The most that buying `offer` can earn: with the options asked for, where it has them."""
    chosen = [value for value in errand.goal.options if any(value in own for own in offer.options.values())]
    return reward(offer.product, chosen, errand.goal, nouns).total


def total(offer: Offer, errand: Errand, *chosen: str) -> float:
    return reward(offer.product, chosen, errand.goal, nouns).total


@pytest.mark.parametrize("seed", SEEDS)
def test_every_errand_can_be_done(seed: int) -> None:
    shop = catalogue(seed)
    assert all(best(shop.offers[errand.wanted], errand) == 1.0 for errand in shop.errands)


@pytest.mark.parametrize("number", range(0, GOALS, 20))
def test_few_offers_will_do(number: int) -> None:
    shop = catalogue(1)
    errand, offers = shop.errands[number], shop.offers.values()
    alike = [offer for offer in offers if offer.product.query == errand.goal.query]
    assert len([offer for offer in alike if best(offer, errand) < 1.0]) > len(alike) * 0.8
    others = [offer for offer in offers if not _share(offer, errand)]
    assert all(total(offer, errand) == 0 for offer in others[::5])


def _share(offer: Offer, errand: Errand) -> bool:
    return bool(set(nouns(offer.product.name)) & set(nouns(errand.goal.name)))


@pytest.mark.parametrize(("seed", "number"), ERRANDS)
def test_overlooking_one_constraint_costs(seed: int, number: int) -> None:
    shop = catalogue(seed)
    errand = shop.errands[number]
    wanted = shop.offers[errand.wanted]
    for option in errand.goal.options:
        assert total(wanted, errand, *(other for other in errand.goal.options if other != option)) < 1.0
    offers = [offer for offer in shop.offers.values() if offer.product.query == errand.goal.query]
    dear = [offer for offer in offers if offer.product.price > errand.goal.price_upper]
    lacking = [
        offer for offer in offers if len(set(offer.product.attributes) & set(errand.goal.attributes)) == 1
    ]
    assert dear
    assert lacking
    assert all(best(offer, errand) < 1.0 for offer in [*dear, *lacking])


def test_the_instruction_says_all_that_counts() -> None:
    for errand in catalogue(1).errands:
        asked = [
            errand.goal.query,
            *errand.goal.attributes,
            *errand.goal.options,
            f"{errand.goal.price_upper:.2f}",
        ]
        assert all(text in errand.instruction for text in asked)


def test_the_goods_are_the_same_in_another_process() -> None:
    code = "from forethought.evals.environments.small_shop.catalogue import catalogue; print(catalogue(4))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert other.strip() == str(catalogue(4))
    assert str(catalogue(5)) != str(catalogue(4))


def test_the_search_finds_what_is_asked_for() -> None:
    shop = catalogue(1)
    index = Index(shop.offers.values())
    found = [
        errand.wanted in {offer.id for offer in index.search(errand.instruction)} for errand in shop.errands
    ]
    assert all(found)
    assert index.search("zzz") == index.search("") == []
