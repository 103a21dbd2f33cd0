"""A folder at the command line: given to a run, looked at again by a chat, listed and forgotten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.forethought.app.conftest import Cli
from tests.forethought.app.scripted import choice
from tests.forethought.app.test_chat import Talk, talk
from tests.support.folders import write
from tests.support.replies import plan, sub

__all__ = ["talk"]
READ = {
    "files": "*.txt",
    "question": "What is it about?",
    "fields": [{"name": "about", "type": "text", "description": None}],
    "table": None,
}
QUOTED = {"quote": "Letter", "value": "a letter"}
Scripted = Callable[..., Any]


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    return write(tmp_path / "letters", {f"{n}.txt": f"Letter {n}." for n in range(40)})


def test_a_run_is_given_a_folder_without_what_is_excluded(
    cli: Cli, scripted: Scripted, letters: Path
) -> None:
    _, server = scripted()
    write(letters, {"a.log": "x", "broken.docx": b"PK\x03\x04"})
    done = cli("run", "What is 40 + 2?", "--file", "letters", "--exclude", "*.log", "--set", "effort=low")
    assert done.code == 0, done.err
    assert "letters: 41 files; 1 cannot be read (broken.docx is damaged" in " ".join(done.err.split())
    assert "All names:\n0.txt, 1.txt, 10.txt" in server.requests[0].text
    assert "a.log" not in server.requests[0].text


def test_folders_are_listed_and_forgotten(cli: Cli, scripted: Scripted, letters: Path) -> None:
    scripted()
    cli("run", "What is 40 + 2?", "--file", "letters")
    (kept,) = cli("files", "list", "--json").json
    assert (kept["folder"], kept["files"], kept["unreadable"]) == (str(letters), 40, 0)
    assert cli("files", "forget", "none").code == 2
    assert cli("files", "forget", "letters").code == 0
    assert "no folders" in cli("files", "list").out
    assert (letters / "0.txt").exists()


def test_a_chat_tells_what_is_new_between_turns(talk: Talk, scripted: Scripted, letters: Path) -> None:
    script, _ = scripted()
    begun = iter([True])

    def add(seen: Any) -> None:
        if seen.reply_name == "AnswerDraft" and next(begun, False):
            write(letters, {"new.txt": "x"})

    script.fault = add
    said = talk("What is 40 + 2?\r", "And 6 * 7?\r", "/files\r", "/exit\r", flags=("--file", "letters"))
    assert "letters: 40 files" in said.out, said
    assert "letters: 41 files; 1 added (new.txt)" in said.out


def test_a_chat_asks_before_many_files_are_read_and_takes_a_no(
    talk: Talk, scripted: Scripted, letters: Path
) -> None:
    script, _ = scripted()
    script.plan = lambda seen: plan({**sub("read"), "calls": [{"tool": "read_each", "arguments": READ}]})
    script.rows = lambda seen: {"rows": [{"document": n, "about": QUOTED} for n in range(1, 41)]}
    script.toolchoice = lambda seen: choice("finish", result="nothing was read")
    flags = ("--file", "letters", "--set", "max_read_each_files=20", "--set", "effort=auto")
    said = talk("What are they about?\r", "2\r", "Again?\r", "1\r", "Again?\r", "/exit\r", flags=flags)
    told = " ".join(said.out.split())
    assert said.code == 0
    assert "the person does not want so many files to be read" in told
    assert told.count("40 files: 40 ok") == 2
    assert told.count("1. read them 2. do not") == 2, "the third time all files have been read"
