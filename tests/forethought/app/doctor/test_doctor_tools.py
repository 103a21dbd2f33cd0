"""doctor, tool by tool: ready, or what is lacking."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from forethought.app.doctor import tools as doctor_tools
from forethought.app.doctor.tools import TRIALS, Lacks, needs, tool_checks
from forethought.settings import Settings
from forethought.tools.registry import toolbox
from tests.forethought.app.conftest import Cli


def found(**options: Any) -> dict[str, tuple[bool, str]]:
    return {check.name: (check.ok, check.detail) for check in tool_checks(Settings(**options))}


def test_every_tool_has_a_line_that_says_ready_or_what_it_lacks() -> None:
    lines = found()
    assert [name.removeprefix("tool ") for name in lines][: len(toolbox(Settings()))] == list(
        toolbox(Settings())
    )
    assert all(detail.startswith("ready: " if ok else "lacks ") for ok, detail in lines.values()), lines
    for name in ("read_file", "python", "web_search", "visit_webpage", "ask_user"):
        assert lines[f"tool {name}"][0], lines


def test_every_built_in_tool_is_tried() -> None:
    assert set(toolbox(Settings())) <= set(TRIALS)


def test_what_is_missing_is_named_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    known = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ddgs" else known(name))
    ok, detail = found()["tool web_search"]
    assert not ok
    assert detail.startswith("lacks the package ddgs: pip install ddgs")
    with pytest.raises(Lacks, match="the package ddgs: do this"):
        needs("ddgs", "do this")


def test_a_trial_that_breaks_is_told_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(settings: Settings) -> str:
        raise RuntimeError("no such thing")

    monkeypatch.setattr(doctor_tools, "TRIALS", {**TRIALS, "ask_user": broken})
    lines = found()
    assert lines["tool ask_user"] == (False, "lacks a working installation: RuntimeError: no such thing")
    assert lines["tool python"][0]


def test_own_tools_are_listed_and_a_broken_module_is_named(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "own_for_doctor.py").write_text(
        'def shout(text: str) -> str:\n    """Shout."""\n    return text\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("FORETHOUGHT_TOOLS", "own_for_doctor")
    checks = {check["name"]: check for check in cli("doctor", "--json").json["checks"]}
    assert checks["tool shout"] == {
        "name": "tool shout",
        "ok": True,
        "detail": "ready: loaded",
        "core": False,
    }
    lines = found(tools="no_such_module")
    assert lines["tools"][0] is False
    assert "no_such_module not found" in lines["tools"][1]
    assert "tool python" in lines
