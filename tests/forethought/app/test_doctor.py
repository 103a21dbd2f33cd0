"""doctor: what works on this machine, and what is missing by name."""

from __future__ import annotations

import sqlite3
import sys
import tomllib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from forethought.app import doctor
from forethought.app.doctor import run_checks
from forethought.extras import install_command
from forethought.settings import Settings
from tests.forethought.app.conftest import Cli
from tests.support.model_server import Answer, ModelServer, Reply, SeenRequest

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
    assert (checks["model keys"]["detail"], checks["model keys"]["core"]) == ("OPENAI_API_KEY", True)
    assert not (tmp_path / "data").exists(), "it leaves nothing behind"


def test_a_database_that_no_run_could_use(cli: Cli, scripted: Scripted, tmp_path: Path) -> None:
    scripted()
    assert cli("run", "x", "--db", "damaged.sqlite").code == 0
    content = (tmp_path / "damaged.sqlite").read_bytes()
    (tmp_path / "damaged.sqlite").write_bytes(content[:8192] + b"\xff" * (len(content) - 8192))
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as connection:
        connection.execute("CREATE TABLE checkpoints (name TEXT)")
    for name, said in (("damaged", "the file is damaged"), ("other", "another program")):
        ok, detail = found(db=f"{name}.sqlite")["database"]
        assert (ok, said in detail) == (False, True), detail
    in_the_way = cli("doctor", "--db", str(tmp_path / "other.sqlite" / "t.sqlite"))
    assert (in_the_way.code, "runs cannot start; fix: database" in in_the_way.out) == (1, True)


@pytest.mark.parametrize(
    ("variables", "code", "said"),
    [
        ({}, 1, "runs cannot start; fix: model keys"),
        ({"FORETHOUGHT_MODEL": "openai:gpt-4.1"}, 1, "model openai:gpt-4.1 needs a key: set OPENAI_API_KEY"),
        ({"FORETHOUGHT_BASE_URL": "http://localhost:11434/v1"}, 0, "none is needed for the base URL"),
        ({"OPENAI_API_KEY": "sk-somekey"}, 0, "everything that a run needs works"),
        (
            {"OPENAI_API_KEY": "sk-somekey", "FORETHOUGHT_TOOLS": "no_such_tools"},
            1,
            "module no_such_tools not found",
        ),
        (
            {"OPENAI_API_KEY": "sk-somekey", "FORETHOUGHT_MCP_FILE": "no.json"},
            1,
            "runs cannot start; fix: tools",
        ),
        (
            {"OPENAI_API_KEY": "sk-somekey", "FORETHOUGHT_PLANNING_ERRORS_FILE": "no.yaml"},
            1,
            "planning errors no.yaml: cannot be read (No such file or directory)",
        ),
        (
            {"OPENAI_API_KEY": "sk-somekey", "FORETHOUGHT_ALLOWED_MODELS": "openai:a, openai:b"},
            0,
            "model openai:gpt-4.1 is not allowed here; allowed: openai:a, openai:b; set FORETHOUGHT_MODEL to",
        ),
    ],
)
def test_without_what_every_run_needs_nothing_works(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], code: int, said: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    done = cli("doctor")
    assert (done.code, said in " ".join(done.out.split())) == (code, True), done.out


def test_tracing_without_its_extra(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETHOUGHT_TRACING", "otel")
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    done = cli("doctor", "--json")
    checks = {check["name"]: check for check in done.json["checks"]}
    assert install_command("otel") in checks["tracing"]["detail"]
    assert (done.code, checks["tracing"]["ok"], checks["tools"]["ok"]) == (1, False, True)


def test_weak_secrets_are_told_by_name_never_by_value(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_PASSWORD", "hunterhunter")
    monkeypatch.setenv("SHOP_URL", "https://ann:swordfish@example.org")
    monkeypatch.setenv("LICENCE", "bluebirds")
    monkeypatch.setenv("SHOP_API_KEY", "9aK3xw7Lq0ZtB5vRmN2c")
    monkeypatch.setenv("FORETHOUGHT_SECRETS", "LICENCE, seventeenandfour")
    said = cli("doctor", "--json")
    checks = {check["name"]: check for check in said.json["checks"]}
    assert checks["secrets"]["ok"] is False
    assert all(name in checks["secrets"]["detail"] for name in ("SHOP_PASSWORD", "SHOP_URL", "LICENCE"))
    assert "SHOP_API_KEY" not in checks["secrets"]["detail"]
    assert "1 of the listed variables are not set;" in checks["FORETHOUGHT_SECRETS"]["detail"]
    shown = said.out + said.err + cli("doctor").out
    values = ("hunterhunter", "swordfish", "bluebirds", "9aK3xw7Lq0", "seventeenandfour")
    assert [value for value in values if value in shown] == []


def test_a_misspelt_variable_is_named_with_the_nearest_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETHOUGHT_MAX_TOKEN", "5000")
    monkeypatch.setenv("FORETHOUGHT_WEATHER", "fine")
    monkeypatch.setenv("FORETHOUGHT_DEBUG", "1")
    checks = found()
    assert checks["FORETHOUGHT_MAX_TOKEN"] == (
        False, "is not a setting and has no effect; did you mean FORETHOUGHT_MAX_TOKENS?",
    )  # fmt: skip
    assert ".env.example" in checks["FORETHOUGHT_WEATHER"][1]
    assert "FORETHOUGHT_DEBUG" not in checks
    assert "FORETHOUGHT_DATA_DIR" not in checks


def test_a_missing_extra_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    known = doctor.version

    def missing(package: str) -> str:
        if package == "openai-whisper":
            raise doctor.PackageNotFoundError
        return known(package)

    monkeypatch.setattr(doctor, "version", missing)
    assert found()["local transcription"] == (
        False, f"not installed: {install_command('audio')}",
    )  # fmt: skip


def test_every_extra_and_its_package_are_those_of_the_project() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert {extra for _, _, extra in doctor._EXTRAS} == set(extras) - {"dev"}
    for _, package, extra in doctor._EXTRAS:
        assert any(requirement.startswith(package) for requirement in extras[extra])


def test_it_tries_out_each_form_with_a_model(cli: Cli, model_server: Callable[..., ModelServer]) -> None:
    def policy(seen: SeenRequest) -> Answer:
        if seen.method == "functions":
            return Reply("I would paint the wall red.")
        return "A river." if seen.method == "text" else {"colour": "red"}

    server = model_server(policy, refuses=("schema",))
    done = cli("doctor", "--model", "m", "--base-url", server.url, "--json")
    assert done.code == 0, done.err
    works = {form["what"]: form["works"] for form in done.json["forms"]}
    assert not works["JSON schema"]
    assert not works["choice of functions"]
    assert {"forced function", "schema in the prompt", "streaming"} <= {what for what in works if works[what]}
    assert all(form["seconds"] >= 0 for form in done.json["forms"])
    assert all(seen.body["max_tokens"] == 48 for seen in server.requests)


def test_a_model_that_is_not_there_is_told_in_one_line(cli: Cli) -> None:
    done = cli("doctor", "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert done.code == 2
    assert "gives no reply" in done.err
