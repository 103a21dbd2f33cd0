"""Two users and a stranger against a server with access tokens: every route of its own OpenAPI document.

Nobody gets in without a token; what is alice's is bob's to neither see nor change, by whatever route.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from forethought.lessons.book import namespace_of
from tests.server.support import DevServer, agent_policy
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.server
Json = dict[str, Any]
TOKENS = {"alice": "alices-very-own-token", "bob": "bobs-very-own-token"}
MARK = "alices-secret-word"
OPEN = {"/ok", "/info", "/metrics", "/docs", "/openapi.json", "/"}
"""Routes that say nothing of anybody's: health, version, counters, the document itself."""


@dataclass(frozen=True)
class Served:
    """The server, and what alice has on it."""

    url: str
    thread: str
    run: str
    assistant: str
    document: Json
    files: Any

    def client(self, user: str | None) -> httpx.Client:
        """A client with the user's token."""
        headers = {"authorization": f"Bearer {TOKENS[user]}"} if user else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=30)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on which alice has a thread, a finished run, an assistant and a lesson."""
    models = ModelServer(agent_policy())
    folder = tmp_path_factory.mktemp("access")
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
    yield Served(server.url, thread, run, made.json()["assistant_id"], document, files)
    server.close()
    models.close()


def requests(served: Served) -> list[tuple[str, str, Json]]:
    """Each route of the document, its places filled with what is alice's, and a body."""
    own = {
        "thread_id": served.thread,
        "run_id": served.run,
        "assistant_id": served.assistant,
        "checkpoint_id": "1f000000-0000-6000-8000-000000000000",
        "cron_id": "00000000-0000-4000-8000-000000000001",
        "namespace": "lessons",
        "graph_id": "agent",
        "version": "1",
        "context_id": served.thread,
    }
    body: Json = {
        "assistant_id": "agent",
        "input": {"task": "a task of bob's"},
        "thread_id": served.thread,
        "namespace": list(namespace_of("alice", "default")),
        "namespace_prefix": list(namespace_of("alice", "default")),
        "prefix": ["lessons", "alice"],
        "key": "one",
        "value": {"text": "bob was here"},
        "metadata": {"owner": "alice"},
        "values": {"answer": "bob was here"},
        "schedule": "0 0 1 1 *",
        "graph_id": "agent",
        "version": 1,
        "run_ids": [served.run],
        "thread_ids": [served.thread],
        "if_exists": "do_nothing",
    }
    found = []
    for path, methods in served.document["paths"].items():
        if path in OPEN:
            continue
        filled = re.sub(r"{(\w+)}", lambda name: own.get(name[1], "1"), path)
        found += [(method.upper(), filled, body) for method in methods if method in _METHODS]
    return found


_METHODS = ("get", "post", "put", "patch", "delete")


def ask(client: httpx.Client, method: str, path: str, body: Json) -> tuple[int, str]:
    """Status and text; a stream is read as far as it comes within a moment."""
    has_body = method in ("POST", "PUT", "PATCH", "DELETE")
    options: Json = {"json": body} if has_body else {"params": {"namespace": "lessons.alice", "key": "one"}}
    text = ""
    try:
        with client.stream(method, path, timeout=3, **options) as answer:
            for part in answer.iter_text():
                text += part
            return answer.status_code, text
    except httpx.ReadTimeout:
        return answer.status_code, text


def test_the_document_has_the_routes_that_matter(served: Served) -> None:
    paths = {path for _, path, _ in requests(served)}
    assert len(paths) > 30
    assert any(path.startswith("/store") for path in paths)
    assert any("/runs/" in path for path in paths)


@pytest.mark.parametrize("headers", [{}, {"x-auth-scheme": "langsmith"}, {"authorization": "Bearer nobody"}])
def test_a_stranger_gets_nowhere(served: Served, headers: dict[str, str]) -> None:
    with httpx.Client(base_url=served.url, headers=headers, timeout=30) as stranger:
        let_in = {
            (method, path): status
            for method, path, body in requests(served)
            if (status := ask(stranger, method, path, body)[0]) not in (401, 403)
        }
    assert let_in == {}


def test_bob_sees_and_changes_nothing_of_alices(served: Served) -> None:
    with served.client("alice") as alice:
        before = _everything(alice, served)
    told = {}
    with served.client("bob") as bob:
        for method, path, body in requests(served):
            status, text = ask(bob, method, path, body)
            if MARK in text:
                told[method, path] = (status, text[:300])
    assert told == {}
    with served.client("alice") as alice:
        assert _everything(alice, served) == before


def _everything(alice: httpx.Client, served: Served) -> Json:
    """All of alice's, as she sees it."""
    thread = f"/threads/{served.thread}"
    place = ".".join(namespace_of("alice", "default"))
    return {
        "thread": alice.get(thread).json(),
        "state": alice.get(f"{thread}/state").json(),
        "history": alice.get(f"{thread}/history").json(),
        "runs": alice.get(f"{thread}/runs").json(),
        "assistant": alice.get(f"/assistants/{served.assistant}").json(),
        "lesson": alice.get("/store/items", params={"namespace": place, "key": "one"}).json(),
        "threads": len(alice.post("/threads/search", json={}).json()),
    }


def test_each_runs_the_servers_agent_and_names_files_of_their_own(served: Served) -> None:
    given = {"assistant_id": "agent", "input": {"task": "read it", "files": ["notes.txt"]}}
    answers = {}
    for user in TOKENS:
        with served.client(user) as client:
            thread = client.post("/threads", json={"metadata": {"owner": "alice"}}).json()
            assert thread["metadata"]["owner"] == user
            answers[user] = client.post(f"/threads/{thread['thread_id']}/runs/wait", json=given).text
    assert '"status":"answered"' in answers["alice"].replace(": ", ":")
    assert "no such file" in answers["bob"]


def test_a_context_stays_within_the_settings(served: Served) -> None:
    with served.client("bob") as bob:
        thread = bob.post("/threads", json={}).json()["thread_id"]
        given = {"assistant_id": "agent", "input": {"task": "x"}, "context": {"model": "openai:gpt-4.1"}}
        told = bob.post(f"/threads/{thread}/runs/wait", json=given).text
    assert "model openai:gpt-4.1 is not allowed here" in told
