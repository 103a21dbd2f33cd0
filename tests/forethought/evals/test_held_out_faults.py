"""The agent mends kinds of fault that no rule of effort was written for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.planted_faults.held_out import HELD_OUT, HeldOutFaults, Market, market_tools
from benchmarks.planted_faults.held_out_model import held_out
from forethought.evals.types import Sample
from forethought.graph.agent import build_agent
from forethought.settings import Settings
from forethought.state.context import Context
from tests.support.model_server import ModelServer

SAMPLES = {s.groups["fault"]: s for s in HeldOutFaults(per_fault=1).samples(Path(), {})}
MOST_CALLS = 5.5
"""Model calls a task with effort auto."""
UNEXAMINED = {"prospective_reflection": False, "answer_checks": False, "answer_intra": False}
Run = Callable[..., Any]


@pytest.fixture
def run(model_server: Callable[..., ModelServer], settings: Callable[..., Settings]) -> Run:
    """Whether the agent, with these switches, solves a sample, and the model calls it took."""

    async def run(sample: Sample, **switches: Any) -> tuple[bool, int]:
        server = model_server(held_out([sample]))
        tools = market_tools(Market(**sample.data))
        graph = build_agent(tools=tools, settings=settings(server), builtin=())
        context = Context(model="openai:scripted", approve_tools="never", **switches)
        out = await graph.ainvoke({"task": sample.task}, context=context)
        return bool(out.get("answer") == str(sample.target)), len(server.requests)

    return run


async def test_with_effort_auto_every_kind_is_mended_at_few_calls(run: Run) -> None:
    results = {fault: await run(sample, effort="auto") for fault, sample in SAMPLES.items()}
    assert all(right for right, _ in results.values()), results
    assert sum(calls for _, calls in results.values()) <= MOST_CALLS * len(HELD_OUT)


@pytest.mark.parametrize("fault", HELD_OUT)
async def test_a_run_that_examines_nothing_makes_the_fault(run: Run, fault: str) -> None:
    right, _ = await run(SAMPLES[fault], effort="auto", **UNEXAMINED)
    assert not right


async def test_checks_of_the_answer_come_too_late_for_a_wrong_order(run: Run) -> None:
    right, _ = await run(SAMPLES["target"], effort="low")
    assert not right


def test_each_kind_has_as_many_tasks_and_each_task_its_own_question() -> None:
    samples = HeldOutFaults().samples(Path(), {})
    assert len({sample.task for sample in samples}) == len(samples) == 8 * len(HELD_OUT)
