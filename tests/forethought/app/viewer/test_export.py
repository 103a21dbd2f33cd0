"""Exports of a run: whole, self-contained, harmless, without secrets."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from starlette.testclient import TestClient

from forethought.app.viewer.markdown_export import LONGEST, code, fence, markdown_of_run
from forethought.redaction import register_secrets
from tests.forethought.app.conftest import Cli

HOSTILE = (
    "```\n# Owned\n<script>alert(1)</script> <img src=x onerror=alert(1)> @octocat #1 "
    "[a](javascript:alert(1)) ![b](http://evil.example/p.png) https://evil.example `x` \u202egnp"
)
wild = st.one_of(
    st.text(max_size=80),
    st.text(alphabet="`~<>[]()!@#*_-| \n\r\t\\&a\u2028\x0c", max_size=60),
    st.sampled_from([HOSTILE, "`" * 9, "    a", "> b", "- c", "1. d", "</code>", "~~~", "---"]),
)


@pytest.fixture
def ran(cli: Cli, scripted: Callable[..., Any]) -> Cli:
    script, _ = scripted(errors=("insufficient_constraint_verification",))
    script.answer = HOSTILE
    cli("run", f"What is 40 + 2? {HOSTILE}", "--thread", "t1")
    return cli


def outside_code(markdown: str) -> str:
    """What a tracker would read as its own markup: all but code."""
    texts = []
    for token in MarkdownIt("gfm-like", {"linkify": False}).parse(markdown):
        assert token.type not in ("html_block", "code_block"), token
        for part in token.children or []:
            assert part.type in ("text", "code_inline", "softbreak"), part
            texts.append(part.content if part.type == "text" else "")
    return "\n".join(texts)


def test_the_page_is_complete_and_loads_nothing(ran: Cli, tmp_path: Path) -> None:
    assert ran("show", "t1", "--html", "run.html").code == 0
    text = (tmp_path / "run.html").read_text("utf-8")
    page = BeautifulSoup(text, "html.parser")
    assert [one["n"] for one in ran("show", "t1", "--json").json["steps"]] == [1, 2, 3]
    assert all(page.find(id=f"step-{n}") for n in (1, 2, 3))
    assert "insufficient constraint verification" in page.text
    assert not page.select("link, img, form, iframe, object, base, [src], [onerror], [style]")
    links = [str(link["href"]) for link in page.select("a")]
    assert all(link.startswith("#") for link in links if not link.startswith("https://evil.example")), links
    assert len(page.select("script")) == 1
    assert "alert(1)" not in page.script.text  # type: ignore[union-attr]
    assert "\u202e" not in text
    assert "</script" not in page.script.text  # type: ignore[union-attr]
    (policy,) = (one["content"] for one in page.select("meta[http-equiv]"))
    for kind, tag in (("style", page.style), ("script", page.script)):
        digest = base64.b64encode(hashlib.sha256(tag.text.encode()).digest()).decode()  # type: ignore[union-attr]
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert str(policy).startswith("default-src 'none'")


def test_a_report_for_a_tracker_holds_hostile_text_as_code(ran: Cli, tmp_path: Path) -> None:
    printed = ran("show", "t1", "--markdown", "-").out
    assert ran("show", "t1", "--markdown", "run.md").code == 0
    assert (tmp_path / "run.md").read_text("utf-8") == printed
    own = outside_code(printed)
    assert not re.search(r"Owned|script|octocat|evil|onerror|@", own), own
    for part in (
        "# Run `t1`",
        "## Task",
        "## Answer",
        "## Planning errors in version 1",
        "### Step 3: `join`",
    ):
        assert part in printed


@given(st.lists(wild, min_size=6, max_size=6))
def test_no_text_breaks_out_of_its_code(texts: list[str]) -> None:
    task, answer, subtask, observation, note, name = texts
    step = {"n": 1, "subtask": subtask, "ok": False, "cause": note, "score": 0, "observation": observation}
    result = {
        "status": "best_effort", "score": None, "rounds": 1, "seconds": 1.0, "answer": answer, "error": note,
        "evaluation": note, "sources": [{"n": 1, "origin": name}], "plan_reviews": [], "replans": [],
        "usage": {"calls": 1, "input_tokens": 1, "output_tokens": 1, "cached_tokens": 0, "usd": None},
        "steps": [{**step, "action": "call", "tool": name, "arguments": {name: task}}],
        "plan": {"version": 1, "subtasks": [{"id": subtask, "description": task, "status": "failed"}]},
        "cost": [{"mechanism": name, "input_tokens": 1, "output_tokens": 1, "calls": 1, "note": note}],
    }  # fmt: skip
    data = {"thread_id": name, "task": task, "files": [{"name": name}], "result": result, "debuggings": []}
    own = outside_code(markdown_of_run(data, "forethought"))
    assert not re.search(r"[`<>\[\]@*_~\\&]", own), own


@given(wild)
def test_a_fence_and_a_span_give_the_text_back(text: str) -> None:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(f"a {code(text)} b\n\n{fence(text)}\n\nafter")
    assert [token.type for token in tokens if token.type in ("fence", "html_block")] == ["fence"]
    assert tokens[-2].content == "after"


def test_a_long_run_still_fits_an_issue() -> None:
    step = {"subtask": "a", "ok": True, "action": "call", "tool": "t", "arguments": {"x": "y" * 9_000}}
    result = {
        "status": "answered", "score": 9, "rounds": 1, "seconds": 1.0, "answer": "a" * 90_000, "sources": [],
        "evaluation": "", "plan_reviews": [], "replans": [], "plan": None, "cost": [],
        "usage": {"calls": 1, "input_tokens": 1, "output_tokens": 1, "cached_tokens": 0, "usd": 0.5},
        "steps": [{**step, "n": n, "observation": "`" * 9_000} for n in range(1, 1_001)],
    }  # fmt: skip
    data = {"thread_id": "t", "task": "x" * 90_000, "files": [], "result": result, "debuggings": []}
    text = markdown_of_run(data, "forethought")
    assert 10_000 < len(text) <= LONGEST
    assert "970 records omitted" in text or "980 records omitted" in text
    assert "### Step 1000" in text
    errors = [{"error_type": "e" * 300, "evidence": "`" * 140} for _ in range(40)]
    result["plan_reviews"] = [{"plan_version": n, "errors": errors} for n in range(40)]
    cut = markdown_of_run(data, "forethought")
    assert 10_000 < len(cut) <= LONGEST
    assert cut.endswith("\n\nThe rest is omitted.\n")
    assert "`" not in outside_code(cut)


def test_secrets_are_redacted_once_more(cli: Cli, scripted: Callable[..., Any], tmp_path: Path) -> None:
    script, _ = scripted()
    secret = "Zk9<&\"'Q7xW2pLm4RtY"
    script.answer = f"It is {secret}."
    cli("run", f"What is {secret}?", "--thread", "t1")
    register_secrets([secret])
    cli("show", "t1", "--html", "run.html")
    texts = [cli("show", "t1", "--markdown", "-").out, (tmp_path / "run.html").read_text("utf-8")]
    for text in texts:
        assert "Q7xW2pLm4RtY" not in text
        assert "What is" in text


def test_what_cannot_be_written_is_one_line(ran: Cli, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for arguments, words in (
        (("--html", "folder"), "is a folder"),
        (("--markdown", "/dev/null/x.md"), "cannot be written"),
        (("--html", "a.html", "--markdown", "a.md"), "use only one"),
        (("--html", "a.html", "--json"), "use either --json"),
    ):
        said = ran("show", "t1", *arguments)
        assert said.code == 2
        assert words in said.err
        assert len(said.err.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix in (".html", ".md", ".part")) == []
    assert "no thread gone" in ran("show", "gone", "--html", "a.html").err


def test_the_viewer_offers_the_same_as_downloads(ran: Cli, viewer: TestClient) -> None:
    page = BeautifulSoup(viewer.get("/view/threads/t1").text, "html.parser")
    links = [str(link["href"]) for link in page.select("a") if "/export." in str(link["href"])]
    assert links == [f"/view/threads/t1/export.{kind}" for kind in ("html", "md", "json")]
    for link in links:
        reply = viewer.get(link)
        assert reply.headers["content-disposition"] == f'attachment; filename="t1.{link.rpartition(".")[2]}"'
    assert viewer.get(links[1]).text == ran("show", "t1", "--markdown", "-").out
    assert viewer.get(links[2]).json() == ran("show", "t1", "--json").json
    assert viewer.get("/view/threads/t1/export.exe").status_code == 404
    assert viewer.get("/view/threads/none/export.md").status_code == 404


def test_keys_and_logins_that_are_not_this_machines_are_redacted_too(ran: Cli, viewer: TestClient) -> None:
    key, address = "sk-proj-Ab3dEf6hIj9kLm2nOp5q", "postgresql://ada:l0vel4ce@db.example/runs"
    ran("run", f"Why does {key} not open {address}?", "--thread", "t2")
    for kind in ("html", "md", "json"):
        text = viewer.get(f"/view/threads/t2/export.{kind}").text
        assert kind == "json" or "not open" in text
        assert "sk-proj" not in text
        assert "l0vel4ce" not in text
