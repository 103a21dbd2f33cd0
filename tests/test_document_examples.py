"""The documents' Python: the examples run, and so do the agents, tools and functions that they define."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forethought import Context, build_agent
from tests.forethought.app.debug_script import GUIDANCE
from tests.support.documents_model import DocumentsModel
from tests.support.model_server import Answer, ModelServer, SeenRequest
from tests.support.pages import ROOT, examples, fences
from tests.support.replies import plan, sub

Names = dict[str, Any]
NEED_A_SERVER = {"docs_how_to_approvals_0", "docs_how_to_deploy_0"}
"""Examples that are not run here; tests/server has such requests answered."""
THREAD: Any = {"configurable": {"thread_id": "1"}}


class Model(DocumentsModel):
    """It plans one subtask, finds the error in the log's one step, and can chat."""

    def __init__(self) -> None:
        super().__init__()
        self.critical_step, self.evidence, self.cascade = 1, "find(12)", False

    def __call__(self, seen: SeenRequest) -> Answer:
        """Plain text if no reply type is asked for."""
        return super().__call__(seen) if seen.reply_name else "It is 42."

    def plan(self, seen: SeenRequest) -> dict[str, Any]:
        """One subtask."""
        return plan(sub("s1", description="Compute 40 + 2"))


def with_other_arguments(names: Names) -> Any:
    """The state after a past call was made with other arguments."""
    names["agent"].invoke({"task": "What is 40 + 2?"}, THREAD)
    names["with_arguments"](THREAD, {"code": "6 * 8008"}, Context())
    return names["agent"].get_state(THREAD).values


USES: dict[str, tuple[Callable[[Names], Any], str]] = {
    "docs_how_to_add_on_0": (
        lambda names: names["agent"].invoke({"messages": [("user", "What is 40 + 2?")]})["messages"][-1].text,
        "It is 42.",
    ),
    "docs_how_to_models_0": (lambda names: names["agent"].invoke({"task": "40 + 2?"})["answer"], "41"),
    "my_tools": (lambda names: names["stock"]() + names["order"](3), "42ordered 3"),
    "docs_reference_python_1": (with_other_arguments, "48048"),
    "docs_reference_python_2": (lambda names: bool(build_agent(tools=[names["pay"]])), "True"),
    "docs_reference_python_3": (lambda names: asyncio.run(names["review"]()), "Book it."),
    "docs_reference_python_4": (lambda names: asyncio.run(names["cause"]("LOGS")), GUIDANCE),
}
"""What is done with the names that an example defines, and what comes of it or is printed."""


@pytest.mark.parametrize("name", sorted(examples().keys() - NEED_A_SERVER))
def test_an_example_runs(
    name: str,
    model_server: Callable[..., ModelServer],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(ROOT / "demo/files", tmp_path / "demo/files")
    (tmp_path / "LOGS").write_text("\n".join(fences("docs/how-to/debug.md", "json")))
    monkeypatch.chdir(tmp_path)
    url = model_server(Model()).url
    for key in ("FORETHOUGHT_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.setenv(key, url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none-of-anybody")
    monkeypatch.setenv("FORETHOUGHT_MODEL", "openai:scripted")
    monkeypatch.setattr("builtins.input", lambda _: "approve")
    names: Names = {"__name__": name}
    exec(compile(examples()[name], name, "exec"), names)
    use, expected = USES.get(name, (lambda _: None, "41"))
    assert expected in f"{use(names)}\n{capsys.readouterr().out}"
