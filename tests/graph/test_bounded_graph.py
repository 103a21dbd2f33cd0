"""A write from outside of a run takes no bound away: what was spent stays spent, whatever a client writes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.errors import EmptyInputError
from langgraph.types import Command, Overwrite, Send, StateUpdate

from forethought.graph.client_writes import UpdateError, check_run, check_update
from forethought.graph.debugger import build_debugger
from forethought.settings import Settings
from forethought.state.agent import AgentInput, AgentState
from forethought.state.debugger import DebuggerState
from forethought.state.distiller import DistillerState
from forethought.state.reducers import CLEAR, add_usage
from forethought.state.synthesizer import SynthesizerState
from tests.support.agent import Drive, Script
from tests.support.replies import plan, sub

LESS = {"tool": {"input_tokens": -(10**9)}}
OF_THE_RUN: dict[str, Any] = {
    "spending cleared": {"usage": {CLEAR: None}},
    "spending": {"usage": {"tool": {"input_tokens": 120, "usd": 0.0, "calls": 1}}},
    "counters": {"progress": {"task": 1, "n": 0, "base_n": 10**6, "round": 1, "waves": 0, "replans": 0}},
    "a wave": {"dispatch": [{"subtask": "a", "n": 1}]},
    "a result": {"results": {"s1": {"n": 1, "text": "done", "origin": "user"}}},
    "pairs": [("answer", "x"), ("usage", {CLEAR: None})],
}
MALFORMED: dict[str, Any] = {
    "overwritten": {"usage": {"__overwrite__": {}}},
    "overwritten in JSON": {"usage": {"type": "__overwrite__", "value": {}}},
    "overwritten in Python": {"messages": Overwrite([])},
    "an open channel overwritten": {"plan": {"__overwrite__": {"version": 1}}},
    "steps overwritten": {"trajectory": {"__overwrite__": []}},
    "no roles": {"usage": []},
    "no step": {"trajectory": ["x"]},
    "no subtask": {"plan": {"version": 1, "subtasks": [1]}},
    "half a proposal": {"proposals": {"s1": {"n": 1}}},
    "a number as text": {"progress": {"n": "5"}},
    "no message": {"messages": [{"role": "tool", "content": "x"}]},
    "no channel": {"wave": []},
    "a command": Command(update={"guidance": ["mind it"]}),
    "a command of pairs": Command(update=[("progress", {})]),
    "sent to a node": Command(goto="tool_agent"),
    "sent with a state": Command(goto=[Send("planner", {"usage": {}})]),
    "a copy": [[{"usage": {CLEAR: None}}, "tool_executor"]],
    "no channels": 5,
    "a new file": {"files": [{"name": "a.txt", "data": "b25l"}]},
    "a file's name": {"files": ["a.txt"]},
    "content beside a hash": {"files": [{"name": "a.txt", "hash": "0" * 64, "data": "b25l"}]},
}
DECIDED: list[Any] = [
    None,
    {},
    {"guidance": ["mind it"], "status": "running", "plan": {"version": 1}, "proposals": {"a": None}},
    {"messages": {"role": "user", "content": "hello"}, "task": "x", "answer": "x"},
    {"files": ["*", {"name": "a.csv", "hash": "0" * 64}]},
    Command(resume={"decision": "approve"}),
]


def check(values: Any, *, bounded: bool = True) -> None:
    """Check a write to a thread of the agent's."""
    check_update(values, AgentState, AgentInput, bounded=bounded)


@pytest.mark.parametrize("name", OF_THE_RUN)
def test_what_was_done_and_spent_only_a_run_writes(name: str) -> None:
    check(OF_THE_RUN[name], bounded=False)
    with pytest.raises(UpdateError, match="is read-only for clients"):
        check(OF_THE_RUN[name])


@pytest.mark.parametrize("bounded", [True, False])
@pytest.mark.parametrize("name", MALFORMED)
def test_what_no_thread_could_be_read_with_is_refused_in_one_line(name: str, bounded: bool) -> None:
    with pytest.raises(UpdateError) as refused:
        check(MALFORMED[name], bounded=bounded)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("values", DECIDED)
