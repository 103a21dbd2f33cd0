from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from ddgs.exceptions import DDGSException
from pydantic import SecretStr

from forethought.settings import Settings
from forethought.tools.base import ToolEnv
from forethought.tools.call import call_tool
from forethought.tools.web_search import WEB_SEARCH
from tests.support.web_server import Answer, Asked, Sent, StartServer, WebServer

KEY = "tvly-0123456789"
JSON = {"Content-Type": "application/json"}


def found(count: int) -> list[dict[str, Any]]:
    return [
        {
            "title": f"Page {n}",
            "url": f"https://example.org/{n}",
            "content": f"About\n tea {n}",
            "published_date": "2025-01-02",
        }
        for n in range(1, count + 1)
    ]


@pytest.fixture
def tavily(web_server: StartServer, monkeypatch: pytest.MonkeyPatch) -> StartServer:
    """Start a stand-in for Tavily's service."""

    def start(answer: Answer) -> WebServer:
        server = web_server(answer)
        monkeypatch.setattr("forethought.tools.web.engines.TAVILY_URL", server.url)
        return server

    return start


@pytest.fixture
def searxng(web_server: StartServer, settings: Callable[..., Settings]) -> Callable[[Answer], ToolEnv]:
    """Start a stand-in for a SearXNG instance; returns an environment that uses it."""
    return lambda answer: ToolEnv(settings=settings(searxng_url=f"{web_server(answer).url}/base/"))


