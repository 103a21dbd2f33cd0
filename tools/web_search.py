"""Search the web: Tavily where the operator has a key, else (or if that fails) keyless through ddgs."""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import dataclass
from typing import Any

from tools.base import ToolEnv, ToolError, make_tool

MAX_RESULTS = 8
TAVILY_URL = "https://api.tavily.com"
_SECONDS = 20
_LONGEST_SNIPPET = 700
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Hit:
    """One result."""

    title: str
    url: str
    snippet: str
    date: str = ""


async def web_search(env: ToolEnv, query: str) -> str:
    """Search the web and return up to 8 results, each with its title, address, an excerpt and, where known,
    its date.

    An excerpt is not the page: open the page with visit_webpage before relying on details.

    Args:
        query: What to look for, in a few words as for a search engine.
    """
    if not query.strip():
        raise ToolError("the query is empty", cause="arguments", hint="say what to look for")
    key = env.settings.tavily_api_key
    note, hits = "", None
    if key is not None:
        try:
            hits = await _tavily(query, key.get_secret_value())
        except Exception as error:
            # The client's errors have no common base class; none of them may keep the other engine from
            # being tried.
            _log.warning("Tavily failed (%s); falling back to ddgs", type(error).__name__)
            note = f"[Tavily failed ({type(error).__name__}); these results are from ddgs]\n"
    if hits is None:
        hits = await _ddgs(query, failed_before="Tavily and " if note else "")
    if not hits:
        raise ToolError(
            f"no results for '{query}'", cause="empty", hint="use fewer, more general or different words"
        )
    return note + "\n\n".join(_shown(number, hit) for number, hit in enumerate(hits[:MAX_RESULTS], 1))


WEB_SEARCH = make_tool(web_search, timeout_s=60, retryable=True)


async def _tavily(query: str, key: str) -> list[Hit]:
    from tavily import AsyncTavilyClient

    async with AsyncTavilyClient(api_key=key, api_base_url=TAVILY_URL) as client:
        reply = await client.search(query, max_results=MAX_RESULTS, timeout=_SECONDS)
    return [
        Hit(_text(item, "title"), _text(item, "url"), _text(item, "content"), _text(item, "published_date"))
        for item in reply["results"]
    ]


async def _ddgs(query: str, failed_before: str) -> list[Hit]:
    from ddgs import DDGS
    from ddgs.exceptions import DDGSException

    def search() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = DDGS(timeout=_SECONDS).text(query, max_results=MAX_RESULTS)
        return found

    try:
        found = await asyncio.to_thread(search)
    except DDGSException as error:
        if "no results" in str(error).lower():
            return []
        # Only the kind of failure: the rest of the message differs from call to call.
        kind = re.match(r"\w*", str(error))
        why = kind[0] if kind and kind[0] else type(error).__name__
        raise ToolError(
            f"the search failed: {failed_before}ddgs did not answer ({why})",
            cause="transport",
            hint="open a known address with visit_webpage, or use the given files; "
            "the operator can set TAVILY_API_KEY",
            retryable=True,
        ) from error
    return [
        Hit(_text(item, "title"), _text(item, "href"), _text(item, "body"), _text(item, "date"))
        for item in found
    ]


def _text(item: dict[str, Any], name: str) -> str:
    return " ".join(str(item.get(name) or "").split())


def _shown(number: int, hit: Hit) -> str:
    snippet = (
        hit.snippet
        if len(hit.snippet) <= _LONGEST_SNIPPET
        else hit.snippet[:_LONGEST_SNIPPET].rstrip() + " ..."
    )
    lines = [f"{number}. {hit.title or '(no title)'}", f"   {hit.url}"]
    if hit.date:
        lines.append(f"   {hit.date}")
    if snippet:
        lines.append(f"   {snippet}")
    return "\n".join(lines)
