"""forethought view: the command line and its server."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from forethought.app.viewer import serve
from forethought.settings import Settings
from tests.forethought.app.conftest import Cli
from tests.support.model_server import Fault
from tests.support.processes import Start


def test_an_unknown_thread_is_one_line(cli: Cli) -> None:
    done = cli("view", "nobody", "--no-browser")
    assert (done.code, done.out) == (2, "")
    assert done.err == "forethought: no thread nobody; see: forethought threads\n"


def test_a_port_that_is_taken_is_one_line(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        done = cli("view", "--no-browser", "--port", str(other.getsockname()[1]))
    assert done.code == 2
    assert done.err.startswith("forethought: 127.0.0.1:")
    assert done.err.endswith(": Address already in use; choose another --host or --port\n")


def test_the_usual_port_gives_way_to_a_free_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        monkeypatch.setattr(serve, "PORT", other.getsockname()[1])
        with serve._listen("127.0.0.1", None) as listener:
            assert listener.getsockname()[1] != serve.PORT


def test_ctrl_c_stops_its_runs_while_pages_are_open(
    cli: Cli, scripted: Callable[..., Any], python: Start
) -> None:
    script, server = scripted()
    script.fault = lambda seen: Fault("hang") if seen.reply_name == "ToolChoice" else None
    viewer = python("from forethought.app.main import main; main()", "view", "--no-browser")
    assert viewer.stdout is not None
    with httpx.Client(base_url=viewer.stdout.readline().split()[0], follow_redirects=True) as browser:
        thread = browser.post("new", data={"task": "What is 40 + 2?"}).url.path.rpartition("/")[2]
        with browser.stream("GET", f"threads/{thread}/changes") as events:
            next(events.iter_text())
            while "ToolChoice" not in server.names:
                assert viewer.poll() is None
            viewer.send_signal(signal.SIGINT)
            assert viewer.communicate(timeout=20) == ("", "")
    assert viewer.returncode == 0
    script.fault = lambda seen: None
    assert cli("resume", thread).code == 0


def test_the_network_needs_a_token() -> None:
    for host in ("127.0.0.1", "localhost", "::1"):
        assert serve._with_token(Settings(), host)[1] == ""
    for host in ("0.0.0.0", "::", "10.0.0.1", "example.org"):
        settings, token = serve._with_token(Settings(), host)
        assert settings.access_tokens is not None
        assert len(token) > 20
        assert serve._address(host, 1, "t", token).endswith(f":1/view/threads/t?token={token}")
        assert serve._with_token(settings, host) == (settings, "")
