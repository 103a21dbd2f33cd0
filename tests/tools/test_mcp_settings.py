"""What a file of MCP servers makes secret, in the whole process, and what it does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from forethought.graph.agent import build_agent
from forethought.redaction import redactor
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.tools.mcp_settings import McpSetupError, read_servers
from tests.support.web_server import Sent, WebServer

CONFIG: Any = {"configurable": {"thread_id": "t"}}


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Any], Path]:
    """Write the file of one server."""

    def go(server: Any) -> Path:
        file = tmp_path / "mcp.json"
        file.write_text(json.dumps({"mcpServers": {"w": server}}))
        return file

    return go


@pytest.mark.parametrize(
    ("server", "said", "shown"),
    [
        ({"url": "https://h/mcp?q=${PLAIN}"}, "got 0f-9aK3xw7Lq0", "got [secret]"),
        ({"url": "https://h/${PLAIN}/mcp"}, "at https://h/0f-9aK3xw7Lq0/mcp", "at https://h/[secret]/mcp"),
        ({"url": "https://h/mcp?tavilyApiKey=tvly-abc-defg"}, "got tvly-abc-defg", "got [secret]"),
        (
            {"url": "https://h/s/0f9aK3xw7Lq0ZtB5vRmN2c/mcp"},
            "at h/s/0f9aK3xw7Lq0ZtB5vRmN2c/mcp",
            "at h/s/[secret]/mcp",
        ),
        ({"url": "https://h/mcp?k=0f9aK3xw7Lq0"}, "got 0f9aK3xw7Lq0", "got [secret]"),
        ({"url": "https://bob:9aK3xw7Lq0Zt@h/mcp"}, "as 9aK3xw7Lq0Zt", "as [secret]"),
        ({"url": "https://${PLAIN}:x@h/mcp"}, "as 0f-9aK3xw7Lq0", "as [secret]"),
        (
            {"url": "https://h", "headers": {"X-Api-Key": "of-header-9aK3xw7Lq0"}},
            "got of-header-9aK3xw7Lq0",
            "got [secret]",
        ),
        ({"url": "https://h", "headers": {"X-Of": "Of ${PLAIN}"}}, "got 0f-9aK3xw7Lq0", "got [secret]"),
        (
            {"url": "https://h", "headers": {"X-Of": "longRun0f1lettersAndDigits2"}},
            "longRun0f1lettersAndDigits2",
            "[secret]",
        ),
        ({"command": "c", "env": {"ROOMS_KEY": "of-the-environment"}}, "of-the-environment", "[secret]"),
        (
            {"command": "c", "args": ["--api-key", "of-an-argument-itself"]},
            "of-an-argument-itself",
            "[secret]",
        ),
        ({"command": "c", "args": ["--token=of-an-argument-itself"]}, "of-an-argument-itself", "[secret]"),
        (
            {"command": "c", "args": ["Authorization: Bearer of-several-arguments"]},
            "of-several-arguments",
            "[secret]",
        ),
        ({"command": "c", "args": ["https://h/mcp?key=of-9aK3xw7Lq0"]}, "of-9aK3xw7Lq0", "[secret]"),
    ],
)
def test_what_a_server_is_given_to_keep_is_secret_everywhere(
    write: Callable[[Any], Path], monkeypatch: pytest.MonkeyPatch, server: Any, said: str, shown: str
) -> None:
    monkeypatch.setenv("PLAIN", "0f-9aK3xw7Lq0")
    read_servers(write(server))
    assert redactor()(said) == shown


def test_words_of_a_file_that_may_stand_anywhere_are_not(
    write: Callable[[Any], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCP_HOST", "mcp.example.org")
    headers = {"Accept": "application/json"}
    read_servers(
        write({"url": "https://${MCP_HOST}/research-rooms/mcp?features=database", "headers": headers})
    )
    said = "mcp.example.org, research-rooms, features: database, application/json"
    assert redactor()(said) == said


async def test_no_key_of_a_refused_server_is_stored_with_the_thread(
    write: Callable[[Any], Path], settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEATHER_KEY", "of-the-weather-station")
    saver = InMemorySaver()
    with closing(WebServer(lambda asked: Sent(status=401))) as site:
        file = write({"url": f"{site.url}/mcp?key=${{WEATHER_KEY}}"})
        agent = build_agent(settings=settings(mcp_file=file, model="openai:x"), checkpointer=saver)
        with pytest.raises(McpSetupError, match="401"):
            await agent.ainvoke({"task": "x"}, CONFIG, context=Context())
    stored = str([saver.storage, saver.writes, saver.blobs])
    assert "401 Unauthorized" in stored
    assert "of-the-weather-station" not in stored
