"""A write from outside of a run takes no bound away: what was spent stays spent, whatever a client writes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.types import Command, Overwrite, Send, StateUpdate

from forethought.graph.bounded_graph import WIDEST, UpdateError, check_update
from forethought.graph.debugger import build_debugger
from forethought.settings import Settings
from forethought.state.reducers import CLEAR, add_usage
from tests.support.agent import Drive, Script

LESS = {"tool": {"input_tokens": -(10**9)}}
FORGED: dict[str, Any] = {
    "cleared": {"usage": {CLEAR: None}},
    "cleared and more": {"usage": {CLEAR: None, "tool": {"input_tokens": 1}}},
    "no roles": {"usage": []},
    "overwritten": {"usage": {"__overwrite__": {}}},
    "overwritten in JSON": {"usage": {"type": "__overwrite__", "value": {}}},
    "overwritten in Python": {"usage": Overwrite({})},
    "steps overwritten": {"trajectory": {"__overwrite__": []}},
    "counters": {"progress": {"task": 1, "n": 0, "base_n": 10**6, "round": 1, "waves": 0, "replans": 0}},
    "a wide wave": {"dispatch": [{"subtask": "a", "n": n} for n in range(WIDEST + 1)]},
    "another graph's wave": {"wave": list(range(WIDEST + 1))},
    "pairs": [("answer", "x"), ("usage", {CLEAR: None})],
    "a command": Command(update={"usage": {CLEAR: None}}),
    "a command of pairs": Command(update=[("progress", {})]),
    "sent to a node": Command(goto="tool_agent"),
    "sent with a state": Command(goto=[Send("planner", {"usage": {}})]),
    "a copy": [[{"usage": {CLEAR: None}}, "tool_executor"]],
    "no channels": 5,
}


@pytest.mark.parametrize("name", FORGED)
def test_what_only_a_run_may_write_is_refused(name: str) -> None:
    with pytest.raises(UpdateError):
        check_update(FORGED[name])


@pytest.mark.parametrize(
    "values",
    [
        None,
        {},
        {"usage": {"tool": {"input_tokens": 120, "usd": 0.0, "calls": 1}}},
        {"guidance": ["mind it"], "status": "running", "plan": {"version": 1}, "proposals": {"a": None}},
        {"dispatch": [{"subtask": "a", "n": 1}]},
        Command(resume={"decision": "approve"}),
        Command(resume="yes", update={"guidance": ["mind it"]}),
    ],
)
def test_what_a_fork_an_edit_and_a_reply_write_is_not(values: Any) -> None:
    check_update(values)


async def test_a_thread_that_is_bounded_takes_no_such_write_by_any_way(drive: Drive) -> None:
    out = await drive(Script(), setting={"max_tokens": 100_000})
    before = (await out.graph.aget_state(out.config)).values
    for values in ({"usage": {CLEAR: None}}, {"progress": {**before["progress"], "base_n": 99}}):
        with pytest.raises(UpdateError):
            await out.graph.aupdate_state(out.config, values, as_node="replan_trigger")
        with pytest.raises(UpdateError):
            await out.graph.abulk_update_state(
                out.config, [[StateUpdate({"answer": "x"})], [StateUpdate(values, "replan_trigger")]]
            )
        with pytest.raises(UpdateError):
            await out.graph.ainvoke(Command(update=values), out.config, context=out.context)
    await out.graph.ainvoke({"task": "another", "usage": LESS}, out.config, context=out.context)
    after = (await out.graph.aget_state(out.config)).values
    tokens = [{role: usage["input_tokens"] for role, usage in at["usage"].items()} for at in (before, after)]
    assert tokens[1] == tokens[0], "the next task has cost the same"


async def test_an_offline_graph_neither() -> None:
    graph = build_debugger(Settings(max_usd=1.0))
    with pytest.raises(UpdateError):
        await graph.aupdate_state({"configurable": {"thread_id": "t"}}, {"usage": {CLEAR: None}})


async def test_where_the_operator_sets_no_budget_counters_can_be_edited_but_spending_not_undone(
    drive: Drive,
) -> None:
    out = await drive(Script())
    before = (await out.graph.aget_state(out.config)).values
    values = {"progress": {**before["progress"], "waves": 7}, "usage": LESS}
    await out.graph.aupdate_state(out.config, values, as_node="replan_trigger")
    after = (await out.graph.aget_state(out.config)).values
    assert after["progress"]["waves"] == 7
    assert after["usage"]["tool"]["input_tokens"] == before["usage"]["tool"]["input_tokens"]


FIGURES = st.dictionaries(
    st.sampled_from(["calls", "input_tokens", "usd"]), st.integers(-9, 9) | st.floats(allow_infinity=False)
)


@given(st.lists(st.dictionaries(st.sampled_from(["tool", "answer"]), FIGURES), max_size=5))
def test_no_write_lowers_what_was_spent(writes: list[Any]) -> None:
    spent: Any = {"tool": {"calls": 3, "input_tokens": 100, "usd": 0.5}}
    for write in writes:
        now = add_usage(spent, write)
        for role, figures in spent.items():
            assert all(now[role][key] >= value for key, value in figures.items())
        spent = now