@pytest.fixture
def ddgs(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What ddgs gives, one a search (exceptions are raised); it asks many sites, so it is replaced whole."""
    given: list[Any] = []

    class Stand:
        def __init__(self, timeout: int) -> None:
            assert timeout > 0

        def text(self, query: str, max_results: int) -> Any:
            assert threading.current_thread().daemon, "it blocks, and may hang"
            result = given.pop(0)
            if isinstance(result, Exception):
                raise result
            return result[:max_results]

    monkeypatch.setattr("ddgs.DDGS", Stand)
    return given


@pytest.fixture
def with_key(settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch) -> ToolEnv:
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    made = settings()
    assert made.tavily_api_key == SecretStr(KEY)
    return ToolEnv(settings=made)


@pytest.fixture
def without_key(settings: Callable[..., Settings]) -> ToolEnv:
    return ToolEnv(settings=settings())


async def test_results_of_tavily_are_numbered_with_title_address_date_and_excerpt(
    tavily: StartServer, with_key: ToolEnv
) -> None:
    server = tavily(lambda asked: Sent(json.dumps({"results": found(2)}), headers=JSON))
    seen = await call_tool(WEB_SEARCH, {"query": "tea prices"}, with_key)
    assert seen.text == (
        "1. Page 1\n   https://example.org/1\n   2025-01-02\n   About tea 1\n\n"
        "2. Page 2\n   https://example.org/2\n   2025-01-02\n   About tea 2"
    )
    assert (seen.ok, seen.origin) == (True, "tool:web_search")
    [asked] = server.asked
    assert json.loads(asked.body)["query"] == "tea prices"
    assert asked.headers["Authorization"] == f"Bearer {KEY}"


async def test_results_and_excerpts_are_limited(tavily: StartServer, with_key: ToolEnv) -> None:
    results = [{**item, "content": "tea " * 5000} for item in found(30)]
    tavily(lambda asked: Sent(json.dumps({"results": results}), headers=JSON))
    seen = await call_tool(WEB_SEARCH, {"query": "tea"}, with_key)
    assert ("8. Page 8" in seen.text, "9. Page 9" in seen.text) == (True, False)
    assert len(seen.text) < 8000


@pytest.mark.parametrize(
    "failure",
    [
        Sent(json.dumps({"detail": {"error": f"bad key {KEY}"}}), status=401, headers=JSON),
        Sent("oops", status=500),
        Sent("this is not JSON", headers=JSON),
    ],
)
async def test_when_tavily_fails_ddgs_answers_with_a_note(
    tavily: StartServer,
    with_key: ToolEnv,
    ddgs: list[Any],
    failure: Sent,
    caplog: pytest.LogCaptureFixture,
) -> None:
    tavily(lambda asked: failure)
    ddgs.append([{"title": "Tea", "href": "https://example.org/t", "body": "Black tea"}])
    seen = await call_tool(WEB_SEARCH, {"query": "tea"}, with_key)
    assert seen.ok
    assert seen.text.startswith("[Tavily (")
    assert (
        ") failed; these results are from ddgs]\n1. Tea\n   https://example.org/t\n   Black tea" in seen.text
    )
    assert KEY not in seen.text + caplog.text


async def test_without_a_key_ddgs_is_asked(without_key: ToolEnv, ddgs: list[Any]) -> None:
    ddgs.append([{"title": f"T{n}", "href": f"https://example.org/{n}", "body": ""} for n in range(20)])
    seen = await call_tool(WEB_SEARCH, {"query": "tea"}, without_key)
    assert seen.text.startswith("1. T0\n   https://example.org/0\n\n2. T1")
    assert seen.text.count("https://") == 8


async def test_when_ddgs_fails_the_alternatives_are_named(without_key: ToolEnv, ddgs: list[Any]) -> None:
    ddgs.append(DDGSException("DNSError: no route to 1.2.3.4 at 12:01"))
    seen = await call_tool(WEB_SEARCH, {"query": "tea"}, without_key)
    assert (seen.ok, seen.cause, seen.retryable) == (False, "transport", False)
    assert seen.text == "the search failed: ddgs (DNSError) did not answer"
    alternatives = ("visit_webpage", "given files", "TAVILY_API_KEY or FORETHOUGHT_SEARXNG_URL")
    assert all(alternative in seen.hint for alternative in alternatives)


async def test_when_all_fail_all_are_named(
    tavily: StartServer, searxng: Callable[..., ToolEnv], with_key: ToolEnv, ddgs: list[Any]
) -> None:
    tavily(lambda asked: Sent("oops", status=500))
    env = searxng(lambda asked: Sent("oops", status=502))
    ddgs.append(DDGSException(""))
    seen = await call_tool(WEB_SEARCH, {"query": "tea"}, env)
    assert seen.text.startswith("the search failed: Tavily (")
    assert seen.text.endswith("), SearXNG (HTTP 502) and ddgs (DDGSException) did not answer")
    assert seen.hint.startswith("open a known address with visit_webpage, or use the given files")


async def test_results_of_searxng(searxng: Callable[..., ToolEnv]) -> None:
    tea = {"title": "Tea", "url": "https://example.org/t", "content": "Black\n tea", "publishedDate": "2025"}
    bare = {"title": "More", "url": "https://example.org/m", "content": None, "publishedDate": None}
    asked: list[Asked] = []

    def answer(seen: Asked) -> Sent:
        asked.append(seen)
        return Sent(json.dumps({"results": [tea, bare]}), headers=JSON)

    seen = await call_tool(WEB_SEARCH, {"query": "tea & milk"}, searxng(answer))
    assert seen.text == (
        "1. Tea\n   https://example.org/t\n   2025\n   Black tea\n\n2. More\n   https://example.org/m"
    )
    [one] = asked
    assert urlsplit(one.path).path == "/base/search"
    assert parse_qs(urlsplit(one.path).query) == {"q": ["tea & milk"], "format": ["json"]}


@pytest.mark.parametrize(
    ("failure", "why"),
    [
        (Sent("no", status=403), "HTTP 403: its JSON format is not switched on"),
        (Sent("", status=302, headers={"Location": "http://10.0.0.1/"}), "HTTP 302"),
        (Sent("<html>", headers=JSON), "no JSON results"),
        (Sent('{"results": [5]}', headers=JSON), "no JSON results"),
    ],
)
async def test_when_searxng_fails_the_next_engine_answers(
    searxng: Callable[..., ToolEnv], ddgs: list[Any], failure: Sent, why: str
) -> None:
    ddgs.append([{"title": "Tea", "href": "https://example.org/t", "body": ""}])
    seen = await call_tool(WEB_SEARCH, {"query": "tea"}, searxng(lambda asked: failure))
    assert seen.text.startswith(f"[SearXNG ({why}) failed; these results are from ddgs]\n1. Tea")


async def test_tavily_comes_before_searxng_and_searxng_before_ddgs(
    tavily: StartServer, searxng: Callable[..., ToolEnv], with_key: ToolEnv, ddgs: list[Any]
) -> None:
    tavily(lambda asked: Sent("oops", status=500))
    env = searxng(lambda asked: Sent(json.dumps({"results": found(1)}), headers=JSON))
    seen = await call_tool(WEB_SEARCH, {"query": "tea"}, env)
    assert "failed; these results are from SearXNG]\n1. Page 1" in seen.text
    assert ddgs == []


def test_the_address_of_searxng_must_be_http(settings: Callable[..., Settings]) -> None:
    with pytest.raises(ValueError, match="http"):
        settings(searxng_url="ftp://search.example")


@pytest.mark.parametrize("nothing", [[], DDGSException("No results found.")])
async def test_no_results(without_key: ToolEnv, ddgs: list[Any], nothing: Any) -> None:
    ddgs.append(nothing)
    seen = await call_tool(WEB_SEARCH, {"query": "qwxz"}, without_key)
    assert (seen.ok, seen.cause, seen.retryable) == (False, "empty", False)
    assert "'qwxz'" in seen.text
    assert "different words" in seen.hint
    assert (await call_tool(WEB_SEARCH, {"query": " "}, without_key)).cause == "arguments"
