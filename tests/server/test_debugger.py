"""The debugger on a LangGraph server: a trajectory, and a thread of the agent's that is run again there."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.support import DevServer, Json, agent_policy, run
from tests.support.debugging import Reader, critical, label, trajectory
from tests.support.model_server import Answer, Policy, SeenRequest
from tests.support.replies import finish

pytestmark = pytest.mark.server
GUIDANCE = "Look at the small print before you answer."


def debug(server: DevServer, given: Json, **context: Any) -> Json:
    """Run the debugger on a new thread; the result or {"__error__": ...}."""
    thread = str(server.client.threads.create()["thread_id"])
    result: Any = server.client.runs.wait(
        thread, "debugger", input=given, context=context or None, raise_error=False
    )
    return dict(result)


def both(agent: Policy) -> Policy:
    """A model for both graphs: `agent` for the agent's prompts, and a reader who finds step 1 at fault."""
    none = {name: label() for name in ("memory", "reflection", "planning", "action", "system")}
    found = critical(1, "action", "parameter_error", evidence="finish: blue", correction_guidance=GUIDANCE)
    mine: dict[str, Answer] = {"StepLabels": none, "CriticalError": found}

    def policy(seen: SeenRequest) -> Answer:
        return mine[seen.reply_name] if seen.reply_name in mine else agent(seen)

    return policy


def test_a_trajectory_is_debugged(server: DevServer) -> None:
    server.models.policy = Reader({2: {"planning": "constraint_ignorance"}})
    result = debug(server, {"trajectory": trajectory(3).model_dump()})
    assert (result["status"], result["critical"]["critical_step"]) == ("found", 2)
    assert sorted(result["labels"]) == ["1", "2", "3"]
    assert server.models.names == ["StepLabels"] * 3 + ["CriticalError"]


def test_a_thread_of_the_agents_is_debugged_and_run_again_to_success(server: DevServer) -> None:
    """The guidance turns the answer; the plan, which stands before the fork, is not made again."""

    def agent(seen: SeenRequest) -> Answer:
        good = GUIDANCE in seen.text
        return agent_policy(finish("red" if good else "blue"), answer="red" if good else "blue")(seen)

    server.models.policy = both(agent)
    thread, first = run(server, {"task": "Which colour is it?"})
    assert first["answer"] == "blue"
    server.models.requests.clear()
    result = debug(server, {"thread_id": thread, "expect": "red"}, rerun="agentdebug")
    assert result["status"] == "fixed", result
    (branch,) = result["branches"]
    assert (branch["answer"], branch["success"], branch["guidance"]) == ("red", True, [GUIDANCE])
    assert "Plan" not in server.models.names
    state: Any = server.client.threads.get_state(thread)
    assert state["values"]["answer"] == "red"


def test_a_re_run_that_fails_leaves_the_thread_as_it_was(server: DevServer) -> None:
    def agent(seen: SeenRequest) -> Answer:
        word = "green" if GUIDANCE in seen.text else "blue"
        return agent_policy(finish(word), answer=word)(seen)

    server.models.policy = both(agent)
    thread, _ = run(server, {"task": "Which colour is it?"})
    result = debug(server, {"thread_id": thread, "expect": "red"}, rerun="agentdebug", max_reruns=1)
    assert (result["status"], result["branches"][0]["answer"]) == ("not_fixed", "green"), result
    state: Any = server.client.threads.get_state(thread)
    assert (state["values"]["answer"], state["next"]) == ("blue", [])


def test_the_form_of_the_debugger_is_drawn(server: DevServer) -> None:
    (assistant,) = server.client.assistants.search(graph_id="debugger")
    schemas: Any = server.client.assistants.get_schemas(assistant["assistant_id"])
    assert set(schemas["input_schema"]["properties"]) == {"thread_id", "trajectory", "expect"}
    assert {"method", "rerun", "judge"} <= set(schemas["context_schema"]["properties"])
    assert "BlockingError" not in server.log.read_text()
