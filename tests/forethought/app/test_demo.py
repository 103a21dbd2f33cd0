"""run --demo: the packaged example, replayed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forethought.app import demo
from tests.forethought.app.conftest import Cli

Scripted = Callable[..., Any]


@pytest.fixture
def own_demo(cli: Cli, scripted: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A demo folder with a recording made here."""
    _, server = scripted()
    folder = tmp_path / "own demo"
    (folder / "files").mkdir(parents=True)
    (folder / "question.txt").write_text("What is 40 + 2?\n")
    (folder / "files" / "notes.txt").write_text("nothing to see")
    recording = folder / "recording.jsonl"
    flags = ["--file", str(folder / "files" / "notes.txt"), "--set", "max_steps=6"]
    assert cli("run", "What is 40 + 2?", *flags, "--record", str(recording)).code == 0
    first, *rest = recording.read_text().splitlines()
    header = {**json.loads(first), "model": "openai:m-1", "planted_first_plan": True}
    recording.write_text("\n".join([json.dumps(header), *rest]) + "\n")
    server.close()
    monkeypatch.setattr(demo, "demo_folder", lambda: folder)
    return folder


def test_the_demo_says_what_is_recorded_and_runs_the_rest(cli: Cli, own_demo: Path) -> None:
    done = cli("run", "--demo")
    assert done.code == 0, done.err
    for part in (
        "recorded, from a real run of openai:m-1", "The first plan was planted",
        "forethought run \"$(cat 'own demo/question.txt')\" --file 'own demo/files/notes.txt'",
        "answered  score 9",
    ):  # fmt: skip
        assert part in done.out, part
    assert len(cli("threads", "--json").json) == 2, "a thread of its own in the usual database"
    as_json = cli("run", "--demo", "--json")
    assert as_json.json["answer"] == "42"


def test_a_demo_without_its_recording_says_so(cli: Cli, own_demo: Path) -> None:
    (own_demo / "recording.jsonl").unlink()
    done = cli("run", "--demo")
    assert (done.code, "cannot read the recording" in done.err) == (2, True)


def test_the_demo_of_the_checkout_is_found() -> None:
    task, files = demo.demo_folder() / "question.txt", demo.demo_folder() / "files"
    assert task.is_file()
    assert [path.name for path in sorted(files.iterdir())] == [
        "claims.xlsx", "exchange-rates.html", "travel-rules.pdf",
    ]  # fmt: skip


def test_a_replay_that_waits_names_its_recording_again(cli: Cli, scripted: Scripted) -> None:
    _, server = scripted()
    flags = ["--thread", "t1", "--set", "approve_plan=true"]
    assert cli("run", "What is 40 + 2?", *flags, "--record", "one.jsonl").code == 4
    server.close()
    waits = cli("run", "What is 40 + 2?", "--replay", "one.jsonl")
    assert waits.code == 4
    assert "--replay one.jsonl --reply approve" in waits.err
