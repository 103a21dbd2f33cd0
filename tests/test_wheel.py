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
from tests.support.replies import call, finish
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

assert "site-packages" in Path(forethought.__file__).parts, forethought.__file__
agent = build_agent(tools=[saw])
result = asyncio.run(agent.ainvoke({"task": "the question"}, context=Context(model="openai:scripted")))
print(result["status"], result["answer"], SQUARE, LEAVES, GREETING)
"""
OWN = {
    "graph/shapes.py": "SQUARE = 4\n",
    "nodes.py": "LEAVES = 3\n",
    "prompts/greeting.py": "GREETING = 'hello'\n",
    "tools.py": "def saw(plank: str) -> str:\n    '''Saw a plank in two.'''\n    return plank[:1]\n",
}


LANGCHAIN_USER = """
import os

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite import SqliteSaver

from forethought import Context, build_agent


@tool
def stock(product: str) -> str:
    \'\'\'How many pieces of a product are in stock.\'\'\'
    return f"40 pieces of {product}"


class Heard(BaseCallbackHandler):
    def on_tool_start(self, serialized, input_str, **kwargs):
        print("tool", serialized["name"], kwargs["inputs"])


model = ChatOpenAI(model="scripted", base_url=os.environ["ITS_ADDRESS"], api_key="its-key", max_retries=0)
with SqliteSaver.from_conn_string("threads.sqlite") as saver:
    agent = build_agent(tools=[stock], effects={"stock": "read"}, model=model, checkpointer=saver)
    config = {"configurable": {"thread_id": "1"}, "callbacks": [Heard()]}
    state = agent.invoke({"task": "How many?"}, config, context=Context(effort="low"))
    print(state["status"], state["answer"])
    again = {"messages": [{"role": "user", "content": "And now?"}]}
    for part in agent.stream(again, config, context=Context(effort="low"), stream_mode="updates"):
        print(*part)
    print(agent.get_state(config).values["progress"]["task"], "tasks")
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from this tree, without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    run("-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def fresh(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a fresh environment with the wheel: of what it declares if uv has that in its cache, else
    beside the packages of this one."""
    folder = tmp_path_factory.mktemp("fresh")
    run("-m", "venv", "--without-pip", str(folder), cwd=folder)
    python, uv = folder / "bin" / "python", Path(sys.executable).with_name("uv")
    install = [uv, "pip", "install", "-q", "--offline", "--python", python, wheel]
    if not uv.exists() or subprocess.run(install, capture_output=True, timeout=120, check=False).returncode:
        site = next(folder.glob("lib/python*/site-packages"))
        pip = ("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", str(site), str(wheel))
        run(*pip, cwd=folder)
        (site / "beside.pth").write_text(sysconfig.get_path("purelib"))
    return python


def run(*arguments: str, cwd: Path, python: Path | str = sys.executable, **environment: str) -> str:
    """What Python prints. A failure fails the test with its messages."""
    done = subprocess.run(
        [python, *arguments],
        cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_it_holds_all_code_and_all_data(wheel: Path) -> None:
    kinds = ("*.py", "*.md", "*.yaml", "py.typed", "*.j2", "*.js", "*.css", "*.svg", "*.LICENSE")
    files = {path for kind in kinds for path in of_packages(kind)}
    top = ("graph", "nodes", "prompts", "tools")
    wanted = {str("forethought" / path if path.parts[0] in top else path) for path in files}
    assert wanted - names(wheel) == set()
    assert {"forethought/prompts/planner.md", "forethought/knowledge/planning_errors.yaml"} <= wanted
    viewer = "forethought/app/viewer"
    assert {f"{viewer}/templates/page.html.j2", f"{viewer}/static/vendor/dagre.LICENSE"} <= wanted


def test_it_holds_the_demo_and_installs_one_package(wheel: Path) -> None:
    found = names(wheel)
    assert {"forethought/_demo/question.txt", "forethought/_demo/files/claims.xlsx"} <= found
    assert {name.split("/")[0] for name in found if ".dist-info/" not in name} == set(PACKAGES)


def test_a_project_with_names_of_its_own_uses_it(
    fresh: Path, model_server: Callable[..., ModelServer], tmp_path: Path
) -> None:
    for name, text in {**OWN, "main.py": SCRIPT}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    server = model_server(Script(moves={"a": [finish("done")]}))
    keys = {"FORETHOUGHT_BASE_URL": server.url, "FORETHOUGHT_API_KEY": "k" * 8}
    printed = run("main.py", cwd=tmp_path, python=fresh, **keys)
    assert printed.split()[0] == "answered"
    assert printed.split()[-3:] == ["4", "3", "hello"]


def test_a_user_of_langchain_has_own_tools_and_a_model_and_awaits_nothing(
    fresh: Path, model_server: Callable[..., ModelServer], tmp_path: Path
) -> None:
    (tmp_path / "main.py").write_text(LANGCHAIN_USER)
    server = model_server(Script(moves={"a": [call(tool="stock", product="A-100")]}))
    printed = run(
        "-W", "error::ResourceWarning", "main.py", cwd=tmp_path, python=fresh, ITS_ADDRESS=server.url
    )
    tool = "tool stock {'product': 'A-100'}"
    assert printed.splitlines()[:3] == [tool, "answered the answer", "planner"]
    assert (printed.count(tool), printed.splitlines()[-1]) == (2, "2 tasks")
    assert {seen.body["model"] for seen in server.requests} == {"scripted"}
