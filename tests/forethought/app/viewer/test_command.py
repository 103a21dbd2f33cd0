"""forethought view: the command line and its server."""

from __future__ import annotations

import socket

import pytest

from forethought.app.viewer import serve
from forethought.settings import Settings
from tests.forethought.app.conftest import Cli


def test_an_unknown_thread_is_one_line(cli: Cli) -> None:
    done = cli("view", "nobody", "--no-browser")
    assert (done.code, done.out) == (2, "")
    assert done.err == "forethought: no thread nobody; `forethought threads` lists those there are\n"


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


def test_the_network_needs_a_token() -> None:
    for host in ("127.0.0.1", "localhost", "::1"):
        assert serve._with_token(Settings(), host)[1] == ""
    for host in ("0.0.0.0", "::", "10.0.0.1", "example.org"):
        settings, token = serve._with_token(Settings(), host)
        assert settings.access_tokens is not None
        assert len(token) > 20
        assert serve._address(host, 1, "t", token).endswith(f":1/view/threads/t?token={token}")
        assert serve._with_token(settings, host) == (settings, "")
