"""Each mechanism mends the faults that are planted for it, and is missed when it is off."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from benchmarks.planted_faults.model import planted
from benchmarks.planted_faults.world import FAULTS, PriceRegister, prices_of, tools_for
from forethought.evals.types import Sample
from forethought.graph.agent import build_agent
from forethought.settings import Settings
from forethought.state.context import Context
from tests.support.model_server import ModelServer

SAMPLES = {s.groups["fault"]: s for s in PriceRegister(per_fault=1).samples(Path(), {})}
Run = Callable[..., Any]


MOST_CALLS = 5.5
"""Model calls a task with effort auto."""


@pytest.fixture
def right(model_server: Callable[..., ModelServer], settings: Callable[..., Settings]) -> Run:
    """Whether the agent, with these switches, answers a sample rightly."""

    async def run(sample: Sample, **switches: Any) -> bool:
        server = model_server(planted([sample]))
        graph = build_agent(
            tools=tools_for(prices_of(sample.data)),
            settings=settings(server),
            checkpointer=InMemorySaver(),
            builtin=(),
        )
        context = Context(model="openai:scripted", **switches)
        out = await graph.ainvoke(
            {"task": sample.task}, {"configurable": {"thread_id": sample.id}}, context=context
        )
        return bool(out.get("answer") == str(sample.target))

    return run


@pytest.mark.parametrize("fault", FAULTS)
async def test_the_whole_agent_mends_every_fault(right: Run, fault: str) -> None:
    assert await right(SAMPLES[fault])


@pytest.mark.parametrize(
    ("fault", "switches"),
    [
        ("condition", {"prospective_reflection": False}),
        ("condition", {"planning_errors": False}),
        ("tool", {"replanning": False}),
        ("plan", {"plan_intra": False}),
        ("move", {"tool_intra": False}),
        ("entry", {"answer_intra": False}),
        ("entry", {"long_term_memory": False}),
        ("spelling", {"short_term_memory": False}),
        ("edition", {"foresight": "off"}),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
async def test_without_its_mechanism_a_fault_stays(right: Run, fault: str, switches: dict[str, Any]) -> None:
    assert not await right(SAMPLES[fault], **switches)
    assert await right(SAMPLES["none"], **switches), "a task without a fault needs no mechanism"


async def test_with_effort_auto_every_fault_is_mended_at_few_calls(
    model_server: Callable[..., ModelServer], settings: Callable[..., Settings]
) -> None:
    server = model_server(planted(SAMPLES.values()))
    for fault, sample in SAMPLES.items():
        graph = build_agent(tools=tools_for(prices_of(sample.data)), settings=settings(server), builtin=())
        context = Context(model="openai:scripted", effort="auto")
        out = await graph.ainvoke({"task": sample.task}, context=context)
        assert out["answer"] == str(sample.target), fault
        assert out["status"] == "answered"
    assert len(server.requests) <= MOST_CALLS * len(SAMPLES)


def test_tasks_are_drawn_evenly_and_reproducibly() -> None:
    samples = PriceRegister().samples(Path(), {})
    assert len(samples) == len({sample.task for sample in samples}) == 4 * len(FAULTS)
    assert samples == PriceRegister().samples(Path(), {})
