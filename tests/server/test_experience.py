"""Experience on a LangGraph server: in the server's own Store, for its own user."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from forethought.experience.advice import Advice
from forethought.experience.book import namespace_of
from forethought.users import LOCAL_USER
from tests.server.support import DevServer, Json, run

pytestmark = pytest.mark.server
TASK: Json = {"messages": [{"role": "user", "content": "Divide the costs of the travel claims"}]}


def test_advice_in_the_servers_store_is_shown_to_its_user_and_counted(server: DevServer) -> None:
    advice = Advice(
        id="a", name="count_claims", applies="travel claims, costs", instead="Count the travel claims first.",
        source="person", made=datetime.now(UTC),
    )  # fmt: skip
    store, place = server.client.store, namespace_of(LOCAL_USER, "claims")
    store.put_item(place, "a", advice.model_dump(mode="json"))
    server.models.requests.clear()
    _, result = run(server, TASK, experience_namespace="claims")
    assert "[a1] Count the travel claims first." in server.models.requests[0].text
    assert [item["id"] for item in result["experience"]["shown"]] == ["a"]
    assert store.get_item(place, "a")["value"]["shown"] == 1
