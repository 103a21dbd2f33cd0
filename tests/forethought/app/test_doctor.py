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
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key")
    monkeypatch.setenv("FORETHOUGHT_API_KEY", "another-secret-key")
    done = cli("doctor", "--json")
    assert done.code == 0, done.out
    assert "secret-key" not in done.out + done.err + cli("doctor").out
    checks = {check["name"]: check for check in done.json["checks"]}
    assert checks["python"]["ok"]
    assert checks["database"]["ok"]
    assert (checks["model keys"]["detail"], checks["model keys"]["core"]) == ("OPENAI_API_KEY", False)
    assert not (tmp_path / "data").exists(), "it leaves nothing behind"


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
    in_the_way = cli("doctor", "--db", str(tmp_path / "other.sqlite" / "t.sqlite"))
    assert (in_the_way.code, "the core does not work" in in_the_way.out) == (1, True)


def test_an_optional_package_that_is_missing_is_named_with_its_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "ddgs" else known(name))
    assert found()["web search"][1].startswith("not installed: pip install ddgs")
