"""What the viewer asks of a server's API; tests/server asks a real one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from forethought.app.viewer.http import client_of
from forethought.app.viewer.server import ServerRuns
from forethought.settings import Settings
from tests.forethought.app.scripted import Script
from tests.support.model_server import ModelServer

THREAD = str(UUID(int=1))
FIRST, OTHER, REVISED, LAST = (
    {"version": version, "n": n} for version, n in ((1, 0), (1, 20), (2, 20), (3, 55))
)
BEGUN = ((0, FIRST), (60, OTHER), (62, REVISED), (170, LAST))
"""From which of the graph's steps each plan holds: a task's, and the next one's three."""
STEPS = 300


class Threads:
    """The API's threads: one, at rest after STEPS steps."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    async def search(self, **options: Any) -> list[Any]:
        """The thread's row."""
        return [{"status": "idle", "updated_at": "now"}]

    async def get_state(self, thread_id: str, checkpoint: Any = None) -> Any:
        """The head."""
        return self._state(STEPS)

    async def get_history(self, thread_id: str, limit: int, metadata: dict[str, int]) -> list[Any]:
        """The state after a step."""
        self.asked.append(metadata["step"])
        return [self._state(metadata["step"])]

    def _state(self, step: int) -> Any:
        plan = next((plan for since, plan in reversed(BEGUN) if since <= step), None)
        return {"values": {"plan": plan}, "metadata": {"step": step}, "created_at": "now", "tasks": [],
                "next": [], "checkpoint": {}}  # fmt: skip


async def test_the_plans_of_a_task_are_found_among_hundreds_of_states_by_few_requests() -> None:
    threads = Threads()
    runs = ServerRuns(type("Client", (), {"threads": threads})(), "her", Settings())
    found = await runs.plans(THREAD)
    marks = list(dict.fromkeys((one["version"], one["n"]) for one in found))
    assert marks[-3:] == [(1, 20), (2, 20), (3, 55)]
    assert len(threads.asked) <= 20
    assert await runs.plans(THREAD, "an earlier checkpoint") == []


async def test_requests_to_the_servers_own_api_pass_no_proxy(
    model_server: Callable[..., ModelServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    reply = await client_of(model_server(Script()).url.removesuffix("/v1"), "a token").http.client.get(
        "/v1/models"
    )
    assert reply.status_code == 200
