"""The threads page: what it lists, finds, and leaves harmless."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup

from forethought.app.viewer.local_threads import LocalThreads
from forethought.app.viewer.thread_list import select
from tests.forethought.app.conftest import Cli
from tests.forethought.app.viewer.conftest import Page

HOSTILE = "<img src=x onerror=alert(1)> \u202egnp.exe"


def titles(page: BeautifulSoup) -> list[str]:
    return [str(link.text) for link in page.select(".threads h2 a")]


def test_threads_are_listed_newest_first_with_their_figures(
    cli: Cli, scripted: Callable[..., Any], page: Page
) -> None:
    assert "No threads yet." in page("/").text
    script, _ = scripted()
    cli("run", "What is 40 + 2?", "--thread", "t1")
    script.question = "Which colour?"
    cli("run", HOSTILE, "--thread", "t2")
    seen = page("/")
    assert titles(seen) == ["<img src=x onerror=alert(1)> gnp.exe", "What is 40 + 2?"]
    assert not seen.select("main img")
    assert [link["href"] for link in seen.select(".threads h2 a")] == ["/view/threads/t2", "/view/threads/t1"]
    figures = [" ".join(line.text.split()) for line in seen.select(".figures")]
    assert figures[0].startswith("interrupted ")
    assert figures[1].startswith("answered score 9 ")
    assert "3 steps" in figures[1]
    assert "tokens" in figures[1]
    assert titles(page("/?q=ANSWER+40")) == []
    assert titles(page("/?q=42+WHAT")) == ["What is 40 + 2?"], "in the answer and in the task"
    assert titles(page("/?status=interrupted")) == ["<img src=x onerror=alert(1)> gnp.exe"]
    searched = page(f"/?q={HOSTILE}&status=<b>&page=9e9")
    assert searched.select_one("input[name=q]")["value"].startswith("<img")  # type: ignore[index, union-attr]
    assert "0 threads found." in searched.text
    listed = cli("threads", "--json").json
    assert [(one["score"], one["steps"]) for one in listed] == [(None, 2), (9, 3)]
    assert listed[1]["seconds"] == cli("show", "t1", "--json").json["seconds"]


def entry(thread_id: str, debugs: str = "", **fields: str) -> dict[str, Any]:
    return {"thread_id": thread_id, "debugs": debugs, "status": "answered", "task": "", "answer": ""} | fields


def test_a_debugging_is_listed_with_its_run() -> None:
    entries = [
        entry("debug:t1:2", debugs="t1"),
        entry("debug:gone:1", debugs="gone"),
        entry("t1", task="Add"),
        entry("debug:t1:1", debugs="t1"),
    ]
    listed = select(entries, "", "")
    assert [one["thread_id"] for one in listed] == ["debug:gone:1", "t1"]
    assert [one["thread_id"] for one in listed[1]["debuggings"]] == ["debug:t1:2", "debug:t1:1"]
    assert [one["thread_id"] for one in select(entries, "add", "answered")] == ["t1"]


def test_a_page_holds_fifty(page: Page, viewer: Any) -> None:
    runs = viewer.app.state.runs

    async def many(limit: int) -> list[dict[str, Any]]:
        full = {"status": "damaged", "time": "", "score": None, "steps": 0, "tokens": 0, "usd": 0.0}
        return [entry(f"n{n}", **full) for n in range(min(limit, 120))]  # type: ignore[arg-type]

    runs.threads = many
    first, last = page("/"), page("/?page=3")
    assert len(titles(first)) == 50
    assert titles(last) == [f"n{n}" for n in range(100, 120)]
    links = [link["href"] for link in page("/?page=2&q=n").select(".pages a")]
    assert links == ["/view/?q=n&status=&page=1", "/view/?q=n&status=&page=3"]
    assert [link.text for link in last.select(".pages a")] == ["Newer"]


def test_the_state_of_an_unchanged_thread_is_read_once(
    cli: Cli, scripted: Callable[..., Any], page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted()
    cli("run", "What is 40 + 2?", "--thread", "t1")
    first = page("/").select(".figures")
    monkeypatch.setattr(LocalThreads, "snapshot", None)
    assert page("/").select(".figures") == first
