"""The small shop: made-up products, WebShop's actions and reward, and no data to fetch.

Of our own, for tests and for trying things out; its figures are not WebShop's.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from forethought.evals.benchmarks.reading import chosen, whole
from forethought.evals.benchmarks.shopping import MAX_STEPS, OPTIONS, RENDERINGS, Shopping, task_of
from forethought.evals.environments.small_shop.catalogue import catalogue
from forethought.evals.environments.small_shop.serving import INSIDE, InProcess
from forethought.evals.environments.small_shop.site import Site
from forethought.evals.environments.webshop.episode import Shop, ShopEpisode
from forethought.evals.types import Sample, Services


class SmallShop(Shopping):
    """The benchmark."""

    name = "small-shop"
    title = "Small shop (our own)"
    about = "buying in a small made-up shop by WebShop's rules; our own, in no table of the papers"
    options: Mapping[str, str] = {"seed": "which goods and errands (a number from 1, default 1)", **OPTIONS}

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """The seed's errands; `data` is not looked at."""
        seed = whole(options, "seed") or 1
        common = {
            "seed": seed,
            "rendering": chosen(options, "observation", RENDERINGS),
            "max_steps": whole(options, "max_steps") or MAX_STEPS,
        }
        return [
            Sample(
                id=f"seed{seed}-{number:02}",
                task=task_of(errand.instruction),
                groups={"product": errand.goal.query},
                data={**common, "goal": number, "instruction": errand.instruction},
            )
            for number, errand in enumerate(catalogue(seed).errands)
        ]

    def episode(self, sample: Sample, services: Services) -> ShopEpisode:
        """A session in the shop, within the process."""
        return ShopEpisode(
            Shop(INSIDE, InProcess(_site(sample.data["seed"]))),
            sample.data["goal"],
            name=self.name,
            task=sample.task,
            instruction=sample.data["instruction"],
            rendering=sample.data["rendering"],
            max_steps=sample.data["max_steps"],
        )


@lru_cache(maxsize=8)
def _site(seed: int) -> Site:
    return Site(catalogue(seed))


BENCHMARK = SmallShop()
