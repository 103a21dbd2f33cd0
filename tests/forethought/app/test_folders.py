"""A folder at the command line: given to a run, looked at again by a chat, listed and forgotten."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.forethought.app.conftest import Cli, Serve
from tests.forethought.app.scripted import choice
from tests.forethought.app.test_chat import Talk, talk
from tests.graph.test_read_each import READING, documents
from tests.support.agent import Script
from tests.support.folders import write
from tests.support.model_server import SeenRequest
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


def test_what_was_read_in_a_folder_is_forgotten_with_it(cli: Cli, served: Serve, tmp_path: Path) -> None:
    def rows(seen: SeenRequest) -> Any:
        found = [(int(number), text) for number, _, text in documents(seen)]
        return {
            "rows": [{"document": number, "total": {"value": 1, "quote": text}} for number, text in found]
        }

    write(tmp_path / "bills", {f"{n}.txt": f"Bill {n}: 1 euro" for n in range(40)})
    server = served(Script(plans=READING, rows=rows))
    for _ in range(2):
        assert cli("run", "Sum?", "--file", "bills").code == 0
    readings = sum("<document number" in seen.text for seen in server.requests)
    assert readings == 5, "four calls and a sample, paid once"
    assert cli("files", "forget", "bills").code == 0
    (base,) = tmp_path.rglob("readings.sqlite")
    with closing(sqlite3.connect(base)) as opened:
        for table in ("readings", "tables"):
            assert opened.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


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
