"""Search the web by Tavily, SearXNG or ddgs: the first that is set up and answers."""

from __future__ import annotations

import logging

from forethought.text import one_line
from forethought.tools.base import ToolEnv, ToolError, make_tool
from forethought.tools.web.engines import MAX_RESULTS, EngineFailed, Hit, engines

_LONGEST_SNIPPET = 700
_ELSEWHERE = (
    "open a known address with visit_webpage, or use the given files; the operator can set TAVILY_API_KEY or "
    "FORETHOUGHT_SEARXNG_URL"
)
_log = logging.getLogger(__name__)


async def web_search(env: ToolEnv, query: str) -> str:
    """Search the web and return up to 8 results, each with its title, address, an excerpt and, where known,
    its date.

    An excerpt is not the page: open the page with visit_webpage before relying on details.

    Args:
        query: What to look for, in a few words as for a search engine.
    """
    if not query.strip():
        raise ToolError("the query is empty", cause="arguments", hint="say what to look for")
    failed: list[str] = []
    for engine, search in engines(env.settings).items():
        try:
            hits = await search(query)
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
        note = f"[{_listed(failed)} failed; these results are from {engine}]\n" if failed else ""
        return note + "\n\n".join(_shown(number, hit) for number, hit in enumerate(hits[:MAX_RESULTS], 1))
    raise ToolError(
        f"the search failed: {_listed(failed)} did not answer",
        cause="transport",
        hint=_ELSEWHERE,
    )


WEB_SEARCH = make_tool(web_search, timeout_s=60, retryable=True)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _shown(number: int, hit: Hit) -> str:
    snippet = one_line(hit.snippet, _LONGEST_SNIPPET)
    lines = [f"{number}. {hit.title or '(no title)'}", f"   {hit.url}"]
    if hit.date:
        lines.append(f"   {hit.date}")
    if snippet:
        lines.append(f"   {snippet}")
    return "\n".join(lines)
