"""What a client may write to a thread, by every route: what is asked and decided, in its own form."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.server.support import DevServer, Json, agent_policy, go_on, run
from tests.support.replies import call

pytestmark = pytest.mark.server
TASK: Json = {"task": "Which colour is it?"}
REFUSED: list[Json] = [
    {"usage": {"*": None}},
    {"usage": {"__overwrite__": {}}},
    {"progress": {"task": "one", "base_n": 10**6}},
    {"trajectory": {"type": "__overwrite__", "value": 5}},
    {"trajectory": ["x"]},
    {"results": {"s1": {"n": 1, "text": "done", "origin": "user"}}},
    {"plan": {"__overwrite__": 5}},
    {"plan": {"version": 1, "subtasks": [1]}},
    {"proposals": {"s1": {"n": 1}}},
    {"messages": 5},
    {"messages": {"__overwrite__": []}},
    {"guidance": None},
    {"status": "won"},
    {"nonsense": 1},
    {"files": [{"name": "a.txt", "data": "b25l"}]},
    {"files": [{"name": "a.txt", "hash": "0" * 64, "data": "b25l"}]},
]
NO_INPUT: list[Any] = [
    5,
    ["task"],
    {"messages": 5},
    {"messages": {"__overwrite__": 5}},
    {"files": {"__overwrite__": 5}},
]


@pytest.fixture
def client(server: DevServer) -> httpx.Client:
    """A client that sees each status."""
    return server.client.http.client


def refusal(answer: httpx.Response) -> str:
    """The line that says why a request is refused."""
    assert answer.status_code in (400, 422), (answer.status_code, answer.text)
    detail = str(answer.json()["detail"])
    assert "Traceback" not in detail
    return detail


def test_what_a_client_may_not_write_is_refused_by_every_route(
    server: DevServer, client: httpx.Client
) -> None:
    thread, _ = run(server, TASK)
    before: Any = server.client.threads.get_state(thread)["values"]
    heard = len(server.models.requests)
    for values in REFUSED:
        for node in (None, "planner", "replan_trigger", "answer_agent", "__start__", "__input__", "__copy__"):
            update = {"values": values, **({"as_node": node} if node else {})}
            assert "\n" not in refusal(client.post(f"/threads/{thread}/state", json=update))
        for superstep in ({"values": values}, {"command": {"update": values}}):
            steps = [{"updates": [{**superstep, "as_node": "planner"}]}]
            refusal(client.post("/threads", json={"metadata": {"graph_id": "agent"}, "supersteps": steps}))
    after: Any = server.client.threads.get_state(thread)["values"]
    assert after == before
    assert len(server.models.requests) == heard
    assert go_on(server, thread, input={"task": "Another?"})["status"] == "answered"


@pytest.mark.parametrize("route", ["/threads/{}/runs/wait", "/threads/{}/runs", "/threads/{}/runs/crons"])
def test_a_run_that_would_break_its_thread_is_refused_before_it_is_queued(
    server: DevServer, client: httpx.Client, route: str
) -> None:
    thread, _ = run(server, TASK)
    asked: list[Json] = [{"input": given} for given in NO_INPUT]
    if not route.endswith("crons"):
        asked += [{"command": {"goto": "tool_agent"}}, {"command": {"update": {"guidance": ["x"]}}}]
    for given in asked:
        body = {"assistant_id": "agent", "schedule": "0 0 1 1 *", **given}
        refusal(client.post(route.format(thread), json=body))
    assert len(server.client.runs.list(thread)) == 1


def test_a_write_that_the_graph_cannot_go_on_from_is_refused(server: DevServer, client: httpx.Client) -> None:
    thread, _ = run(server, TASK)
    for node in ("nonsense", "__end__"):
        said = refusal(client.post(f"/threads/{thread}/state", json={"values": {}, "as_node": node}))
        assert (
            said
            == f"the graph cannot continue after this update: InvalidUpdateError: Node {node} does not exist"
        )
    nowhere = {"checkpoint_id": "1f000000-0000-6000-8000-000000000000"}
    update = {"values": {"guidance": ["mind it"]}, "checkpoint": nowhere}
    assert "the thread has no checkpoint" in refusal(client.post(f"/threads/{thread}/state", json=update))


def test_history_is_read_from_before_a_checkpoint_and_says_what_it_lacks(
    server: DevServer, client: httpx.Client
) -> None:
    thread, _ = run(server, TASK)

    def history(before: Any) -> httpx.Response:
        return client.post(f"/threads/{thread}/history", json={"limit": 100, "before": before})

    states = history({}).json()
    assert len(states) > 3
    middle: Json = states[2]["checkpoint"]
    only_id = {"checkpoint_id": middle["checkpoint_id"]}
    for before in (middle, only_id, {"configurable": only_id}):
        assert history(before).json() == states[3:]
    for nowhere in ({"thread_id": thread}, {"configurable": {}}, {"configurable": 5}):
        assert "checkpoint_id" in refusal(history(nowhere))
    assert "checkpoint_id" in refusal(history({"configurable": {"checkpoint_id": 5}}))


def test_a_thread_is_stepped_through_and_its_plan_and_proposal_are_edited(server: DevServer) -> None:
    """As Studio does it: it stops before each node, and what was decided is changed in its place."""
    server.models.policy = agent_policy(call(tool="python", code="1 + 1"))
    thread = str(server.client.threads.create()["thread_id"])
    seen = [go_on(server, thread, input=TASK, interrupt_before="*")]
    plan: Any = server.client.threads.get_state(thread)
    while plan["next"] != ["tool_agent"]:
        seen.append(go_on(server, thread, input=None, interrupt_before="*"))
        plan = server.client.threads.get_state(thread)
    subtasks = [{**plan["values"]["plan"]["subtasks"][0], "description": "mind the small print"}]
    edited = {"plan": {**plan["values"]["plan"], "subtasks": subtasks}}
    server.client.threads.update_state(thread, edited, as_node="replan_trigger")
    go_on(server, thread, input=None, interrupt_before=["tool_executor"])
    at: Any = server.client.threads.get_state(thread)["values"]["proposals"]["s1"]
    changed = {"proposals": {"s1": {**at, "arguments": {"code": "20 + 22"}}}}
    server.client.threads.update_state(thread, changed, as_node="tool_agent")
    done = go_on(server, thread, input=None)
    assert (done["status"], done["trajectory"][0]["observation"]) == ("answered", "42")
    assert "mind the small print" in server.models.requests[-2].text
