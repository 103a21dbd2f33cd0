"""Where the text of a thread comes from: outside, private, joined and told."""

from __future__ import annotations

from typing import Any

import pytest

from forethought.nodes.support.origins import (
    influence,
    is_outside,
    is_private,
    joined,
    thread_origin,
)
from forethought.tools.ask_user import ASK_USER
from forethought.tools.base import make_tool
from forethought.tools.python import PYTHON


def sum_up(a: int) -> str:
    """Sum up."""
    return str(a)


TOOLS = {tool.name: tool for tool in (PYTHON, ASK_USER, make_tool(sum_up))}


def step(n: int, origin: str, **fields: Any) -> Any:
    return {"n": n, "origin": origin, "sub_steps": [], "cause": "", **fields}


@pytest.mark.parametrize(
    ("part", "outside", "private"),
    [
        ("user", False, True),
        ("model", False, False),
        ("file:a.txt", True, True),
        ("web:example.org", True, False),
        ("tool:sum_up", True, True),
        ("tool:python", False, False),
        ("tool:ask_user", False, False),
        ("tool:gone", True, True),
        ("b.txt", True, True),
    ],
)
def test_each_kind(part: str, outside: bool, private: bool) -> None:
    assert (is_outside(part, TOOLS), is_private(part, TOOLS)) == (outside, private)


def test_the_whole_thread_counts_with_sub_steps_results_and_given_files() -> None:
    state: Any = {
        "files": [{"name": "a.txt"}, "named"],
        "trajectory": [
            step(7, "file:a.txt, web:x.org"),
            step(2, "tool:python", sub_steps=[{"origin": "web:x.org"}]),
            step(3, "user", cause="rejected"),
        ],
        "results": {"s": {"n": 4, "text": "", "origin": "tool:python, tool:mcp"}},
    }
    seen = influence(state, TOOLS)
    assert seen.outside == {"file:a.txt": 0, "web:x.org": 2, "tool:mcp": 4}
    assert seen.private == {"file:a.txt": 0, "tool:mcp": 4}
    assert thread_origin(state) == "file:a.txt, tool:python, web:x.org, tool:mcp"


def test_a_web_page_is_not_private() -> None:
    state: Any = {"trajectory": [step(1, "web:x.org")]}
    assert not influence(state, TOOLS).private
    assert thread_origin({}) == "user"


def test_joining_keeps_the_model_only_where_nothing_else_is() -> None:
    assert joined(["model", "file:a, model", "web:x"]) == "file:a, web:x"
    assert joined(["model", "model"]) == "model"
    assert joined([""]) == ""
