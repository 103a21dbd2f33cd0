"""The MCP server, as the official client sees it over stdin and stdout and over HTTP."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import TextContent

from forethought.app import mcp_server
from forethought.app.mcp import McpOptions, listening_socket, serve
from forethought.app.mcp_server import build_server
from forethought.experience.advice import Advice
from forethought.experience.book import Book, namespace_of
from forethought.settings import Settings
from forethought.storage import address_of, open_experience
from forethought.users import LOCAL_USER
from tests.forethought.app.conftest import Cli
from tests.support.debugging import Reader, trajectory
from tests.support.model_server import Fault
from tests.support.replies import diagnosis, sub

Serve = Callable[..., Any]
REPO = Path(__file__).parents[3]
NOISY = """print("the module prints")

def stock(product: str) -> str:
    \"\"\"How many pieces are in stock.\"\"\"
    return "40"
"""


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where the server keeps its threads, and what clients may read."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FORETHOUGHT_FILES_DIR", str(tmp_path))
    return tmp_path


@asynccontextmanager
async def over_stdio() -> AsyncIterator[ClientSession]:
    """A client of `forethought mcp`, which it has started."""
    env = {**os.environ, "PYTHONPATH": str(REPO)}
    (Path.cwd() / "noisy.py").write_text(NOISY)
    args = ["-m", "forethought", "mcp", "--tools", "noisy"]
    started = StdioServerParameters(command=sys.executable, args=args, env=env)
    async with stdio_client(started) as streams, ClientSession(*streams) as session:
        await session.initialize()
        yield session


@asynccontextmanager
async def listening_server() -> AsyncIterator[str]:
    """The address of a server on this machine."""
    listening = listening_socket("localhost:0")
    serving = asyncio.create_task(serve(build_server(McpOptions()), listening))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


@asynccontextmanager
async def over_http() -> AsyncIterator[ClientSession]:
    """A client of a server at an address of this machine."""
    async with (
        listening_server() as address,
        streamable_http_client(address) as streams,
        ClientSession(*streams[:2]) as session,
    ):
        await session.initialize()
        yield session


def in_memory(*sets: str) -> AbstractAsyncContextManager[ClientSession]:
    """A client in this process, of a server with these settings."""
    return create_connected_server_and_client_session(build_server(McpOptions(sets=list(sets))))


async def said(session: ClientSession, tool: str, **arguments: Any) -> Any:
    """What a tool returned: JSON, or the line of its error."""
    result = await session.call_tool(tool, arguments)
    first = result.content[0]
    assert isinstance(first, TextContent)
    assert result.isError or json.loads(first.text) == result.structuredContent
    return first.text if result.isError else result.structuredContent


@pytest.mark.parametrize("connected", [over_stdio, over_http])
async def test_a_client_lists_and_calls_the_tools(connected: Any, scripted: Serve) -> None:
    scripted()
    async with connected() as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert set(tools) == {"review_plan", "debug_trajectory", "run_task", "experience"}
        assert tools["review_plan"].inputSchema["required"] == ["task", "plan"]
        assert all(tool.description for tool in tools.values())
        result = await said(session, "run_task", task="What is 6 * 7?")
        assert (result["status"], result["answer"]) == ("answered", "42")
        assert await said(session, "experience") == {"experience": []}
        assert await said(session, "review_plan", task="x") == "plan: field required"


async def test_a_client_that_leaves_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    async with over_http() as session:
        await session.list_tools()
    assert [each.getMessage() for each in caplog.records if each.name.startswith("mcp.")] == []


async def test_a_plan_comes_back_revised(served: Serve) -> None:
    server = served(lambda seen: diagnosis("shallow_content_verification", subtasks=[sub("read")]))
    async with in_memory() as session:
        described = [{"name": "ship", "description": "Ship it."}]
        seen = await said(session, "review_plan", task="Ship.", plan=["Ship it."], tools=described)
    assert (seen["errors"][0]["error_type"], seen["plan"]) == (
        "shallow_content_verification",
        "1. do read",
    )
    assert "ship(): Ship it." in server.requests[0].text


async def test_a_run_is_debugged_as_json_as_text_and_from_the_files_folder(
    served: Serve, folder: Path
) -> None:
    served(Reader({2: {"planning": "constraint_ignorance"}}))
    run = trajectory(3)
    (folder / "run.json").write_text(run.model_dump_json())
    forms = ({"trajectory": run.model_dump()}, {"trajectory": run.model_dump_json()}, {"file": "run.json"})
    async with in_memory() as session:
        for form in forms:
            found = await said(session, "debug_trajectory", **form)
            assert (found["status"], found["critical"]["critical_step"]) == ("found", 2)


async def test_the_servers_settings_hold_for_reviews_and_debuggings(served: Serve) -> None:
    server = served(lambda seen: diagnosis("shallow_content_verification", subtasks=[sub("read")]))
    async with in_memory("model=openai:other", "max_replans=1") as session:
        assert (await said(session, "review_plan", task="Ship.", plan=["Ship it."]))["errors"]
    assert server.requests[0].body["model"] == "other"
    server = served(Reader({2: {"planning": "constraint_ignorance"}}))
    run = trajectory(3).model_dump()
    async with in_memory("model=openai:other", "max_tokens=1", "max_replans=1") as session:
        await said(session, "debug_trajectory", trajectory=run)
        spent = len(server.requests)
        assert {seen.body["model"] for seen in server.requests} <= {"other"}
    async with in_memory() as session:
        await said(session, "debug_trajectory", trajectory=run)
    assert spent < len(server.requests) - spent, "the budget ends it early"


async def test_a_task_is_told_as_it_goes_on_and_reads_files(scripted: Serve, folder: Path) -> None:
    _, server = scripted()
    (folder / "near.txt").write_text("near")
    sent = {"name": "sent.txt", "data": base64.b64encode(b"far").decode()}
    told: list[str] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    async with in_memory() as session:
        arguments = {"task": "What is 6 * 7?", "files": ["near.txt", sent]}
        result = await session.call_tool("run_task", arguments, progress_callback=hear)
        assert result.structuredContent
        thread = result.structuredContent["thread_id"]
        again = await said(session, "run_task", task="And 6 * 7?", thread_id=thread)
    assert again["thread_id"] == thread
    assert "near.txt" in server.requests[0].text
    assert "sent.txt" in server.requests[0].text
    assert any("python" in line for line in told)


async def test_a_client_that_waits_hears_that_its_call_goes_on(
    served: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_server, "BEAT_S", 0.001)
    served(Reader())
    told: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async with in_memory() as session:
        arguments = {"trajectory": trajectory(3).model_dump()}
        await session.call_tool("debug_trajectory", arguments, progress_callback=hear)
    assert len(told) > 1
    assert told == sorted(told)


async def test_a_question_is_returned_and_answered(scripted: Serve) -> None:
    _, server = scripted(question="Which colour?")
    async with in_memory() as session:
        first = await said(session, "run_task", task="What is 6 * 7?")
        assert first["status"] == "interrupted"
        assert first["questions"][0]["question"] == "Which colour?"
        thread = first["thread_id"]
        assert "unfinished" in await said(session, "run_task", task="More", thread_id=thread)
        result = await said(session, "run_task", thread_id=thread, reply="blue")
    assert result["status"] == "answered"
    assert "blue" in server.requests[-1].text


async def test_experience_in_use_and_none_in_quarantine(folder: Path) -> None:
    rule = "Add the freight to invoice totals."
    async with open_experience(address_of(Settings())) as store:
        book = Book(store, namespace_of(LOCAL_USER, "default"))
        given: dict[str, Any] = {"name": "freight", "applies": "invoice totals, freight", "instead": rule}
        for key, state in (("a", "adopted"), ("b", "quarantined")):
            fields = {"id": key, "state": state, "source": "learn", "made": datetime.now(UTC)}
            await book.put(Advice.model_validate({**given, **fields}))
    async with in_memory() as session:
        for arguments in ({}, {"task": "Check the freight of invoice totals"}):
            (found,) = (await said(session, "experience", **arguments))["experience"]
            assert (found["id"], found["instead"]) == ("a", rule)
        assert (await said(session, "experience", task="Boil an egg"))["experience"] == []


@pytest.mark.parametrize(
    ("tool", "arguments", "line"),
    [
        ("review_plan", {"task": "x", "plan": []}, "the plan is empty: pass its text or its steps"),
        ("review_plan", {"task": "x", "plan": ["a"], "model": "m"}, "review_plan has no argument model"),
        ("debug_trajectory", {}, "give either the trajectory or the name of a file"),
        ("debug_trajectory", {"trajectory": {"log": 1}}, "unknown trajectory format"),
        ("debug_trajectory", {"file": "../run.json"}, "leads out of the files folder"),
        ("run_task", {}, "give a task, or the thread_id"),
        ("run_task", {"task": "x", "thread_id": "a/b"}, "thread id 'a/b': use at most 100 letters"),
        ("run_task", {"task": "x", "files": ["/etc/passwd"]}, "leads out of the files folder"),
        ("run_task", {"thread_id": "none"}, "no threads yet"),
        ("experience", {"most": "many"}, "most: must be a valid integer"),
        ("polish", {}, "Unknown tool: polish"),
    ],
)
async def test_wrong_arguments_are_told_in_a_line(
    tool: str, arguments: Any, line: str, scripted: Serve
) -> None:
    _, server = scripted()
    async with in_memory() as session:
        text = await said(session, tool, **arguments)
    assert line in (text if isinstance(text, str) else text["error"])
    assert "\n" not in str(text)
    assert not server.requests


async def test_a_model_that_fails_leaves_the_thread_to_go_on_with(scripted: Serve) -> None:
    script, _ = scripted(fault=lambda seen: Fault("500"))
    async with in_memory() as session:
        failed = await said(session, "run_task", task="What is 6 * 7?")
        assert failed["status"] == "failed"
        assert failed["error"]
        script.fault = lambda seen: None
        assert (await said(session, "run_task", thread_id=failed["thread_id"]))["answer"] == "42"


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}])
async def test_another_sites_page_is_refused(headers: dict[str, str]) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accept = {"Accept": "application/json, text/event-stream"}
    async with listening_server() as address, httpx.AsyncClient(trust_env=False) as client:
        answer = await client.post(address, json=ping, headers={**accept, **headers})
    assert answer.status_code in (403, 421)


def test_it_listens_on_this_machine_only(cli: Cli) -> None:
    with listening_socket("0") as taken:
        port = taken.getsockname()[1]
        assert "choose another port" in cli("mcp", "--http", str(port)).err
    assert "clients need no token" in cli("mcp", "--http", "0.0.0.0:8765").err
    assert "--model" in cli("mcp", "--model", "no provider").err
    assert "write [HOST:]PORT" in cli("mcp", "--http", "here").err
