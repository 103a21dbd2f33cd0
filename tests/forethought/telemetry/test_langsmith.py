"""What LangSmith is sent, by its own client over HTTP, holds no secret, not even one in the task."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.forethought.telemetry.conftest import LangSmith

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


def test_no_graph_sends_a_secret_whoever_made_the_client(langsmith: LangSmith, tmp_path: Path) -> None:
    variables = {"PYTHONPATH": str(ROOT), "SOME_API_KEY": SECRET, **langsmith.variables}
    done = subprocess.run(
        [sys.executable, "-c", ALL_GRAPHS.format(secret=SECRET)],
        env={**os.environ, **variables},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "a good key?" in langsmith.told
    for graph in ("debugger", "distiller", "synthesizer", "agent"):
        assert f'"name":"{graph}"' in langsmith.told.replace(": ", ":")
    assert SECRET not in langsmith.told
    assert "lsv2_another_secret" not in langsmith.told
