"""WebShop (Yao et al. 2022) over HTTP: reward and success, at a shop that the operator runs.

AgentDebug's figure 5 uses it. WebShop draws product prices and price limits anew each time it starts, so that
figures of two starts are not of quite the same tasks; what goal N asks for is read from the running shop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from forethought.evals.benchmarks.reading import chosen, whole
from forethought.evals.benchmarks.shopping import MAX_STEPS, OPTIONS, RENDERINGS, Shopping, task_of
from forethought.evals.environments.webshop.episode import TIMEOUT_S, Shop, ShopEpisode, session_of
from forethought.evals.environments.webshop.page import parse_page
from forethought.evals.types import DataError, Sample, Services

URL = "http://127.0.0.1:3000"
SPLITS = {"test": range(500), "eval": range(500, 1500)}
"""Numbers of the goals, as WebShop's own agents split them."""
HOW = (
    "start WebShop (github.com/princeton-nlp/WebShop, MIT; its products are downloaded by its setup.sh) with "
    "`python -m web_agent_site.app`, and name its address with --option url=http://HOST:PORT"
)


class WebShop(Shopping):
    """The benchmark."""

    name = "webshop"
    title = "WebShop"
    about = "buying what an instruction asks for in a shop that you run (MIT); AgentDebug's figure 5"
    options: Mapping[str, str] = {
        "url": f"address of the running shop (default {URL})",
        "split": "test (goals 0 to 499, default) or eval (500 to 1499)",
        **OPTIONS,
    }

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """The split's goals, as the running shop states them; `data` is not looked at.

        Asks the shop, once a goal, until it has no more of them.
        """
        split = chosen(options, "split", tuple(SPLITS))
        url = _checked(options.get("url", URL))
        common = {
            "url": url,
            "rendering": chosen(options, "observation", RENDERINGS),
            "max_steps": whole(options, "max_steps") or MAX_STEPS,
        }
        samples = [
            Sample(
                id=f"goal-{number:04}",
                task=task_of(instruction),
                groups={"split": split},
                data={**common, "goal": number, "instruction": instruction},
            )
            for number, instruction in _instructions(url, SPLITS[split])
        ]
        if not samples:
            raise DataError(f"the shop at {url} has no goals of split {split}; {HOW}")
        return samples

    def episode(self, sample: Sample, services: Services) -> ShopEpisode:
        """A session at the running shop."""
        return ShopEpisode(
            Shop(sample.data["url"]),
            sample.data["goal"],
            name=self.name,
            task=sample.task,
            instruction=sample.data["instruction"],
            rendering=sample.data["rendering"],
            max_steps=sample.data["max_steps"],
        )


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username:
        raise DataError(f"option url={url}: give an address such as {URL}")
    return url


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
                said = " ".join(str(error).split()) or type(error).__name__
                raise DataError(f"there is no WebShop at {url} ({said}): {HOW}") from error


BENCHMARK = WebShop()
