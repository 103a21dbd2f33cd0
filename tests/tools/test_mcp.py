"""MCP tools against a real server, over stdio and over HTTP on this machine."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import StructuredTool
from langchain_mcp_adapters.client import MultiServerMCPClient

from forethought.graph.agent import build_agent
from forethought.prompts.tool_choice import tool_choice_spec
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.tools.base import CONTENT, Observation, Tool, ToolEnv, make_tool
from forethought.tools.call import call_tool, check_arguments
from forethought.tools.langchain_tool import _effect
from forethought.tools.mcp import mcp_tools
from forethought.tools.mcp_settings import McpSetupError, read_servers
from forethought.tools.registry import describe

SERVER = Path(__file__).parents[1] / "support" / "mcp_server.py"
STDIO = {"command": sys.executable, "args": [str(SERVER)]}
Load = Callable[..., Any]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Any], Path]:
    """Write an MCP file."""

    def go(content: Any) -> Path:
        file = tmp_path / "mcp.json"
        if content is not None:
            file.write_text(content if isinstance(content, str) else json.dumps(content))
        return file

    return go


@pytest.fixture
def load(write: Callable[[Any], Path]) -> Load:
    """Load the tools of servers."""

    async def go(servers: dict[str, Any], reserved: tuple[str, ...] = ()) -> dict[str, Tool]:
        found = await mcp_tools(read_servers(write({"mcpServers": servers})), reserved)
        return {tool.name: tool for tool in found}

    return go


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server that listens, which answers faster than one that is started for each call."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as listening:
        port, descriptor = listening.getsockname()[1], listening.fileno()
        process = subprocess.Popen([sys.executable, str(SERVER), str(descriptor)], pass_fds=[descriptor])
    yield f"http://127.0.0.1:{port}/mcp"
    process.terminate()
    process.wait()


async def call(tool: Tool, **arguments: Any) -> Observation:
    return await call_tool(tool, arguments, ToolEnv(settings=Settings()))


async def test_tools_of_a_program_over_stdio(load: Load) -> None:
    tools = await load({"rooms": STDIO})
    seen = await call(tools["free"], day="Monday")
    assert (seen.text, seen.ok, seen.origin) == ("on Monday, floor 1: A, B", True, "tool:free")


async def test_tools_of_a_server_at_an_address(load: Load, address: str) -> None:
    servers = {"rooms": {"url": address, "type": "http", "tools": {"search": {"timeout_s": 3}}}}
    tools = await load(servers, reserved=("lookup",))
    assert {"free", "book", "search", "note", "rooms__lookup", "read_file", "fail"} <= set(tools)
    assert all(tool.foreign for tool in tools.values())
    assert [tools[name].effect for name in ("free", "book", "search")] == ["read", "write", "egress"]
    assert (tools["free"].timeout_s, tools["search"].timeout_s) == (60, 3)
    assert (tools["free"].retryable, tools["book"].retryable) == (True, False)
    assert (await call(tools["book"], room="A", guest={"name": "Ann"})).text == "A for Ann"
    assert (await call(tools["note"], fields={"b": 1, "a": "x"})).text == "a=x, b=1"
    assert (await call(tools["rooms__lookup"], key="k")).text == "from the server: k"
    assert (await call(tools["picture"])).text == "[image/png, not shown]"


async def test_wrong_arguments_are_refused_before_the_call(load: Load, address: str) -> None:
    tools = await load({"rooms": {"url": address}})
    assert check_arguments(tools["free"], {"day": "Monday", "floor": 2}) is None
    for arguments, said in (
        ({}, "'day' is a required property"),
        ({"day": 3}, "day: 3 is not of type 'string'"),
        ({"day": "x", "roof": 1}, "roof"),
    ):
        seen = await call(tools["free"], **arguments)
        assert (seen.ok, seen.cause, seen.hint) == (False, "arguments", "free takes day, floor (optional)")
        assert said in seen.text


async def test_failures_of_a_server_are_observations_without_keys(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OF_THE_ROOMS", "key-of-the-rooms")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-user-0001")
    server = {**STDIO, "env": {"ROOMS_KEY": "${OF_THE_ROOMS}"}, "tools": {"wait": {"timeout_s": 0.1}}}
    tools = await load({"rooms": server})
    seen = await call(tools["fail"], how="Z")
    assert (seen.ok, seen.cause) == (False, "tool")
    assert "no room is called Z, and the keys are [secret] and None" in seen.text
    gone = await call(tools["fail"], how="exit")
    assert (gone.ok, gone.cause) == (False, "transport")
    assert (await call(tools["wait"])).cause == "timeout"


async def test_what_the_adapters_load_is_taken_as_any_tool_of_langchain(address: str) -> None:
    client = MultiServerMCPClient({"rooms": {"transport": "streamable_http", "url": address}})
    tools = {offered.name: make_tool(offered) for offered in await client.get_tools()}
    assert all(tool.foreign for tool in tools.values())
    assert [tools[name].effect for name in ("free", "book", "search")] == ["read", "write", "egress"]
    assert (await call(tools["free"], day="Monday")).text == "on Monday, floor 1: A, B"
    seen = await call(tools["fail"], how="Z")
    assert (seen.ok, "no room is called Z" in seen.text) == (False, True)


@pytest.mark.parametrize(
    ("hints", "effect"),
    [
        ({}, "write"),
        # The protocol: the world is open unless the server says it is not.
        ({"readOnlyHint": True}, "egress"),
        ({"readOnlyHint": True, "openWorldHint": False}, "read"),
    ],
)
def test_a_missing_hint_counts_as_the_more_dangerous(hints: dict[str, bool], effect: str) -> None:
    assert _effect("free", hints) == effect


async def test_a_long_description_is_cut(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    async def offer(*_: object, **__: object) -> list[StructuredTool]:
        return [StructuredTool(name="long", description="x" * 100_000, args_schema={"type": "object"})]

    monkeypatch.setattr("langchain_mcp_adapters.tools.load_mcp_tools", offer)
    assert len((await load({"rooms": STDIO}))["long"].description) == 6000


async def test_two_servers_with_the_same_tools_get_prefixes(load: Load, address: str) -> None:
    server = {"url": address}
    egress = {**server, "effect": "egress", "tools": {"book": {"effect": "read"}}}
    tools = await load({"a": egress, "b": server, "c": {**server, "disabled": True}})
    assert (tools["a__free"].effect, tools["a__book"].effect) == ("egress", "read"), "as the operator says"
    assert {"a__free", "b__free", "a__read_file"} <= set(tools)
    assert not {name for name in tools if name.startswith("c__")}
    assert (await call(tools["b__free"], day="x")).ok


async def test_what_the_operator_says_of_a_server_s_results_and_arguments(load: Load, address: str) -> None:
    book = {"content": ["day"], "record_id": "id", "outside": True}
    server = {"url": address, "private": False, "outside": False, "tools": {"book": book}}
    tools = await load({"a": server})
    free, booked = tools["free"], tools["book"]
    assert (free.private, free.outside, free.content, free.record_id) == (False, False, CONTENT, "")
    assert (booked.private, booked.outside, booked.content, booked.record_id) == (False, True, ("day",), "id")


async def test_schemas_that_cannot_be_strict_are_sent_as_not_strict(load: Load, address: str) -> None:
    tools = await load({"rooms": {"url": address}})
    strict = tool_choice_spec({"free": tools["free"]}, Context())
    loose = tool_choice_spec(tools, Context())
    assert (strict.strict, loose.strict) == (True, False)
    assert "$ref" not in json.dumps(loose.schema)
    chosen = loose.parse(
        {
            "thought": "t", "surprise": "none", "action": "call", "tool": "note", "finishes": True,
            "arguments": {"fields": {"a": None}}, "expected": "e", "defects": [],
        }
    )  # fmt: skip
    assert chosen.arguments == {"fields": {"a": None}}
    assert "book(room: string, guest: object)" in describe(tools)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file"),
        ("{", "is not JSON"),
        ([], "the whole"),
        ({}, "mcpServers"),
        ({"servers": {"a": {}}}, "servers.a: give either a command or a url"),
        ({"servers": {"a": {"url": "https://[h/mcp"}}}, "servers.a: Invalid IPv6 URL"),
        ({"servers": {"a": {"command": "x", "effect": "harmless"}}}, "effect"),
        ({"servers": {"a": {"command": "x", "timeout_s": 0}}}, "timeout_s"),
        (
            {"servers": {"a": {"command": "x", "env": {"K": "${NOT_SET}"}}}},
            "the environment variable NOT_SET is not set",
        ),
    ],
)
def test_a_bad_file_is_named_with_its_fault_in_one_line(
    settings: Callable[..., Settings], write: Callable[[Any], Path], content: Any, said: str
) -> None:
    with pytest.raises(McpSetupError) as caught:
        build_agent(settings=settings(mcp_file=write(content)))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "server",
    [
        {"command": "no-such-program-anywhere"},
        {"command": sys.executable, "args": ["-c", "raise SystemExit(1)"]},
        {"url": "http://127.0.0.1:9/mcp"},
    ],
)
async def test_a_server_that_cannot_be_reached_is_named_in_one_line(
    load: Load, server: dict[str, Any]
) -> None:
    with pytest.raises(McpSetupError, match=r"MCP server rooms cannot be used: .") as caught:
        await load({"rooms": server})
    assert "\n" not in str(caught.value)
