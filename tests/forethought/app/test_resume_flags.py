"""A database is data: it names neither code that is imported nor an address that a key is sent to."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from forethought.app.command_flags import Flags
from forethought.app.options import resume_flags
from tests.forethought.app.conftest import Cli
from tests.forethought.app.debug_script import Start, failed_run, trajectory, write
from tests.forethought.app.scripted import Script
from tests.support.model_server import ModelServer

Scripted = Callable[..., tuple[Script, ModelServer]]
EVIL = """
from pathlib import Path

Path("imported").write_text("")

def answer(x: int) -> str:
    \"\"\"Answer.\"\"\"
    return "x"
"""


def forge(key: str, **changes: Any) -> None:
    """Change what the newest checkpoints say that their thread was run with."""
    with closing(sqlite3.connect("data/threads.sqlite")) as database, database:
        for row, text in database.execute("SELECT rowid, metadata FROM checkpoints").fetchall():
            metadata = json.loads(text)
            if key in metadata:
                metadata[key] = json.dumps(json.loads(metadata[key]) | changes)
                given = (json.dumps(metadata).encode(), row)
                database.execute("UPDATE checkpoints SET metadata = ? WHERE rowid = ?", given)


@pytest.fixture
def evil(cli: Cli, tmp_path: Path) -> Callable[[], bool]:
    """A module in the folder of the command; whether it was imported."""
    (tmp_path / "evil_of_this_test.py").write_text(EVIL)
    sys.modules.pop("evil_of_this_test", None)
    return lambda: (tmp_path / "imported").exists()


GOING_ON = [
    ("resume", "t1", "--reply", "red"),
    ("fork", "t1", "--before", "1"),
    ("run", "next", "--thread", "t1"),
    ("debug", "t1"),
]


def test_a_module_that_a_database_names_is_not_imported(
    cli: Cli, scripted: Scripted, evil: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, server = scripted(question="Which colour?")
    assert cli("run", "What is it?", "--thread", "t1").code == 4
    forge("forethought", tools="evil_of_this_test")
    asked = len(server.requests)
    for command in GOING_ON:
        refused = cli(*command)
        assert refused.code == 2, command
        assert refused.err == (
            "forethought: thread t1 was run with --tools evil_of_this_test, which is code: repeat --tools "
            "evil_of_this_test\n"
        )
    for command in (("show", "t1"), ("show", "t1", "--steps"), ("threads",), ("show", "t1", "--branches")):
        assert cli(*command).code == 0
    assert not evil()
    assert len(server.requests) == asked

    monkeypatch.setenv("FORETHOUGHT_TOOLS", "another_module")
    assert cli(*GOING_ON[0]).code == 2, "the environment names another one"
    monkeypatch.setenv("FORETHOUGHT_TOOLS", "evil_of_this_test")
    assert cli(*GOING_ON[0]).code == 0, "the operator has named it"
    assert evil()


def test_nothing_is_sent_to_an_address_that_a_database_names(
    cli: Cli,
    scripted: Scripted,
    model_server: Callable[..., ModelServer],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script, server = scripted(question="Which colour?")
    foreign = model_server(script)
    monkeypatch.setenv("FORETHOUGHT_API_KEY", "sk-of-the-operator")
    assert cli("run", "What is it?", "--thread", "t1").code == 4
    forge("forethought", base_url=foreign.url)
    for environment in (server.url, ""):
        monkeypatch.setenv("FORETHOUGHT_BASE_URL", environment)
        for command in GOING_ON:
            refused = cli(*command)
            assert refused.code == 2, command
            assert f"thread t1 was run with --base-url {foreign.url}" in refused.err
            assert "repeat --base-url, or name another address" in refused.err
    assert foreign.requests == []
    done = cli("resume", "t1", "--reply", "red", "--base-url", server.url)
    assert done.code == 0, done.err
    assert foreign.requests == []


def test_what_has_to_be_given_again_is_in_the_command_that_goes_on(
    cli: Cli, scripted: Scripted, evil: Callable[[], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, server = scripted(question="Which colour?")
    monkeypatch.delenv("FORETHOUGHT_BASE_URL")
    given = ("--tools", "evil_of_this_test", "--base-url", server.url, "--db", "my threads.sqlite")
    waits = cli("run", "What is it?", "--thread", "t1", *given)
    assert waits.code == 4
    flags = f"--db 'my threads.sqlite' --tools evil_of_this_test --base-url {server.url}"
    assert f'forethought resume t1 {flags} --reply "YOUR ANSWER"' in waits.err
    unfinished = cli("run", "Another", "--thread", "t1", *given)
    assert f"finish it with: forethought resume t1 {flags} (or" in unfinished.err
    assert f"with: forethought resume t1 {flags}" in cli("debug", "t1", *given).err
    assert cli("resume", "t1", "--reply", "red", *given).code == 0
    finished = cli("resume", "t1", *given)
    assert finished.err.endswith(f"forethought run TASK --thread t1 {flags}\n")


def test_no_password_is_in_the_command_that_goes_on() -> None:
    flags = Flags(base_url="http://me:secret@host/v1", db="postgresql://me:secret@host/threads")
    assert resume_flags(flags) == " --base-url http://host/v1"


def test_what_a_debugging_may_do_is_given_again(
    cli: Cli, debugging: Start, evil: Callable[[], bool], tmp_path: Path
) -> None:
    _, server = debugging()
    failed_run(cli, server)
    begun = ("debug", "t1", "--rerun", "--judge", "person")
    assert "resume debug:t1:1 --reply" in cli(*begun).err
    waits = cli(*begun, "--allow-writes")
    assert "resume debug:t1:2 --allow-writes --reply" in waits.err
    refused = cli("resume", "debug:t1:2", "--reply", "yes")
    assert refused.code == 2
    assert "debug:t1:2 was started with --allow-writes" in refused.err
    assert cli("resume", "debug:t1:2", "--reply", "yes", "--allow-writes").code == 0

    forge("forethought_debug", environment="evil_of_this_test:answer", thread=None)
    file = write(tmp_path / "r.json", trajectory())
    assert cli("debug", "--trajectory", file).code == 3, "a debugging of a trajectory"
    forge("forethought_debug", environment="evil_of_this_test:answer")
    for thread in ("debug:t1:1", "debug:r1:1"):
        assert cli("show", thread).code == 0
        refused = cli("resume", thread)
        assert refused.code == 2
        assert f"{thread} was run with --environment evil_of_this_test:answer, which is code" in refused.err
    assert not evil()
