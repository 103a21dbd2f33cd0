"""Fixtures of all tests: no keys and no settings of the machine, a scripted model server, settings that name
it.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from forethought.settings import Settings
from tests.support.chromium import find_chromium
from tests.support.model_server import ModelServer, Policy
from tests.support.postgres import database, postgres, postgres_server
from tests.support.processes import python

__all__ = ["database", "postgres", "postgres_server", "python"]

# A shared machine is slow at times, which says nothing about the code.
hypothesis.settings.register_profile("project", deadline=None)
hypothesis.settings.load_profile("project")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell has what it starts in the background ignore it, and so would the processes that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)


_SHARING = ("tests/browser/", "tests/server/")
"""Folders whose tests share a server."""
_BROWSER_TESTS = Path(__file__).parent / "browser"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave the browser tests out where there is no browser; the last line says so."""
    below = collection_path.is_relative_to(_BROWSER_TESTS)
    return True if below and not find_chromium() else None


def pytest_unconfigure(config: pytest.Config) -> None:
    """Say after everything else that the browser tests were left out."""
    asked = any(_BROWSER_TESTS.is_relative_to(config.rootpath / argument) for argument in config.args)
    if asked and not find_chromium() and not hasattr(config, "workerinput"):
        print("browser tests: not run, no Chromium found; install the package chromium")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each file to one worker, and to one all that share a server, which takes seconds to start."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            folder = next((shared for shared in _SHARING if nodeid.startswith(shared)), "")
            return folder or str(super()._split_scope(nodeid))

    return Scheduling(config, log)


_OF_THE_MACHINE = re.compile(
    r"_API_KEY$|_TOKEN$|_SECRET$|^FORETHOUGHT_|^PG|^OPENAI_|^ANTHROPIC_|^GOOGLE_|^GEMINI_|^LANGSMITH_|^LANGCHAIN_|^TAVILY_"
)


@pytest.fixture(scope="session", autouse=True)
def _machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No key, no setting and no tracing of this machine reaches a test, or what tests share."""
    folder = tmp_path_factory.mktemp("config")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("platformdirs.user_config_path", lambda name: folder / name)
        patch.setenv("XDG_CONFIG_HOME", str(folder))
        for name in filter(_OF_THE_MACHINE.search, list(os.environ)):
            patch.delenv(name)
        yield


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No variable that a test's commands set (they read .env files), and no secret, reaches another test;
    data goes to the test's own folder.
    """
    before = dict(os.environ)
    monkeypatch.setattr("forethought.redaction._registered", frozenset())
    # Nothing is asked over TLS: reading all authorities' certificates takes each client 15 ms.
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    monkeypatch.setattr("platformdirs.user_config_path", lambda name: tmp_path / "config" / name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))  # of processes that a test starts
    monkeypatch.setenv("FORETHOUGHT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("FORETHOUGHT_EFFORT", "paper")  # what tests are about runs at its paper's moment
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def model_server() -> Iterator[Callable[..., ModelServer]]:
    """Start scripted model servers: `model_server(policy, refuses=("schema",))`; they end with the test."""
    started: list[ModelServer] = []

    def start(policy: Policy, **options: Any) -> ModelServer:
        started.append(ModelServer(policy, **options))
        return started[-1]

    yield start
    for server in started:
        server.close()


@pytest.fixture
def settings(tmp_path: Path) -> Callable[..., Settings]:
    """Make settings for a test: `settings(server)`, `settings(server, request_retries=0)`, `settings()`."""

    def make(server: ModelServer | None = None, **options: Any) -> Settings:
        given: dict[str, Any] = {"data_dir": tmp_path / "data", "request_timeout_s": 20, "request_retries": 3}
        if server is not None:
            given |= {"base_url": server.url, "model": "openai:scripted"}
        return Settings(**given | options)

    return make
