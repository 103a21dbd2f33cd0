"""`forethought view` before it serves."""

from __future__ import annotations

import socket

from tests.forethought.app.conftest import Cli


def test_a_port_that_is_in_use_is_one_line(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        out = cli("view", "--port", str(port))
    assert out.code == 2
    assert out.err == f"forethought: --port {port}: Address already in use; choose another port\n"
