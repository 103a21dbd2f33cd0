"""A shopping session as an Episode: search[...] and click[...] over HTTP, the reward at the purchase.

The address is the operator's own and not the agent's: hosts of one's own network are allowed.
The score that WebShop's last page shows is the reward, and is not shown.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from urllib.parse import urljoin

import httpx

from forethought.evals.environments.webshop.page import Page, parse_page
from forethought.evals.types import InfrastructureError, ToolSpec
from forethought.rollouts.types import EnvironmentReply

HOW_TO_ACT = (
    "An action is search[KEYWORDS] where the shop has a search box, or click[TEXT] on something that can be "
    "clicked: a button, a product's code, the value of an option; for example search[red cotton shirt], "
    "click[b07xyz1234], click[large], click[back to search]. Choose a product's options before "
    "click[buy now], which ends the shopping: there is one purchase."
)
SEARCH = "search[<keywords>]"
TIMEOUT_S = 60.0
_ACTION = re.compile(r"\s*(search|click)\s*\[(.*)\]\s*", re.IGNORECASE | re.DOTALL)
_UNSEARCHABLE = re.compile(r"[/\\<>\x00-\x1f\x7f]+")
"""A slash would break WebShop's addresses, and <a> is a way around its search."""
_QUERY_CHARS = 500


class Shop:
    """A connection to a shop. Raises InfrastructureError where it does not answer as one."""

    def __init__(self, url: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.url = url.rstrip("/") + "/"
        self._client = httpx.AsyncClient(
            timeout=TIMEOUT_S, transport=transport, trust_env=False, follow_redirects=True
        )

    async def get(self, address: str, form: Mapping[str, str] | None = None) -> Page:
        """The page at `address`, relative to the shop; `form` posts it."""
        try:
            method = "GET" if form is None else "POST"
            response = await self._client.request(method, urljoin(self.url, address), data=form)
            response.raise_for_status()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise InfrastructureError(f"the shop at {self.url} does not answer ({reason})") from error
        try:
            return parse_page(response.text)
        except ValueError as error:
            raise InfrastructureError(f"the shop at {self.url} is not a WebShop: {error}") from error

    async def close(self) -> None:
        """Let the connection go."""
        await self._client.aclose()


class ShopEpisode:
    """Shopping for goal number `goal`, until something is bought."""

    tools: Sequence[ToolSpec] = ()
    how_to_act = HOW_TO_ACT

    def __init__(
        self,
        shop: Shop,
        goal: int,
        *,
        name: str = "webshop",
        task: str = "",
        instruction: str | None = None,
    ) -> None:
        self.name, self.task = name, task
        self._shop, self._goal, self._instruction = shop, goal, instruction
        self._page: Page | None = None
        self._choices: dict[str, str] = {}

    async def reset(self) -> EnvironmentReply:
        """A new session at the shop's first page. Raises InfrastructureError, also where the shop asks for
        something else than it did before: WebShop draws its prices anew whenever it starts."""
        page = await self._shop.get(session_of(self._goal))
        if self._instruction is not None and page.instruction != self._instruction:
            raise InfrastructureError(
                f"the shop at {self._shop.url} was restarted, and goal {self._goal} has changed: start "
                "the evaluation again in a new folder"
            )
        self._page, self._choices = page, {}
        return self._reply()

    async def step(self, action: str) -> EnvironmentReply:
        """Search or click. Raises InfrastructureError; ValueError before the first reset."""
        if self._page is None:
            raise ValueError("reset the shop before its first step")
        return self._reply(await self._carry_out(self._page, action))

    async def finish(self, answer: str) -> EnvironmentReply:
        """The end without a purchase: the reward is 0. `answer` says nothing to the shop."""
        return EnvironmentReply("The shop is closed.", done=True)

    async def close(self) -> None:
        """Let the connection go."""
        await self._shop.close()

    async def _carry_out(self, page: Page, action: str) -> str:
        """Go where `action` leads; why it leads nowhere, or ''."""
        match = _ACTION.fullmatch(action)
        if match is None:
            return "an action is search[...] or click[...]"
        verb, what = match[1].lower(), match[2].strip().lower()
        if verb == "search":
            query = " ".join(_UNSEARCHABLE.sub(" ", what).split())[:_QUERY_CHARS].strip()
            if page.search is None:
                return "there is no search box here"
            if not query:
                return "there is nothing to search for"
            self._page = await self._shop.get(page.search, {"search_query": query})
            return ""
        control = page.controls.get(what)
        if control is None:
            return f"there is no {what[:100]!r} to click here"
        self._page = await self._shop.get(control.address, {} if control.posts else None)
        if control.option:
            self._choices[control.option] = what
        elif control.opens_product:
            self._choices = {}
        return ""

    def _reply(self, problem: str = "") -> EnvironmentReply:
        assert self._page is not None
        text = self._page.text(self._choices)
        text = f"Nothing happened: {problem}.\n\n{text}" if problem else text
        reward = self._page.reward
        if reward is not None:
            return EnvironmentReply(text, reward=reward, done=True)
        return EnvironmentReply(text, admissible_actions(self._page))


def session_of(goal: int) -> str:
    """A new session's id. WebShop gives the goal whose number stands at the end where it holds 'fixed'."""
    return f"{uuid.uuid4().hex[:12]}fixed_{goal}"


def admissible_actions(page: Page) -> tuple[str, ...]:
    """What can be done on a page, a search being any text."""
    searches = (SEARCH,) if page.search is not None else ()
    return (*searches, *(f"click[{text}]" for text in page.controls))