def test_what_is_asked_and_decided_a_client_writes(values: Any) -> None:
    check(values)


@pytest.mark.parametrize("schema", [AgentState, DebuggerState, DistillerState, SynthesizerState])
def test_each_graphs_channels_can_be_checked(schema: type) -> None:
    for bounded in (True, False):
        with pytest.raises(UpdateError):
            check_update({"status": 5}, schema, schema, bounded=bounded)


def test_a_runs_input_and_command_leave_a_thread_that_can_be_read() -> None:
    check_run({"task": 5, "files": "x", "messages": "hello"}, {"resume": {"decision": 5}})
    for wrong in (5, {"messages": 5}, {"files": {"__overwrite__": 5}}):
        with pytest.raises(UpdateError):
            check_run(wrong)
    for command in ({"goto": "planner"}, {"resume": 1, "update": {"guidance": []}}):
        with pytest.raises(UpdateError, match="may only reply"):
            check_run(None, command)


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
    with pytest.raises(UpdateError):
        await out.graph.ainvoke({"messages": {"__overwrite__": []}}, out.config, context=out.context)
    with pytest.raises(UpdateError, match=r"cannot continue after this update: .*does not exist"):
        await out.graph.aupdate_state(out.config, {}, as_node="nonsense")
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


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ({"max_steps": 0}, "context.max_steps is 0: must be greater than or equal to 1"),
        ({"max_steps": 5000}, "context.max_steps is 5000: must be less than or equal to 2000"),
        (
            {"forced_replans": [0]},
            "context.forced_replans.0 is 0: must be greater than or equal to 1",
        ),
        ({"effort": "x"}, "context.effort is 'x': must be 'paper', 'auto' or 'low'"),
        (5, "context is 5: must be a valid dictionary or instance of Context"),
    ],
)
async def test_a_context_out_of_range_is_refused_in_one_line(drive: Drive, context: Any, said: str) -> None:
    out = await drive(Script(), task=None)
    with pytest.raises(UpdateError) as refused:
        await out.graph.ainvoke({"task": "x"}, out.config, context=context)
    assert str(refused.value) == said
    assert not out.requests


async def test_an_empty_thread_has_nothing_to_go_on_with(drive: Drive) -> None:
    out = await drive(Script(), task=None)
    with pytest.raises(EmptyInputError, match="no task to continue: send a task or a message"):
        await out.go(None)


@pytest.mark.parametrize("proposals", [{"a": None}, {"*": None}])
async def test_a_wave_without_its_proposals_is_refused(drive: Drive, proposals: Any) -> None:
    out = await drive(Script(), task=None)
    await out.graph.ainvoke(
        {"task": "x"}, out.config, context=out.context, interrupt_before=["tool_executor"]
    )
    with pytest.raises(UpdateError, match="no proposal is left; write as replan_trigger to get a new one"):
        await out.graph.aupdate_state(out.config, {"proposals": proposals}, as_node="tool_agent")
    await out.graph.aupdate_state(out.config, {"proposals": proposals}, as_node="replan_trigger")
    await out.go(None)
    assert out.status == "answered"


@pytest.mark.parametrize(
    "subtasks", [[], [{"id": "zz", "description": "x", "depends_on": [], "expected": ""}]]
)
async def test_a_plan_without_what_is_due_is_refused(drive: Drive, subtasks: list[Any]) -> None:
    out = await drive(Script(plans=[plan(sub("s1"), sub("s2", ["s1"]))]), approve_plan=True)
    await out.graph.ainvoke(
        Command(resume="approve"), out.config, context=out.context, interrupt_before=["tool_agent"]
    )
    edited = {"plan": {**(await out.graph.aget_state(out.config)).values["plan"], "subtasks": subtasks}}
    with pytest.raises(UpdateError, match="subtask s1 is about to start but is not in the plan"):
        await out.graph.aupdate_state(out.config, edited, as_node="replan_trigger")
    await out.go(None)
    assert out.status == "answered"
