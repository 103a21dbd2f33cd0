"""run --demo: the packaged recording against the present prompts, tools and files, and replays that wait."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.forethought.app.conftest import Cli

Scripted = Callable[..., Any]
DEMO = Path(__file__).parents[3] / "demo"


def test_the_demo_shows_what_the_agent_does(cli: Cli) -> None:
    done = cli("run", "--demo", "--json")
    assert done.code == 0, done.err[-2000:]
    result = done.json
    assert result["status"] == "answered"
    assert json.loads((DEMO / "expected.json").read_text("utf-8"))["answer"] in result["answer"]
    assert {source["origin"] for source in result["sources"]} == {"file:claims.xlsx"}

    (review,) = result["plan_reviews"]
    assert review["revised"]
    assert any("withdrawn" in error["evidence"] for error in review["errors"])
    assert {step["tool"] for step in result["steps"]} >= {"python"}
    assert all(check["ok"] == "yes" for check in result["checks"])
    assert 0 < len(result["checks"]) <= 8


@pytest.mark.skipif(not (DEMO / "folder.jsonl").exists(), reason="needs the recording demo/folder.jsonl")
def test_the_demo_on_a_folder_reads_each_complaint_of_a_month(cli: Cli) -> None:
    done = cli("run", "--demo", "folder", "--json")
    assert done.code == 0, done.err[-2000:]
    assert done.json["status"] == "answered"
    assert "14" in done.json["answer"]
    (step,) = [step for step in done.json["steps"] if step["tool"] == "read_each"]
    assert "60 files: 60 ok" in step["observation"]


def test_settings_for_other_runs_do_not_reach_the_demo(cli: Cli) -> None:
    settings = (
        "context_tokens=32000",
        "max_tokens=5000",
        "python_backend=sandlock",
        "require_plan_approval=true",
    )
    assert cli("config", "set", *settings).code == 0
    assert cli("run", "--demo").code == 0


def test_the_screen_says_what_is_recorded_and_how_to_run_it_live(cli: Cli) -> None:
    done = cli("run", "--demo")
    assert done.code == 0, done.err[-2000:]
    header = json.loads((DEMO / "recording.jsonl").read_text("utf-8").split("\n", 1)[0])
    assert "recorded" in done.out
    assert ("planted" in done.out) == header["planted_first_plan"]
    for said in (
        "Reflector:",
        "Revised",
        "withdrawn",
        "wave 2",
        "answered",
        "exchange-rates.html",
    ):
        assert said in done.out
    assert "--model openai:gpt-4.1" in done.out
    assert len(cli("threads", "--json").json) == 1, "a thread of its own in the usual database"


def test_a_demo_that_is_not_installed_says_so(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("forethought.app.demo.demo_folder", lambda: tmp_path)
    done = cli("run", "--demo")
    assert (done.code, "cannot read the recording" in done.err) == (2, True)


def test_a_replay_that_waits_names_its_recording_again(cli: Cli, scripted: Scripted) -> None:
    _, server = scripted()
    flags = ["--thread", "t1", "--set", "approve_plan=true"]
    assert cli("run", "What is 40 + 2?", *flags, "--record", "one.jsonl").code == 4
    server.close()
    waits = cli("run", "What is 40 + 2?", "--replay", "one.jsonl")
    assert waits.code == 4
    assert "--replay one.jsonl --reply approve" in waits.err
