"""Search the web by Tavily where its key is set, else or when it fails by ddgs."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

from forethought.text import one_line
from forethought.tools.base import ToolEnv, ToolError, make_tool
from forethought.tools.threads import in_daemon_thread

if TYPE_CHECKING:
    from forethought.settings import Settings

MAX_RESULTS = 8
TAVILY_URL = "https://api.tavily.com"
SECONDS = 25
"""Longest wait for one engine."""
_LONGEST_SNIPPET = 700
_log = logging.getLogger(__name__)


class EngineFailed(Exception):
    """An engine did not answer; the message says why in a word or two and holds nothing it sent."""


async def web_search(env: ToolEnv, query: str) -> str:
    """Search the web and return up to 8 results, each with its title, address, an excerpt and, where known,
    its date.

    An excerpt is not the page: open the page with visit_webpage before relying on details.

    Args:
        query: What to look for, in a few words as for a search engine.
    """
    if not query.strip():
        raise ToolError("the query is empty", cause="arguments", hint="say what to look for")
    engines = {"ddgs": _ddgs} if env.settings.tavily_api_key is None else {"Tavily": _tavily, "ddgs": _ddgs}
    failed: list[str] = []
    for engine, search in engines.items():
        try:
            hits = await search(query, env.settings)
        except EngineFailed as error:
            _log.warning("web_search: %s failed (%s)", engine, error)
            failed.append(f"{engine} ({error})")
            continue
        if not hits:
            raise ToolError(
                f"no results for '{query}' from {engine}",
                cause="empty",
                hint="use fewer, more general or different words",
            )
        note = f"[{failed[0]} failed; these results are from {engine}]\n" if failed else ""
        return note + "\n\n".join(
            _result_text(number, hit) for number, hit in enumerate(hits[:MAX_RESULTS], 1)
        )
    raise ToolError(
        f"the search failed: {' and '.join(failed)} did not answer",
        cause="transport",
        hint="open a known address with visit_webpage, or use the given files; the operator can set "
        "TAVILY_API_KEY",
    )


WEB_SEARCH = make_tool(web_search, timeout_s=60, retryable=True, private=False)


async def _tavily(query: str, settings: Settings) -> list[dict[str, Any]]:
    from tavily import AsyncTavilyClient

    assert settings.tavily_api_key is not None
    key = settings.tavily_api_key.get_secret_value()
    try:
        async with AsyncTavilyClient(api_key=key, api_base_url=TAVILY_URL) as client:
            reply = await client.search(query, max_results=MAX_RESULTS, timeout=SECONDS)
        results: list[dict[str, Any]] = reply["results"]
        return results
    except Exception as error:
        # The client's errors have no common base class, and their texts may hold the key.
        raise EngineFailed(type(error).__name__) from error


async def _ddgs(query: str, settings: Settings) -> list[dict[str, Any]]:
    from ddgs import DDGS
    from ddgs.exceptions import DDGSException

    try:
        return await in_daemon_thread(lambda: DDGS(timeout=SECONDS).text(query, max_results=MAX_RESULTS))
    except DDGSException as error:
        if "no results" in str(error).lower():
            return []
        # Only the kind of failure: the rest of the message differs from call to call.
        kind = re.match(r"\w*", str(error))
        raise EngineFailed(kind[0] if kind and kind[0] else type(error).__name__) from error
    except Exception as error:
        # It reads other people's pages, which change: on a new form of one it raises just anything.
        raise EngineFailed(type(error).__name__) from error


def _result_text(number: int, hit: dict[str, Any]) -> str:
    """A result, in Tavily's names or those of ddgs."""
    title, address, date = (
        one_line(hit.get(a) or hit.get(b) or "")
        for a, b in (("title", "title"), ("url", "href"), ("published_date", "date"))
    )
    snippet = one_line(hit.get("content") or hit.get("body") or "", _LONGEST_SNIPPET)
    rest = "".join(f"\n   {line}" for line in (address, date, snippet) if line)
    return f"{number}. {title or '(no title)'}{rest}"
