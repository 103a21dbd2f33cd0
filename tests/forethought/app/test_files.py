"""--file: what a person may name, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forethought.app.errors import CliError
from forethought.app.files import input_files, with_all_files
from forethought.settings import Settings
from forethought.tools.files import FilesError, FileStore
from tests.forethought.app.conftest import Cli
from tests.support.web_server import Asked, Sent, WebServer

Scripted = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `in` with files, which is beside the current one."""
    for name in ("a.csv", "b.csv", "note.txt", "deep/a.csv", ".git/config", ".hidden"):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def named(*names: str, **options: Any) -> list[str]:
    return [file["name"] for file in input_files(names, Settings(**options)).files]


def test_files_folders_and_patterns(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert named("in") == ["a.csv", "b.csv", "note.txt", "deep/a.csv"]
    assert named("in/*.csv", "in/a.csv", "in/note.txt") == ["a.csv", "b.csv", "note.txt"]
    assert named("in/**/a.csv") == ["in/a.csv", "deep/a.csv"]
    (folder / "in/x[1].csv").write_text("brackets")
    assert named("in/x[1].csv") == ["x[1].csv"]
    monkeypatch.setenv("HOME", str(folder))
    assert named("~/in/note.txt") == ["note.txt"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("in/*.pdf", "no file matches the pattern"),
        ("none", "no such file"),
        ("empty", "has no files"),
    ],
)
def test_what_leads_to_nothing_is_told(folder: Path, name: str, said: str) -> None:
    (folder / "empty").mkdir()
    with pytest.raises((CliError, FilesError), match=said):
        named(name)


def test_an_address_is_read_by_the_guarded_reader(folder: Path) -> None:
    def answer(asked: Asked) -> Sent:
        return Sent("gone", 404) if asked.path == "/gone" else Sent(f"page {asked.path}")

    server = WebServer(answer)
    try:
        with pytest.raises(CliError, match=r"--file http://127\.0\.0\.1") as refused:
            named(f"{server.url}/report")
        assert server.asked == [], str(refused.value)
        allowed = Settings(allowed_hosts=("127.0.0.1",))
        page, other = input_files([f"{server.url}/report?x=1", f"{server.url}/old%20data.csv"], allowed).files
        assert (page["name"], other["name"]) == ("report.html", "old data.csv")
        assert FileStore.of(allowed).get(page["hash"]) == b"page /report?x=1"
        with pytest.raises(CliError, match="answered 404"):
            input_files([f"{server.url}/gone"], allowed)
    finally:
        server.close()


def test_one_flag_takes_several_values(folder: Path) -> None:
    given = [
        "run",
        "--file",
        "in/a.csv",
        "in/b.csv",
        "http://x.test/c",
        "in/*.txt",
        "Why?",
        "-f",
        "no.txt",
        "in/note.txt",
    ]
    assert with_all_files(given) == [
        *("run", "--file", "in/a.csv", "--file", "in/b.csv", "--file", "http://x.test/c"),
        *("--file", "in/*.txt", "Why?"),
        *("-f", "no.txt", "--file", "in/note.txt"),
    ]
    assert with_all_files(["show", "in"]) == ["show", "in"]
    assert with_all_files(["run", "in", "--file", "in"]) == ["run", "in", "--file", "in"], "a task"


def test_a_run_is_given_them_all(cli: Cli, scripted: Scripted, folder: Path) -> None:
    _, server = scripted()
    done = cli("run", "--file", "in/a.csv", "in/b.csv", "What is 40 + 2?")
    assert done.code == 0, done.err
    assert all(name in server.requests[0].text for name in ("a.csv", "b.csv"))
