"""A shopping session as an Episode: search[...] and click[...] over HTTP, the reward at the purchase.

The address is the operator's own and not the agent's: hosts of one's own network are allowed, and no page can
lead the session away from it. The score that WebShop's last page shows is the reward, and is not shown.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from urllib.parse import urljoin, urlsplit

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
OVER = "The shop is closed: nothing more can be done."
SEARCH = "search[<keywords>]"
TIMEOUT_S = 60.0
_ACTION = re.compile(r"\s*(search|click)\s*\[(.*)\]\s*", re.IGNORECASE | re.DOTALL)
_UNSEARCHABLE = re.compile(r"[/\\<>\x00-\x1f\x7f]+")
"""A slash would break WebShop's addresses, and <a> is a way around its search."""
_QUERY_CHARS = 500
_REDIRECTS = 5


class Shop:
    """A connection to a shop. Raises InfrastructureError where it does not answer as one."""

    def __init__(self, url: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.url = url.rstrip("/") + "/"
        self._client = httpx.AsyncClient(timeout=TIMEOUT_S, transport=transport, trust_env=False)

    async def open(self, session: str) -> Page:
        """The first page of a session."""
        return await self.get(self.url + session)

    async def get(self, address: str, form: Mapping[str, str] | None = None) -> Page:
        """The page at `address`, relative ones within the shop; `form` posts it."""
        method = "GET" if form is None else "POST"
        for _ in range(_REDIRECTS):
            response = await self._send(method, self._inside(address), form)
            if not response.is_redirect:
                return self._page(response)
            address, method, form = urljoin(str(response.url), response.headers["location"]), "GET", None
        raise InfrastructureError(f"the shop at {self.url} redirects without end")

    async def close(self) -> None:
        """Let the connection go."""
        await self._client.aclose()

    def _inside(self, address: str) -> str:
        whole = urljoin(self.url, address)
        if urlsplit(whole)[:2] != urlsplit(self.url)[:2]:
            raise InfrastructureError(f"a page of the shop at {self.url} leads elsewhere: {whole[:200]}")
        return whole

    async def _send(self, method: str, address: str, form: Mapping[str, str] | None) -> httpx.Response:
        try:
            return await self._client.request(method, address, data=form)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            said = f"{type(error).__name__}: {error}".rstrip(": ")
            raise InfrastructureError(f"the shop at {self.url} does not answer ({said})") from error

    def _page(self, response: httpx.Response) -> Page:
        if response.is_error:
            raise InfrastructureError(f"the shop at {self.url} answered with status {response.status_code}")
        try:
            return parse_page(response.text)
        except ValueError as error:
            raise InfrastructureError(f"the shop at {self.url} is no WebShop: {error}") from error


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
        self._chosen: dict[str, str] = {}
        self._reward, self._done = 0.0, False

    async def reset(self) -> EnvironmentReply:
        """A new session at the shop's first page. Raises InfrastructureError, also where the shop asks for
        something else than it did before: WebShop draws its prices anew whenever it starts."""
        page = await self._shop.open(session_of(self._goal))
        if self._instruction is not None and page.instruction != self._instruction:
            raise InfrastructureError(
                f"the shop at {self._shop.url} was started anew, and goal {self._goal} asks for something "
                "else now: begin the evaluation anew"
            )
        self._page, self._chosen = page, {}
        self._reward, self._done = 0.0, False
        return self._reply()

    async def step(self, action: str) -> EnvironmentReply:
        """Search or click. Raises InfrastructureError; ValueError before the first reset."""
        if self._done:
            return EnvironmentReply(OVER, reward=self._reward, done=True)
        if self._page is None:
            raise ValueError("reset the shop before its first step")
        problem = await self._carry_out(self._page, action)
        self._reward = self._page.reward or 0.0
        self._done = self._page.reward is not None
        return self._reply(problem)

    async def finish(self, answer: str) -> EnvironmentReply:
        """The end; without a purchase the reward is 0. `answer` says nothing to the shop."""
        self._done = True
        return EnvironmentReply(OVER, reward=self._reward, done=True)

    async def close(self) -> None:
        """Let the connection go."""
        self._done = True
        await self._shop.close()

    async def _carry_out(self, page: Page, action: str) -> str:
        """Go where `action` leads; why it leads nowhere, or ''."""
        found = _ACTION.fullmatch(action)
        if found is None:
            return "an action is search[...] or click[...]"
        verb, what = found[1].lower(), found[2].strip().lower()
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
            self._chosen[control.option] = what
        elif control.opens_product:
            self._chosen = {}
        return ""

    def _reply(self, problem: str = "") -> EnvironmentReply:
        assert self._page is not None
        text = self._page.text(self._chosen)
        text = f"Nothing happened: {problem}.\n\n{text}" if problem else text
        admissible = () if self._done else admissible_actions(self._page)
        return EnvironmentReply(text, admissible, reward=self._reward, done=self._done)


def session_of(goal: int) -> str:
    """A new session's id. WebShop gives the goal whose number stands at the end where it holds 'fixed'."""
    return f"{uuid.uuid4().hex[:12]}fixed_{goal}"


def admissible_actions(page: Page) -> tuple[str, ...]:
    """What can be done on a page, a search being any text."""
    searches = (SEARCH,) if page.search is not None else ()
    return (*searches, *(f"click[{text}]" for text in page.controls))
