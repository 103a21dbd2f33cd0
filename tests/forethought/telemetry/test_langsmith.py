"""What LangSmith is sent, by its own client over HTTP, holds no secret, not even one in the task."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.agent import Script
from tests.support.langsmith_server import LangSmithServer
from tests.support.model_server import ModelServer
from tests.support.replies import finish

ROOT = Path(__file__).parents[3]
SECRET = "sk-very-secret-value"
ALL_GRAPHS = """
import asyncio, contextlib
import langsmith
from forethought.models.types import ConfigurationError
from forethought.settings import Settings
from forethought.telemetry.langsmith import flush
from forethought.graph.agent import build_agent
from forethought.graph.debugger import build_debugger
from forethought.graph.distiller import build_distiller
from forethought.graph.synthesizer import build_synthesizer

task = "is {secret} a good key?"
run = {{"id": "x", "task": task, "steps": [], "{secret}": "as a key"}}
given = [
    (build_debugger, {{"trajectory": run}}),
    (build_distiller, {{"trajectories": [run]}}),
    (build_synthesizer, {{"tasks": [run]}}),
    (build_agent, {{"task": task}}),
]
for build, asked in given:
    langsmith.configure(client=langsmith.Client())  # somebody else's, made before the graph is
    graph = build(settings=Settings())
    with contextlib.suppress(ConfigurationError):  # no model is set up, and none is needed
        asyncio.run(graph.ainvoke(asked, {{"metadata": {{"why": "{secret}"}}}}))
    flush()
"""


@pytest.fixture
def langsmith() -> Iterator[LangSmithServer]:
    """A stand-in for LangSmith."""
    server = LangSmithServer()
    yield server
    server.close()


def run_python(
    langsmith: LangSmithServer, folder: Path, *arguments: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Python with tracing on."""
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **langsmith.variables, **variables},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_run_of_the_command(
    langsmith: LangSmithServer, model_server: Callable[..., ModelServer], tmp_path: Path
) -> None:
    server = model_server(Script(moves={"a": [finish("done")]}))
    done = run_python(
        langsmith,
        tmp_path,
        *("-m", "forethought", "run", f"is {SECRET} a good key?", "--json"),
        FORETHOUGHT_BASE_URL=server.url,
        FORETHOUGHT_MODEL="openai:scripted",
        FORETHOUGHT_API_KEY=SECRET,
    )
    assert done.returncode == 0, done.stderr
    assert "a good key?" in langsmith.told
    assert "prospective_reflector" in langsmith.told
    assert SECRET not in langsmith.told
    assert "lsv2_another_secret" not in langsmith.told


def test_no_graph_sends_a_secret_whoever_made_the_client(langsmith: LangSmithServer, tmp_path: Path) -> None:
    done = run_python(langsmith, tmp_path, "-c", ALL_GRAPHS.format(secret=SECRET), SOME_API_KEY=SECRET)
    assert done.returncode == 0, done.stderr
    assert "a good key?" in langsmith.told
    for graph in ("debugger", "distiller", "synthesizer", "agent"):
        assert f'"name":"{graph}"' in langsmith.told.replace(": ", ":")
    assert SECRET not in langsmith.told
