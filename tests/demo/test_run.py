"""The demo as a newcomer sees it: the packaged recording against the present prompts, tools and files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DEMO = Path(__file__).resolve().parents[2] / "demo"
KEYS = {
    "thread_id",
    "status",
    "answer",
    "sources",
    "score",
    "rounds",
    "plan",
    "plan_reviews",
    "steps",
    "replans",
    "usage",
    "seconds",
}


def run_demo(folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """`forethought run --demo`, in a process of its own, with nowhere to send a request to."""
    return subprocess.run(
        [sys.executable, "-m", "forethought.app.main", "run", "--demo", *flags],
        env={
            **os.environ,
            "FORETHOUGHT_DATA_DIR": str(folder),
            "COLUMNS": "120",
            "PYTHONPATH": str(DEMO.parent),
        },
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The one object of `--json`."""
    done = run_demo(tmp_path_factory.mktemp("demo"), "--json")
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_it_answers_rightly_from_the_files(result: dict[str, Any]) -> None:
    expected = json.loads((DEMO / "expected.json").read_text("utf-8"))
    assert result.keys() == KEYS
    assert result["status"] == "answered"
    assert expected["answer"] in result["answer"]
    origins = {part for source in result["sources"] for part in source["origin"].split(", ")}
    assert {"file:claims.xlsx", "file:travel-rules.pdf", "file:exchange-rates.html"} <= origins


def test_a_planning_error_is_found_and_the_plan_revised(result: dict[str, Any]) -> None:
    first = result["plan_reviews"][0]
    assert first["errors"]
    assert first["revised"]
    assert result["plan_reviews"][-1]["errors"] == []


def test_the_files_cause_a_new_plan(result: dict[str, Any]) -> None:
    asked = [replan for replan in result["replans"] if not replan["forced"]]
    assert asked
    assert "Salzburg" in asked[0]["reason"]


def test_subtasks_run_side_by_side_and_then_what_depends_on_them(result: dict[str, Any]) -> None:
    first_wave = [step for step in result["steps"] if step["wave"] == 1]
    assert len(first_wave) >= 2
    assert {step["tool"] for step in result["steps"]} >= {"read_file", "python"}
    assert any(subtask["depends_on"] for subtask in result["plan"]["subtasks"])


def test_the_screen_says_what_is_recorded_and_what_was_planted(tmp_path: Path) -> None:
    done = run_demo(tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    header = json.loads((DEMO / "recording.jsonl").read_text("utf-8").split("\n", 1)[0])
    assert "recorded" in done.stdout
    assert ("planted" in done.stdout) == header["planted_first_plan"]
    assert "--model openai:gpt-4.1" in done.stdout
    for said in ("Reflector:", "Revised", "side by side", "re-plan after step", "answered"):
        assert said in done.stdout
