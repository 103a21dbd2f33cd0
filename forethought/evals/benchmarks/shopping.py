"""WebShop (Yao et al. 2022) over HTTP at a shop that the operator runs, and a small shop of our own.

AgentDebug's figure 5 uses WebShop. It draws product prices and price limits anew each time it starts, so that
figures of two starts are not of quite the same tasks; what goal N asks for is read from the running shop.
The small shop has made-up products and needs no data; its figures are not WebShop's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from forethought.evals.benchmarks.reading import choice
from forethought.evals.environments.small_shop import shop as small
from forethought.evals.environments.small_shop.goods import catalogue
from forethought.evals.environments.webshop.episode import TIMEOUT_S, Shop, ShopEpisode, session_of
from forethought.evals.environments.webshop.page import parse_page
from forethought.evals.types import (
    Attempt,
    Benchmark,
    DataError,
    InfrastructureError,
    Sample,
    Score,
    Services,
)

URL = "http://127.0.0.1:3000"
SPLITS = {"test": range(500), "eval": range(500, 1500)}
"""Numbers of the goals in each split of WebShop's own agents."""
_START = (
    "start WebShop (github.com/princeton-nlp/WebShop, MIT; its setup.sh downloads the "
    "products) with `python -m web_agent_site.app`, and give its address with --option "
    "url=http://HOST:PORT"
)


class _Shopping(Benchmark):
    """Scoring by the reward of the purchase; a session without one gets 0."""

    main_metric = "reward"
    steps = 100
    """As in WebShop's own agents."""

    def episode(self, sample: Sample, services: Services) -> ShopEpisode:
        """A session in the shop."""
        url = sample.data["url"]
        shop = Shop(url, httpx.MockTransport(small.serve) if url == small.INSIDE else None)
        data = {key: sample.data[key] for key in ("goal", "instruction")}
        return ShopEpisode(shop, **data, name=self.name, task=sample.task)

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """The reward, and success where it is whole (Yao et al. 2022, section 2.2)."""
        if attempt.reward is None:
            raise InfrastructureError("the shop gave no reward")
        values = {"reward": attempt.reward, "success": float(attempt.reward == 1.0)}
        return Score(values, "" if attempt.reward else "Nothing was bought, or nothing of the right kind.")


class WebShop(_Shopping):
    """WebShop itself."""

    name = "webshop"
    title = "WebShop"
    about = "buying what an instruction asks for in a shop that you run (MIT); AgentDebug's figure 5"
    options: Mapping[str, str] = {
        "url": f"address of the running shop (default {URL})",
        "split": "test (goals 0 to 499, default) or eval (500 to 1499)",
    }

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """The split's goals; asks the running shop, once a goal, until it has no more of them."""
        split, url = choice(options, "split", tuple(SPLITS)), options.get("url", URL)
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username:
            raise DataError(f"option url={url}: give an address such as {URL}")
        samples = [
            _sample(f"goal-{number:04}", number, instruction, {"split": split}, url)
            for number, instruction in _instructions(url, SPLITS[split])
        ]
        if not samples:
            raise DataError(f"the shop at {url} has no goals of split {split}; {_START}")
        return samples


class SmallShop(_Shopping):
    """The small shop, within the process."""

    name = "small-shop"
    title = "Small shop (our own)"
    about = "buying in a small made-up shop by WebShop's rules; our own, in no table of the papers"

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """The errands."""
        return [
            _sample(f"errand-{number:02}", number, errand.instruction, {"product": errand.noun}, small.INSIDE)
            for number, errand in enumerate(catalogue()[1])
        ]


def _sample(id: str, number: int, instruction: str, groups: Mapping[str, str], url: str) -> Sample:
    task = (
        "You are in a web shop. Find the product that fits this instruction, choose the options that it asks "
        f"for, and buy it: {instruction}"
    )
    return Sample(id, task, groups=groups, data={"url": url, "goal": number, "instruction": instruction})


def _instructions(url: str, goals: range) -> Iterator[tuple[int, str]]:
    """What the shop asks for, by goal; it answers with an error to a number that it does not have."""
    with httpx.Client(timeout=TIMEOUT_S, trust_env=False) as client:
        for number in goals:
            try:
                response = client.get(f"{url.rstrip('/')}/{session_of(number)}")
                if response.is_error and number > 0:
                    return
                yield number, parse_page(response.raise_for_status().text).instruction
            except (httpx.HTTPError, ValueError) as error:
                reason = " ".join(str(error).split()) or type(error).__name__
                raise DataError(f"no WebShop answers at {url} ({reason}): {_START}") from error


WEBSHOP, SMALL_SHOP = WebShop(), SmallShop()
