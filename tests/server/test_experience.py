"""Lessons on a LangGraph server: in the server's own Store, for its own user."""

from __future__ import annotations

import pytest
from forethought.lessons.book import namespace_of

from forethought.users import LOCAL_USER
from tests.server.support import DevServer, Json, agent_policy, run
from tests.support.model_server import Answer, SeenRequest
from tests.support.replies import call, finish, lesson

pytestmark = pytest.mark.server
TASK: Json = {"messages": [{"role": "user", "content": "Divide the costs of the travel claims"}]}


def test_a_lesson_is_kept_in_the_servers_store_and_shown_to_another_thread(server: DevServer) -> None:
    moves = agent_policy(call(tool="python", code="1 / 0"), finish("nothing"))

    def policy(seen: SeenRequest) -> Answer:
        if seen.reply_name == "LessonDraft":
            return lesson(
                "The travel claims were divided by zero.", "Count the travel claims first.", steps=[1]
            )
        return moves(seen)

    server.models.policy = policy
    first, result = run(server, TASK, lessons=True, lesson_namespace="claims")
    assert result["status"] == "answered"
    assert result["lessons"]["problem"] == ""
    found = server.client.store.search_items(namespace_of(LOCAL_USER, "claims"))["items"]
    assert [(item["key"], item["value"]["thread"]) for item in found] == [(result["lessons"]["kept"], first)]
    server.models.requests.clear()
    _, second = run(server, TASK, lessons=True, lesson_namespace="claims")
    assert "Count the travel claims first." in server.models.requests[0].text
    assert [item["id"] for item in second["lessons"]["shown"]] == [result["lessons"]["kept"]]
