"""The add-on catches the faults that are planted for it, in each framework (see benchmarks/add_on)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from benchmarks.add_on.__main__ import measure, table
from benchmarks.add_on.hosts import HOSTS
from benchmarks.add_on.script import FAULTS


@pytest.mark.filterwarnings("ignore::DeprecationWarning:deepagents")
@pytest.mark.parametrize("host", HOSTS)
async def test_faults_are_caught(host: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORETHOUGHT_EFFORT")
    runs = await measure(1, (host,))
    name = host.__name__
    assert [runs[name, False][fault] for fault in FAULTS] == [1, 0, 0, 0, 0]
    # smolagents has no place for a check of the answer that knows the last action.
    checks = name != "smolagents"
    assert [runs[name, True][fault] for fault in FAULTS] == [1, 1, 1, 1, int(checks)]
    added = runs[name, True]["sound calls"] - runs[name, False]["sound calls"]
    assert added == (3 if checks else 1)
    assert f"| {name} | with | 1 of 1 |" in table(runs, 1)
