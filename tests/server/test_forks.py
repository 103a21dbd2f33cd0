"""Going back: a thread's history, and forks that change a proposal or a plan before it is carried out."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.support import DevServer, Json, agent_policy, go_on, run
from tests.support.replies import call

pytestmark = pytest.mark.server
TASK: Json = {"task": "Which colour is it?"}


def before(server: DevServer, thread: str, node: str) -> Any:
    """The first checkpoint of `thread` from which `node` runs next."""
    history = server.client.threads.get_history(thread, limit=100)
    return next(state for state in reversed(history) if state["next"] == [node])


def fork(server: DevServer, thread: str, at: Any, values: Json, as_node: str) -> Json:
    """Change `values` at the checkpoint `at`, as if `as_node` had written them, and run on from there."""
    made = server.client.threads.update_state(thread, values, checkpoint=at["checkpoint"], as_node=as_node)
    return go_on(server, thread, input=None, checkpoint=made["checkpoint"])


def test_a_changed_proposal_plan_or_guidance_is_what_the_nodes_after_it_go_by(server: DevServer) -> None:
    """What came before a fork does not run again."""
    server.models.policy = agent_policy(call(tool="python", code="1 + 1"))
    thread, first = run(server, TASK)
    assert [step["observation"] for step in first["trajectory"]] == ["2"]
    proposed, planned = (before(server, thread, node) for node in ("tool_executor", "tool_agent"))
    proposal = {**proposed["values"]["proposals"]["s1"], "arguments": {"code": "20 + 22"}}
    server.models.requests.clear()
    result = fork(server, thread, proposed, {"proposals": {"s1": proposal}}, "tool_agent")
    assert [(step["n"], step["observation"]) for step in result["trajectory"]] == [(1, "42")]
    assert server.models.names == ["AnswerDraft"]
    plan = planned["values"]["plan"]
    subtasks = [{**plan["subtasks"][0], "description": "mind the small print"}]
    for change in ({"plan": {**plan, "subtasks": subtasks}}, {"guidance": ["mind the small print"]}):
        server.models.requests.clear()
        result = fork(server, thread, planned, change, "replan_trigger")
        assert server.models.names == ["ToolChoice", "AnswerDraft"]
        assert "mind the small print" in server.models.requests[0].text
        assert (len(result["trajectory"]), result["status"]) == (1, "answered")
    assert "mind the small print" in server.models.requests[1].text, "guidance is seen by every role"
