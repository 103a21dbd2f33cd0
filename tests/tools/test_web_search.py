from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from ddgs.exceptions import DDGSException
from pydantic import SecretStr

from forethought.settings import Settings
from forethought.tools.base import Observation, ToolEnv
from forethought.tools.call import call_tool
from forethought.tools.web_search import WEB_SEARCH
from tests.support.web_server import Answer, Sent, StartServer, WebServer

KEY = "tvly-0123456789"
HTTP_500 = Sent("oops", status=500)
DDGS_RESULT = {"title": "Tea", "href": "https://example.org/t", "body": "Black tea"}
DDGS_TEXT = "1. Tea\n   https://example.org/t\n   Black tea"


def reply(content: Any, status: int = 200) -> Sent:
    return Sent(json.dumps(content), status, {"Content-Type": "application/json"})


def results(count: int, excerpt: str = "About\n tea") -> Sent:
    """Return a reply of Tavily."""
    dates = {"published_date": "2025-01-02"}
    return reply(
        {
            "results": [
                {"title": f"Page {n}", "url": f"https://example.org/{n}", "content": excerpt, **dates}
                for n in range(1, count + 1)
            ]
        }
    )


class Engines:
    """Stand-ins for the search engines; Tavily is set up by giving its answer."""

    def __init__(
        self, start: StartServer, settings: Callable[..., Settings], patch: pytest.MonkeyPatch
    ) -> None:
        self.start, self.settings, self.patch = start, settings, patch
        self.ddgs: list[Any] = []
        """What ddgs returns, one a search; exceptions are raised."""
        patch.setattr("ddgs.DDGS", lambda timeout: self)

    def text(self, query: str, max_results: int) -> Any:
        assert threading.current_thread().daemon, "it blocks, and may hang"
        result = self.ddgs.pop(0)
        if isinstance(result, Exception):
            raise result
        return result[:max_results]

    def tavily(self, answer: Answer) -> WebServer:
        server = self.start(answer)
        self.patch.setattr("forethought.tools.web_search.TAVILY_URL", server.url)
        self.patch.setenv("TAVILY_API_KEY", KEY)
        return server

    async def search(self, query: str = "tea") -> Observation:
        return await call_tool(WEB_SEARCH, {"query": query}, ToolEnv(settings=self.settings()))


@pytest.fixture
def engines(
    settings: Callable[..., Settings], web_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> Engines:
    return Engines(web_server, settings, monkeypatch)


async def test_results_of_tavily_have_number_title_address_date_and_excerpt(engines: Engines) -> None:
    server = engines.tavily(lambda request: results(2))
    assert engines.settings().tavily_api_key == SecretStr(KEY)
    seen = await engines.search("tea prices")
    assert seen.text == (
        "1. Page 1\n   https://example.org/1\n   2025-01-02\n   About tea\n\n"
        "2. Page 2\n   https://example.org/2\n   2025-01-02\n   About tea"
    )
    assert (seen.ok, seen.origin) == (True, "tool:web_search")
    [request] = server.asked
    assert json.loads(request.body)["query"] == "tea prices"
    assert request.headers["Authorization"] == f"Bearer {KEY}"


async def test_results_and_excerpts_are_limited(engines: Engines) -> None:
    engines.ddgs.append(
        [{"title": f"T{n}", "href": f"https://example.org/{n}", "body": ""} for n in range(20)]
    )
    assert (await engines.search()).text.count("https://") == 8
    engines.tavily(lambda request: results(30, "tea " * 5000))
    seen = await engines.search()
    assert ("8. Page 8" in seen.text, "9. Page 9" in seen.text) == (True, False)
    assert len(seen.text) < 8000


@pytest.mark.parametrize(
    "failure", [reply({"detail": {"error": f"bad key {KEY}"}}, 401), HTTP_500, Sent("this is not JSON")]
)
async def test_when_tavily_fails_ddgs_answers_with_a_note(
    engines: Engines, failure: Sent, caplog: pytest.LogCaptureFixture
) -> None:
    engines.tavily(lambda request: failure)
    engines.ddgs.append([DDGS_RESULT])
    seen = await engines.search()
    assert seen.ok
    assert seen.text.startswith("[Tavily (")
    assert seen.text.endswith(f") failed; these results are from ddgs]\n{DDGS_TEXT}")
    assert KEY not in seen.text + caplog.text


async def test_when_all_fail_all_and_the_alternatives_are_named(engines: Engines) -> None:
    engines.ddgs += [DDGSException("DNSError: no route to 1.2.3.4 at 12:01"), DDGSException("")]
    seen = await engines.search()
    assert (seen.ok, seen.cause, seen.retryable) == (False, "transport", False)
    assert seen.text == "the search failed: ddgs (DNSError) did not answer"
    alternatives = ("visit_webpage", "given files", "TAVILY_API_KEY")
    assert all(alternative in seen.hint for alternative in alternatives)
    engines.tavily(lambda request: HTTP_500)
    seen = await engines.search()
    assert seen.text.startswith("the search failed: Tavily (")
    assert seen.text.endswith(") and ddgs (DDGSException) did not answer")


@pytest.mark.parametrize("nothing", [[], DDGSException("No results found.")])
async def test_no_results(engines: Engines, nothing: Any) -> None:
    engines.ddgs.append(nothing)
    seen = await engines.search("qwxz")
    assert (seen.ok, seen.cause, seen.retryable) == (False, "empty", False)
    assert "'qwxz'" in seen.text
    assert "different words" in seen.hint
    assert (await engines.search(" ")).cause == "arguments"
