"""A server with access tokens and two users, on which alice has something that is nobody else's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from forethought.experience.book import namespace_of
from tests.server.support import DevServer, agent_policy
from tests.support.model_server import ModelServer

Json = dict[str, Any]
TOKENS = {"alice": "alices-very-own-token", "bob": "bobs-very-own-token"}
MARK = "alices-secret-word"


@dataclass(frozen=True)
class Served:
    """The server, and what alice has on it."""

    url: str
    thread: str
    run: str
    assistant: str
    document: Json
    models: ModelServer

    def client(self, user: str | None) -> httpx.Client:
        """A client with the user's token."""
        headers = {"authorization": f"Bearer {TOKENS[user]}"} if user else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=60)


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on which alice has a thread, a finished run, an assistant and an advice."""
    folder = tmp_path_factory.mktemp("access")
    models = ModelServer(agent_policy())
    files = folder / "files"
    for user in TOKENS:
        (files / user).mkdir(parents=True)
    (files / "alice" / "notes.txt").write_text(MARK)
    settings = {
        "FORETHOUGHT_ACCESS_TOKENS": ",".join(f"{name}={token}" for name, token in TOKENS.items()),
        "FORETHOUGHT_FILES_DIR": str(files),
        "FORETHOUGHT_MAX_TOKENS": "50000",
        "FORETHOUGHT_ALLOWED_MODELS": "openai:scripted",
    }
    server = DevServer(folder, models, settings)
    alice = httpx.Client(
        base_url=server.url, headers={"authorization": f"Bearer {TOKENS['alice']}"}, timeout=60
    )
    with alice:
        thread = alice.post("/threads", json={}).json()["thread_id"]
        given = {"assistant_id": "agent", "input": {"task": MARK}}
        done = alice.post(f"/threads/{thread}/runs/wait", json=given)
        assert done.json().get("status") == "answered", done.text
        run = alice.get(f"/threads/{thread}/runs").json()[0]["run_id"]
        made = alice.post("/assistants", json={"graph_id": "agent", "name": MARK})
        place = list(namespace_of("alice", "default"))
        kept = alice.put("/store/items", json={"namespace": place, "key": "one", "value": {"text": MARK}})
        assert kept.is_success, kept.text
        document = alice.get("/openapi.json").json()
    yield Served(server.url, thread, run, made.json()["assistant_id"], document, models)
    server.close()
    models.close()
