"""The wheel: what it holds, and that it serves a project with names of its own beside its script."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agent import Script
from tests.support.model_server import ModelServer
from tests.support.replies import finish
from tests.test_repository import PACKAGES, ROOT, of_packages

SCRIPT = """
import asyncio
from pathlib import Path

import forethought
from forethought import Context, build_agent

from graph.shapes import SQUARE
from nodes import LEAVES
from prompts.greeting import GREETING
from tools import saw

assert Path(forethought.__file__).is_relative_to("{site}"), forethought.__file__
agent = build_agent(tools=[saw])
result = asyncio.run(agent.ainvoke({{"task": "the question"}}, context=Context(model="openai:scripted")))
print(result["status"], result["answer"], SQUARE, LEAVES, GREETING)
"""
OWN = {
    "graph/shapes.py": "SQUARE = 4\n",
    "nodes.py": "LEAVES = 3\n",
    "prompts/greeting.py": "GREETING = 'hello'\n",
    "tools.py": "def saw(plank: str) -> str:\n    '''Saw a plank in two.'''\n    return plank[:1]\n",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from this tree, without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    run("-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


def run(*arguments: str, cwd: Path, **environment: str) -> str:
    """What Python prints. A failure fails the test with its messages."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_it_holds_all_code_and_all_data(wheel: Path) -> None:
    kinds = ("*.py", "*.md", "*.yaml", "py.typed")
    files = {path for kind in kinds for path in of_packages(kind)}
    top = ("graph", "nodes", "prompts", "tools")
    wanted = {str("forethought" / path if path.parts[0] in top else path) for path in files}
    assert wanted - names(wheel) == set()
    assert {"forethought/prompts/planner.md", "forethought/knowledge/planning_errors.yaml"} <= wanted


def test_it_holds_the_demo_and_installs_one_package(wheel: Path) -> None:
    found = names(wheel)
    assert {"forethought/_demo/question.txt", "forethought/_demo/files/claims.xlsx"} <= found
    assert {name.split("/")[0] for name in found if ".dist-info/" not in name} == set(PACKAGES)


def test_a_project_with_names_of_its_own_uses_it(
    wheel: Path, model_server: Callable[..., ModelServer], tmp_path: Path
) -> None:
    site, project = tmp_path / "site", tmp_path / "project"
    command = ("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", str(site), str(wheel))
    run(*command, cwd=tmp_path)
    for name, text in OWN.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    (project / "main.py").write_text(SCRIPT.format(site=site))
    server = model_server(Script(moves={"a": [finish("done")]}))
    # -S: the path of this tree's editable install is left out; what it depends on is named instead.
    path = os.pathsep.join((str(site), sysconfig.get_path("purelib")))
    keys = {"FORETHOUGHT_BASE_URL": server.url, "FORETHOUGHT_API_KEY": "k" * 8}
    printed = run("-S", "main.py", cwd=project, PYTHONPATH=path, **keys)
    assert printed.split()[0] == "answered"
    assert printed.split()[-3:] == ["4", "3", "hello"]
