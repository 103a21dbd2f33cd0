"""doctor: what works on this machine, and what is missing by name."""

from __future__ import annotations

import importlib.util
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from forethought.app.doctor import run_checks
from forethought.settings import Settings
from tests.forethought.app.conftest import Cli

Scripted = Callable[..., Any]


def found(**options: Any) -> dict[str, tuple[bool, str]]:
    return {check.name: (check.ok, check.detail) for check in run_checks(Settings(**options))}


def test_it_checks_the_core_and_shows_no_key(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scripted: Scripted
) -> None:
    scripted()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key")
    monkeypatch.setenv("FORETHOUGHT_API_KEY", "another-secret-key")
    done = cli("doctor", "--json")
    assert done.code == 0, done.out
    assert "secret-key" not in done.out + done.err + cli("doctor").out
    checks = {check["name"]: check for check in done.json["checks"]}
    for name in ("python", "langgraph", "database", "python sandbox", "tools", "base URL"):
        assert checks[name]["ok"], checks[name]
    assert checks["model keys"] == {
        "name": "model keys",
        "ok": True,
        "detail": "OPENAI_API_KEY",
        "core": False,
    }
    assert not (tmp_path / "data").exists(), "it leaves nothing behind"


def test_what_does_not_work_is_named_without_a_password(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    database, address = str(tmp_path / "file" / "t.sqlite"), "http://user:pw1234@127.0.0.1:1/v1"
    done = cli("doctor", "--db", database, "--base-url", address)
    assert done.code == 1
    assert "the core does not work" in done.out
    assert "http://127.0.0.1:1/v1: ConnectError" in done.out
    assert "pw1234" not in done.out


def test_a_database_that_no_run_could_use(cli: Cli, scripted: Scripted, tmp_path: Path) -> None:
    scripted()
    assert cli("run", "x", "--db", "damaged.sqlite").code == 0
    content = (tmp_path / "damaged.sqlite").read_bytes()
    (tmp_path / "damaged.sqlite").write_bytes(content[:8192] + b"\xff" * (len(content) - 8192))
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as connection:
        connection.execute("CREATE TABLE checkpoints (name TEXT)")
    for name, said in (("damaged", "the file is damaged"), ("other", "another program's")):
        ok, detail = found(db=f"{name}.sqlite")["database"]
        assert (ok, said in detail) == (False, True), detail


def test_an_optional_package_that_is_missing_is_named_with_its_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ddgs" else known(name))
    assert found()["web search"][1].startswith("not installed: pip install ddgs")


def test_own_tools_are_listed_and_a_broken_module_is_named(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "own_for_doctor.py").write_text('def shout(text: str) -> str:\n    """Shout."""\n')
    monkeypatch.syspath_prepend(tmp_path)
    assert found(tools="own_for_doctor")["tools"][1].endswith(", shout")
    ok, detail = found(tools="no_such_module")["tools"]
    assert (ok, "no_such_module not found" in detail) == (False, True)
