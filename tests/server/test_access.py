"""Two users and a stranger against a server with access tokens: every route of its own OpenAPI document.

Nobody gets in without a token; what is alice's is bob's to neither see nor change, by whatever route.
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_sync_client

from forethought.experience.book import namespace_of
from tests.server.served import MARK, TOKENS, Served
from tests.server.support import agent_policy
from tests.support.replies import call

pytestmark = pytest.mark.server
Json = dict[str, Any]
OPEN = {"/ok", "/info", "/metrics", "/docs", "/openapi.json", "/"}
"""Routes that say nothing of anybody's: health, version, counters, the document itself."""


def requests(served: Served) -> list[tuple[str, str, Json]]:
    """Each route of the document, its places filled with what is alice's, and a body."""
    own = {
        "thread_id": served.thread,
        "run_id": served.run,
        "assistant_id": served.assistant,
        "checkpoint_id": "1f000000-0000-6000-8000-000000000000",
        "cron_id": "00000000-0000-4000-8000-000000000001",
        "namespace": "experience",
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
        "prefix": ["experience", "alice"],
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
    options: Json = (
        {"json": body} if has_body else {"params": {"namespace": "experience.alice", "key": "one"}}
    )
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


def test_nobody_erases_reads_or_deploys_by_the_development_servers_own_routes(served: Served) -> None:
    for user in (None, *TOKENS):
        with served.client(user) as client:
            for method, path in (
                ("POST", "/internal/truncate"),
                ("GET", f"/internal/debug/thread/{served.thread}"),
                ("GET", "/deploy"),
                ("POST", "/deploy/"),
                ("POST", "//internal/truncate"),
            ):
                reply = client.request(method, f"{served.url}{path}")
                assert reply.status_code in (401, 403), (user, path, reply.text)
    with served.client("alice") as client:
        assert client.get(f"/threads/{served.thread}").is_success


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
        "advice": alice.get("/store/items", params={"namespace": place, "key": "one"}).json(),
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


def test_no_user_reads_another_users_file_by_its_hash_or_a_path(served: Served) -> None:
    """Not as the task's file, nor written into the thread behind the planner's back."""
    mark = hashlib.sha256(MARK.encode()).hexdigest()
    data = base64.b64encode(MARK.encode()).decode()
    known = {"name": "notes.txt", "hash": mark}

    def read(user: str, file: Any, later: Any = None) -> str:
        given = {"assistant_id": "agent", "input": {"task": "read it", "files": [file]}}
        with served.client(user) as client:
            thread = f"/threads/{client.post('/threads', json={}).json()['thread_id']}"
            result = client.post(f"{thread}/runs/wait", json={**given, "interrupt_before": ["tool_agent"]})
            if later is not None:
                written = client.post(f"{thread}/state", json={"values": {"files": [later]}})
                assert written.status_code < 500
            gone_on = client.post(f"{thread}/runs/wait", json={"assistant_id": "agent"}) if later else result
            return result.text + gone_on.text

    served.models.policy = agent_policy(call(tool="read_file", path="notes.txt", part=None, question=None))
    try:
        assert "observation" in read("alice", {"name": "notes.txt", "data": data}, known)
        assert MARK in read("alice", known, known)
        assert "no file with this hash is stored here" in read("bob", known)
        mine = {"name": "notes.txt", "data": base64.b64encode(b"mine").decode()}
        for later in (known, {**known, "size": len(MARK), "type": "text/plain"}):
            assert MARK not in read("bob", mine, later)
        for path in ("../alice/notes.txt", "alice/notes.txt", "/notes.txt", "a/../../alice/notes.txt"):
            assert MARK not in read("bob", path)
    finally:
        served.models.policy = agent_policy()


def test_no_user_publishes_an_assistant_as_the_servers(served: Served) -> None:
    """Such a one would be seen and run by all, with its maker's context."""
    forged = {"metadata": {"created_by": "system", "owner": "alice"}}
    with served.client("bob") as bob, served.client("alice") as alice:
        made = bob.post("/assistants", json={"graph_id": "agent", "name": "agent", **forged}).json()
        mine = f"/assistants/{made['assistant_id']}"
        told = [made, bob.patch(mine, json={"name": "agent", **forged}).json()]
        told += [bob.post(f"{mine}/latest", json={"version": version, **forged}).json() for version in (1, 2)]
        given = {"assistant_id": made["assistant_id"], "input": {"task": "x"}}
        refused = [alice.get(mine).status_code, alice.post("/runs/wait", json=given).status_code]
        seen = {item["assistant_id"] for item in alice.post("/assistants/search", json={}).json()}
        called = _call_tool(alice, "agent")
        assert bob.post("/runs/wait", json=given).json()["status"] == "answered"
        bob.delete(mine)
    assert [item["metadata"]["created_by"] for item in told] == ["user"] * 4
    assert {item["metadata"]["owner"] for item in told} == {"bob"}
    assert refused == [404, 404]
    assert made["assistant_id"] not in seen
    assert "the answer" in called, "an assistant of bob's that is named as the server's is nothing to alice"


def _call_tool(client: httpx.Client, name: str) -> str:
    """What an MCP client is told that calls the assistant `name`."""
    asked = {"name": name, "arguments": {"task": "x"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
    return client.post("/mcp", json=body, headers={"accept": "application/json, text/event-stream"}).text


@pytest.mark.parametrize(
    "address",
    [
        "http://93.184.215.14/x",
        "https://10.0.0.1/x",
        "https://169.254.169.254/latest",
        "https://127.0.0.1/x",
        "https://[::1]/x",
        "https://[::ffff:10.0.0.1]/x",
        "https://localhost/x",
        "/threads",
    ],
)
@pytest.mark.parametrize("route", ["/runs/wait", "/runs/crons"])
def test_a_webhook_reaches_nothing_inside(served: Served, route: str, address: str) -> None:
    given = {"assistant_id": "agent", "input": {"task": "x"}, "webhook": address, "schedule": "0 0 1 1 *"}
    heard = len(served.models.requests)
    with served.client("bob") as bob:
        answer = bob.post(route, json=given)
    assert answer.status_code == 422, answer.text
    assert len(served.models.requests) == heard, "and nothing is run for it"


def test_a_token_is_also_taken_as_the_api_key_of_langgraphs_clients(served: Served) -> None:
    with get_sync_client(url=served.url, api_key=TOKENS["alice"]) as alice:
        assert alice.threads.get(served.thread)["thread_id"] == served.thread
    with (
        get_sync_client(url=served.url, api_key="some-other-key-or-token") as stranger,
        pytest.raises(httpx.HTTPStatusError, match="unknown access token"),
    ):
        stranger.threads.get(served.thread)
