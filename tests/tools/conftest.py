"""Fixtures of the tests of tools."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.web_server import Answer, StartServer, WebServer


@pytest.fixture
def web_server() -> Iterator[StartServer]:
    """Start web servers on this machine, `web_server(answer)`; they end with the test."""
    servers: list[WebServer] = []

    def start(answer: Answer) -> WebServer:
        servers.append(WebServer(answer))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


_FFMPEG = """\
#!{python} -SE
import sys, wave
options = dict(zip(sys.argv, sys.argv[1:]))
try:
    with wave.open(options["-i"].removeprefix("file:")) as file:
        seconds = file.getnframes() / file.getframerate()
except wave.Error:
    seconds = 2.4
seconds = min(seconds, float(options["-t"]))
size = 2 * int(16_000 * seconds) if sys.argv[-2] == "s16le" else int(4000 * seconds)
sys.stdout.buffer.write(bytes(size))
"""


@pytest.fixture
def ffmpeg_stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program on the PATH that makes silence of a sound's length, as ffmpeg would be asked to."""
    program = tmp_path / "bin" / "ffmpeg"
    program.parent.mkdir()
    program.write_text(_FFMPEG.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
