"""The viewer beside the server's API: the same pages and actions, under the same rules of ownership."""

from __future__ import annotations

import json
import re
import time
from html import unescape

import httpx
import pytest

from tests.server.served import MARK, TOKENS, Served
from tests.server.support import DevServer, agent_policy, run
from tests.support.model_server import Fault
from tests.support.replies import call

pytestmark = pytest.mark.server


def page_when(browser: httpx.Client, path: str, words: str) -> str:
    """The page, as soon as it has the words."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        reply = browser.get(path)
        text = unescape(reply.text)
        if words in text:
            return text
        time.sleep(0.05)
    raise AssertionError(f"{reply.status_code}: {words!r} is not in {text}")


def test_a_task_is_begun_approved_forked_and_listed(server: DevServer) -> None:
    server.models.policy = agent_policy(call(tool="python", code="1 + 1"))
    with httpx.Client(base_url=server.url, follow_redirects=True, timeout=30) as browser:
        wrong = browser.post("/view/new", data={"task": "What colour is it?", "model": "openai:dear"})
        assert (wrong.status_code, "openai:dear" in wrong.text) == (422, True)
        form = {"task": "What colour is it?", "approve_plan": "true"}
        begun = browser.post("/view/new", data=form, files={"files": ("a.txt", b"words")})
        path = begun.url.path
        assert re.fullmatch(r"/view/threads/[0-9a-f-]{36}", path), begun.text
        (key,) = re.findall(
            r'name="decision:(\w+)" value="approve"', page_when(browser, path, "Approve plan")
        )
        edited = [{"id": "s1", "description": "find out the colour", "depends_on": []}]
        reply = {f"decision:{key}": "edit", f"value:{key}": json.dumps(edited)}
        browser.post(f"{path}/reply", data=reply)
        page = page_when(browser, path, "the answer")
        page_when(browser, path, "the colour</ins>")  # what the edit changed, once the run has ended
        assert "a.txt" in page
        assert "python" in page
        server.models.requests.clear()
        browser.post(f"{path}/fork", data={"before": "1", "guidance": "mind the small print"})
        page_when(browser, f"{path}/branches", "mind the small print")
        assert page_when(browser, "/view", "What colour is it?").count(path) == 1
        exports = (f"{path}/export.{kind}" for kind in ("html", "md", "json"))
        for other in ("/view/experience", "/view/evaluations", *exports):
            assert browser.get(other).status_code == 200, other
        assert "is not running" in browser.post(f"{path}/stop").text
        mark = re.findall(r"changes\?mark=([^\"]+)", browser.get(path).text)[0]
        with browser.stream("GET", f"{path}/changes?mark=other{mark}") as events:
            assert next(events.iter_text()).startswith("data: ")
        assert browser.get("/view/threads/nobody").status_code == 404
        assert "content-security-policy" not in browser.get("/ok").headers


def test_a_run_is_stopped_and_resumed(server: DevServer) -> None:
    policy = server.models.policy
    server.models.policy = lambda seen: Fault("hang") if seen.reply_name == "ToolChoice" else policy(seen)
    with httpx.Client(base_url=server.url, follow_redirects=True, timeout=30) as browser:
        path = browser.post("/view/new", data={"task": "What is it?"}).url.path
        page_when(browser, path, ">Stop<")
        while "ToolChoice" not in server.models.names:
            time.sleep(0.02)
        assert "unfinished task" in browser.post(f"{path}/task", data={"task": "another"}).text
        browser.post(f"{path}/stop")
        page_when(browser, path, ">Resume<")
        server.models.policy = policy
        browser.post(f"{path}/resume")
        page_when(browser, path, "the answer")


def test_threads_of_other_clients_are_shown(server: DevServer) -> None:
    empty = server.client.threads.create(graph_id="agent")["thread_id"]
    assert httpx.get(f"{server.url}/view/threads/{empty}").status_code == 404
    assert empty not in httpx.get(f"{server.url}/view/").text
    thread, _ = run(server, {"task": "Which shape is it?"})
    page = httpx.get(f"{server.url}/view/threads/{thread}").text
    assert "Which shape is it?" in page


def test_another_users_thread_is_not_there(served: Served) -> None:
    for user, status in (("alice", 200), ("bob", 404), (None, 401)):
        with served.client(user) as client:
            page = client.get(f"/view/threads/{served.thread}")
            assert page.status_code == status
            assert (MARK in page.text) == (user == "alice")
            assert (served.thread in client.get("/view/").text) == (user == "alice")
    with httpx.Client(base_url=served.url, follow_redirects=True, timeout=30) as browser:
        home = browser.post("/view/sign-in", data={"token": TOKENS["bob"], "next": "/view/"})
        assert (home.status_code, MARK in home.text) == (200, False)
        for action in ("task", "resume", "stop", "fork", "reply"):
            reply = browser.post(f"/view/threads/{served.thread}/{action}", data={"task": "x", "before": "1"})
            assert reply.status_code == 404, action
