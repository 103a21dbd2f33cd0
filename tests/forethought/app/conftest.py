"""The command line, called as a person calls it, with a scripted model behind it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from forethought.app.main import run_cli
from tests.forethought.app.debug_script import DebugScript
from tests.forethought.app.scripted import Script
from tests.support.model_server import ModelServer


@dataclass(frozen=True)
class Outcome:
    """What a command left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """stdout as the one JSON value that it must be."""
        return json.loads(self.out)


Cli = Callable[..., Outcome]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """Run a command line in a folder of its own: cli("run", "a task", "--json")."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Outcome:
        capsys.readouterr()
        code = run_cli(arguments)
        said = capsys.readouterr()
        return Outcome(code, said.out, said.err)

    return run


@pytest.fixture
def scripted(
    model_server: Callable[..., ModelServer], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[Script, ModelServer]]:
    """Start a scripted model and point the environment at it: scripted(answer_score=3)."""

    def start(**options: Any) -> tuple[Script, ModelServer]:
        script = Script(**options)
        server = model_server(script)
        monkeypatch.setenv("FORETHOUGHT_BASE_URL", server.url)
        monkeypatch.setenv("FORETHOUGHT_MODEL", "openai:scripted")
        monkeypatch.setenv("FORETHOUGHT_REQUEST_RETRIES", "0")
        return script, server

    return start


@pytest.fixture
def debugging(
    model_server: Callable[..., ModelServer], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[DebugScript, ModelServer]]:
    """Start the scripted model and point the environment at it."""

    def start(**options: Any) -> tuple[DebugScript, ModelServer]:
        script = DebugScript(**options)
        server = model_server(script)
        monkeypatch.setenv("FORETHOUGHT_BASE_URL", server.url)
        monkeypatch.setenv("FORETHOUGHT_MODEL", "openai:scripted")
        monkeypatch.setenv("FORETHOUGHT_REQUEST_RETRIES", "0")
        return script, server

    return start
