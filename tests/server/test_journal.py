"""The journal on a server, whose own checkpointer keeps it."""

from __future__ import annotations

import pytest

from tests.server.support import DevServer, agent_policy, go_on, run
from tests.support.model_server import Answer, Fault, SeenRequest
from tests.support.replies import plan, sub

pytestmark = pytest.mark.server


def test_what_a_node_was_told_before_it_failed_is_not_asked_again(server: DevServer) -> None:
    solves = agent_policy(plan=plan(sub("s1")))
    refused: list[int] = []

    def policy(seen: SeenRequest) -> Answer:
        if seen.reply_name != "Plan":
            return solves(seen)
        revised = len(seen.messages) > 2
        if revised and not refused:
            refused.append(seen.n)
            return Fault("401")
        return plan(sub("s1"), score=9 if revised else 5)

    server.models.policy = policy
    thread, result = run(server, {"task": "Which?"})
    assert "__error__" in result
    result = go_on(server, thread, input=None)
    assert result["status"] == "answered"
    assert server.models.names == ["Plan", "Plan", "Plan", "PlanDiagnosis", "ToolChoice", "AnswerDraft"]
    assert [len(seen.messages) for seen in server.models.requests[:3]] == [2, 4, 4]
    assert result["usage"]["planner"]["calls"] == 2, "both replies are paid for once"
