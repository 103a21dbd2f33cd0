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
from tests.support.model_server import ModelServer, SeenRequest


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
Serve = Callable[..., ModelServer]
"""The fixture `served`."""


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
def served(
    model_server: Callable[..., ModelServer], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., ModelServer]:
    """Start a model of this policy that the environment points at: served(Script())."""

    def start(policy: Callable[[SeenRequest], Any]) -> ModelServer:
        server = model_server(policy)
        monkeypatch.setenv("FORETHOUGHT_BASE_URL", server.url)
        monkeypatch.setenv("FORETHOUGHT_MODEL", "openai:scripted")
        monkeypatch.setenv("FORETHOUGHT_REQUEST_RETRIES", "0")
        return server

    return start


@pytest.fixture
def scripted(served: Serve) -> Callable[..., tuple[Script, ModelServer]]:
    """Start a scripted model of the agent: scripted(answer_score=3)."""

    def start(**options: Any) -> tuple[Script, ModelServer]:
        script = Script(**options)
        return script, served(script)

    return start


@pytest.fixture
def debugging(served: Serve) -> Callable[..., tuple[DebugScript, ModelServer]]:
    """Start a scripted model of the debugger."""

    def start(**options: Any) -> tuple[DebugScript, ModelServer]:
        script = DebugScript(**options)
        return script, served(script)

    return start
