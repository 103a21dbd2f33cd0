"""Re-runs of a thread over the server's API: the kept steps are the checkpoint's."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from forethought.rollouts.server import ServerThread
from forethought.rollouts.thread import ThreadRollouts
from forethought.rollouts.types import RolloutError
from forethought.trajectories.own import from_state
from forethought.trajectories.types import Trajectory
from tests.server.support import DevServer, agent_policy, run
from tests.support.replies import call, finish

pytestmark = pytest.mark.server
TASK = {"task": "How much is it?"}


@pytest.fixture
async def client(server: DevServer) -> AsyncIterator[LangGraphClient]:
    """A client of the server in the test's own loop."""
    async with get_client(url=server.url, api_key=None) as client:
        yield client


def read(values: Mapping[str, Any]) -> Trajectory:
    return from_state(values, {})


async def test_a_thread_is_run_again_from_its_second_step(server: DevServer, client: LangGraphClient) -> None:
    moves = [call(tool="python", code="40 + 2", finishes=False), finish("42"), finish("43")]
    server.models.policy = agent_policy(*moves)
    thread, first = run(server, TASK, answer_format="a number")
    original = read(first)
    served = ServerThread(thread, client)
    rollouts = ThreadRollouts(served, original, read, (await served.read()).at)
    server.models.requests.clear()
    continuation = await rollouts.from_step(2, "action", ["look again"])
    assert server.models.names == ["ToolChoice", "AnswerDraft"]
    assert all("look again" in seen.text for seen in server.models.requests)
    assert "a number" in server.models.requests[0].text, "the run's own context holds for its re-run"
    assert (continuation.kept, continuation.trajectory.steps[0]) == (1, original.steps[0])
    assert continuation.trajectory.step(2).action == "finish: 43"
    again = await rollouts.substituted(1, "", "python", {"code": "1 + 1"})
    assert again.trajectory.step(1).observation == "2"
    planned = await rollouts.from_step(2, "planning", ["plan with care"])
    assert planned.kept == 0
    with pytest.raises(RolloutError, match="has no step 9"):
        await rollouts.from_step(9, "action", [])


async def test_a_thread_that_is_not_there(client: LangGraphClient) -> None:
    gone = ServerThread("7b1e6a50-0000-4000-8000-000000000000", client)
    run_of = Trajectory(id="x", task="t")
    with pytest.raises(RolloutError, match="thread 7b1e6a50"):
        await ThreadRollouts(gone, run_of, read, None).from_step(1, "action", [])
