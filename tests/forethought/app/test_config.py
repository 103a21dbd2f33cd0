"""config: a user's settings are kept once, below .env and the environment."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from forethought.app.command_flags import load_dotenv, user_file
from tests.forethought.app.conftest import Cli, Serve
from tests.forethought.app.scripted import Script


@pytest.fixture(autouse=True)
def environment() -> Iterator[None]:
    """What a command loads from files is gone after the test."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


def forget(*names: str) -> None:
    """As a new process begins."""
    for name in names:
        os.environ.pop(f"FORETHOUGHT_{name}", None)


def test_a_model_and_its_address_are_set_once_and_a_run_needs_no_flag(
    cli: Cli, served: Serve, tmp_path: Path
) -> None:
    server = served(Script())
    forget("BASE_URL", "MODEL")
    done = cli("config", "set", "model=openai:kept", f"base_url={server.url}")
    assert (done.code, done.out) == (0, f"saved in {user_file()}\n")
    assert user_file().stat().st_mode & 0o777 == 0o600
    assert cli("run", "What is 40 + 2?").code == 0
    assert server.requests[0].body["model"] == "kept"
    assert "model = openai:kept  (config)\n" in cli("config", "show").out
    assert "FORETHOUGHT_MODEL (config)" in " ".join(cli("doctor").out.split())

    forget("BASE_URL", "MODEL")
    (tmp_path / ".env").write_text("FORETHOUGHT_MODEL=openai:folder\n")
    assert "model = openai:folder  (.env)\n" in cli("config", "show").out
    os.environ["FORETHOUGHT_MODEL"] = "openai:shell"
    assert cli("config", "show", "--json").json["model"] == {"value": "openai:shell", "from": "environment"}

    assert cli("config", "unset", "model", "base_url").code == 0
    assert user_file().read_text() == ""
    assert cli("config", "path").out == f"{user_file()}\n"


def test_a_key_is_asked_for_and_never_shown(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typer.prompt", lambda name, hide_input: f"sk-{name}-{hide_input}")
    monkeypatch.setattr("sys.stdin", io.StringIO("sk-piped\n"))
    assert cli("config", "set", "XAI_API_KEY").err == ""
    assert "XAI_API_KEY='sk-piped'" in user_file().read_text()
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    assert cli("config", "set", "OPENAI_API_KEY", "api_key=sk-it's \\ mine").code == 0
    assert "OPENAI_API_KEY='sk-OPENAI_API_KEY-True'" in user_file().read_text()
    shown = cli("config", "show")
    lines = shown.out.splitlines()
    assert {"api_key = (set)  (config)", "OPENAI_API_KEY = (set)  (config)"} <= set(lines)
    assert "sk-" not in shown.out + shown.err
    assert os.environ["FORETHOUGHT_API_KEY"] == "sk-it's \\ mine"


def test_a_key_is_not_sent_to_an_address_that_a_folder_names(tmp_path: Path) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text("FORETHOUGHT_BASE_URL=http://mine/v1\nFORETHOUGHT_API_KEY=sk-mine\n")
    load_dotenv(tmp_path)
    assert os.environ.pop("FORETHOUGHT_API_KEY") == "sk-mine"
    forget("BASE_URL")
    (tmp_path / ".env").write_text("FORETHOUGHT_BASE_URL=http://theirs/v1\n")
    load_dotenv(tmp_path)
    assert "FORETHOUGHT_API_KEY" not in os.environ


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("set", "modle=openai:x"), "'modle' is not a setting: did you mean model?"),
        (("set", "model"), "model: write NAME=VALUE"),
        (("set", "model=no model"), "model: write provider:name"),
        (("set", "base_url=host:80", "model=openai:x"), "base_url: must look like https://host/v1"),
        (("set", "api_key=sk-ä"), "api_key: cannot be a key"),
        (("unset", "model"), "model is not set in"),
    ],
)
def test_wrong_use_is_one_line_and_changes_nothing(cli: Cli, arguments: tuple[str, ...], said: str) -> None:
    done = cli("config", *arguments)
    assert (done.code, done.err.count("\n"), said in done.err) == (2, 1, True), done
    assert "sk-" not in done.err
    assert not user_file().exists()
