"""The search engines that web_search asks, each behind the same call: a query, and what was found."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx

from forethought.tools.threads import in_daemon_thread

if TYPE_CHECKING:
    from forethought.settings import Settings

MAX_RESULTS = 8
TAVILY_URL = "https://api.tavily.com"
SECONDS = 18
"""Longest wait for one engine."""


@dataclass(frozen=True)
class Hit:
    """One result."""

    title: str
    url: str
    snippet: str
    date: str = ""


class EngineFailed(Exception):
    """An engine did not answer; the message says why in a word or two and holds nothing it sent."""


Search = Callable[[str], Awaitable[list[Hit]]]
"""Asks an engine. Raises EngineFailed."""


def engines(settings: Settings) -> dict[str, Search]:
    """Those that are set up by name, the best first; ddgs needs no set-up and comes last."""
    searches: dict[str, Search] = {}
    if settings.tavily_api_key is not None:
        searches["Tavily"] = partial(_tavily, key=settings.tavily_api_key.get_secret_value())
    if settings.searxng_url is not None:
        searches["SearXNG"] = partial(_searxng, address=settings.searxng_url)
    return {**searches, "ddgs": _ddgs}


async def _tavily(query: str, key: str) -> list[Hit]:
    from tavily import AsyncTavilyClient

    try:
        async with AsyncTavilyClient(api_key=key, api_base_url=TAVILY_URL) as client:
            reply = await client.search(query, max_results=MAX_RESULTS, timeout=SECONDS)
        return [_hit(item, "url", "content", "published_date") for item in reply["results"]]
    except Exception as error:
        # The client's errors have no common base class, and their texts may hold the key.
        raise EngineFailed(type(error).__name__) from error


async def _searxng(query: str, address: str) -> list[Hit]:
    """The JSON API of a SearXNG instance, which its operator must have switched on (search.formats)."""
    try:
        async with httpx.AsyncClient(timeout=SECONDS, trust_env=False) as client, asyncio.timeout(SECONDS):
            reply = await client.get(f"{address.rstrip('/')}/search", params={"q": query, "format": "json"})
        if reply.status_code == httpx.codes.FORBIDDEN:
            raise EngineFailed("HTTP 403: its JSON format is not switched on")
        if not reply.is_success:
            raise EngineFailed(f"HTTP {reply.status_code}")
        return [_hit(item, "url", "content", "publishedDate") for item in reply.json()["results"]]
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
        raise EngineFailed(type(error).__name__) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EngineFailed("no JSON results") from error


async def _ddgs(query: str) -> list[Hit]:
    from ddgs import DDGS
    from ddgs.exceptions import DDGSException

    def search() -> list[dict[str, Any]]:
        results: list[dict[str, Any]] = DDGS(timeout=SECONDS).text(query, max_results=MAX_RESULTS)
        return results

    try:
        return [_hit(item, "href", "body", "date") for item in await in_daemon_thread(search)]
    except DDGSException as error:
        if "no results" in str(error).lower():
            return []
        # Only the kind of failure: the rest of the message differs from call to call.
        kind = re.match(r"\w*", str(error))
        raise EngineFailed(kind[0] if kind and kind[0] else type(error).__name__) from error
    except Exception as error:
        # It reads other people's pages, which change: on a new form of one it raises just anything.
        raise EngineFailed(type(error).__name__) from error


def _hit(item: dict[str, Any], url: str, snippet: str, date: str) -> Hit:
    return Hit(*(" ".join(str(item.get(name) or "").split()) for name in ("title", url, snippet, date)))
