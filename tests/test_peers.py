"""The bench of peers: each contender makes its look-ups and ends with the right answer, or has failed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

import pytest

from benchmarks.peers.contenders import bare_loop, forethought_agent, langchain_agent
from benchmarks.peers.grid import CONTENDERS, FLOOR, OURS, PEER, Cell, Setting, cells
from benchmarks.peers.report import Table, figures
from benchmarks.peers.server import served
from benchmarks.peers.task import SHAPES, Shape, Task
from benchmarks.peers.worker import measure

INSTALLED = {
    "bare_loop": bare_loop,
    "forethought_agent": forethought_agent,
    "langchain_agent": langchain_agent,
}
"""smolagents has an environment of its own."""
NAMES = [name for name, (module, _) in CONTENDERS.items() if module in INSTALLED]


async def measured(name: str, setting: Setting, module: Any = None) -> dict[str, Any]:
    """What a cell of the grid came to, in this process."""
    own, options = CONTENDERS[name]
    with served() as url:
        cell = {**asdict(setting), "repeats": 1, "url": url, "options": options}
        return await measure(module or INSTALLED[own], cell)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", NAMES)
async def test_a_contender_makes_every_look_up_and_answers(name: str, shape: Shape) -> None:
    setting = Setting(2, 1, shape, 7)
    sums = await measured(name, setting)
    assert sums["failed"] == ""
    columns = figures(sums, setting)
    assert columns["model calls"] >= columns["round trips"] >= 2
    assert columns["effective"] <= columns["tokens"]


async def test_a_run_that_leaves_a_look_up_out_has_failed() -> None:
    @asynccontextmanager
    async def opened(url: str, look_up: Callable[[str], str], options: Any) -> AsyncIterator[Any]:
        async def play(task: Task) -> str:
            for number in range(1, task.k):
                look_up(task.bin(number))
            return ""

        yield play

    sums = await measured("bare loop", Setting(1, 0, "chain", 3), type("Hasty", (), {"opened": opened}))
    assert sums["failed"].startswith("2 look-ups, of 2 bins, where 3 were wanted")


async def test_a_long_history_is_cached_but_for_its_end() -> None:
    setting = Setting(1, 0, "long", 20)
    sums = await measured("bare loop", setting)
    asked, cached = sums["input_tokens"], sums["cached_tokens"]
    assert 0.7 * asked < cached < asked
    columns = figures(sums, setting)
    assert columns["effective"] == pytest.approx(columns["tokens"] - 0.9 * cached)


def test_what_asks_the_same_is_measured_once() -> None:
    wanted = list(cells([Setting(1, 50, shape, 5) for shape in SHAPES], list(CONTENDERS)))
    assert Cell("create_agent", Setting(1, 50, "chain", 5)) in wanted
    assert Cell("create_agent, sequential", Setting(1, 50, "chain", 5)) not in wanted
    assert Cell("ours, auto", Setting(1, 50, "long", 5)) in wanted
    assert len(wanted) == 10 + 9 + 3


def test_the_page_shows_the_defaults_beside_the_others() -> None:
    chosen = [Setting(1, ms, shape, 5) for ms in (0, 50) for shape in SHAPES]
    columns = ("wall, s", "effective", "CPU ms a look-up")
    measured = [
        {"contender": who, "setting": str(setting), "failed": ""} | dict.fromkeys(columns, figure)
        for who, figure in ((OURS, 3.0), (PEER, 2.0), (FLOOR, 1.0))
        for setting in chosen
    ]
    rows = Table({"machine": {}, "cells": measured}, chosen, list(CONTENDERS)).page().splitlines()
    assert len(rows) == 2 + 3 * len(SHAPES)
    assert rows[2] == "| tokens : create_agent | independent | 1.50 |"
    assert rows[-1] == "| time : bare loop | long | 3.00 |"
