"""debug FOLDER: many recorded runs, what recurs in them, and their list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.forethought.app.conftest import Cli
from tests.forethought.app.debug_script import Start, trajectory, write
from tests.support.model_server import Fault

REPLIES = 'search replies "Could not find that page, please try again."'
BROKEN = {"tool": "search", "observation": "Could not find that page, please try again."}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four failed runs, three of which met a broken tool, and a successful one."""
    folder = tmp_path / "logs"
    folder.mkdir()
    for number in range(1, 6):
        changes: dict[int, Any] = {2: BROKEN} if number in (1, 2, 4) else {}
        run = trajectory(
            f"r{number}",
            task=f"Find key {number}.",
            task_id=f"t{number}",
            halted=number == 2,
            changes=changes,
        )
        outcome = "success" if number == 3 else "failure"
        write(folder / f"{number}.json", {"trajectory": run, "reference": {"outcome": outcome}})
    return folder


def test_runs_are_listed_free_of_charge(cli: Cli, debugging: Start, folder: Path) -> None:
    _, server = debugging()
    listed = cli("debug", "logs", "--list", "--json").json
    assert listed["runs"][1] == {
        "id": "r2", "task_id": "t2", "task": "Find key 2.", "outcome": "failure", "steps": 3, "halted": True
    }  # fmt: skip
    assert [run["id"] for run in listed["runs"]] == ["r1", "r2", "r3", "r4", "r5"]
    shown = cli("debug", "logs", "--list", "--failed", "--limit", "2").out
    assert [name in shown for name in ("r1", "r2", "r3", "r4")] == [True, True, False, False]
    assert f"2 of 2 runs (2 of 2 calls; 0 of 1 that succeeded): {REPLIES}" in shown
    assert not server.requests


def test_failed_runs_are_debugged_with_a_table_that_begins_with_what_recurs(
    cli: Cli, debugging: Start, folder: Path
) -> None:
    _, server = debugging(critical_step=2, evidence="open drawer 2")
    shown = cli("debug", "logs", "--failed")
    assert shown.code == 0, shown.err
    assert "note: estimate: about 16 calls" in shown.out
    assert shown.out.index("estimate") < shown.out.index("debugging r1")
    table = shown.out[shown.out.index("Recurring in 4 runs") :]
    broken = f"3 of 4 runs (3 of 3 calls, 3 critical; 0 of 1 that succeeded): {REPLIES}"
    parts = (
        broken,
        "4 of 4 runs: action, parameter_error is critical (at step 2)",
        "r1", "failure", "found", "step 2, action: parameter_error",
    )  # fmt: skip
    places = [table.index(part) for part in parts]
    assert places[:3] == sorted(places[:3])
    assert "r3" not in table
    assert len(server.requests) == 16


def test_the_same_command_goes_on_and_repeats_no_call(cli: Cli, debugging: Start, folder: Path) -> None:
    script, server = debugging(critical_step=2, evidence="open drawer 2")
    script.fault = lambda seen: Fault("503") if "Find key 4." in seen.text else None
    broken = cli("debug", "logs", "--failed", "--limit", "3", "--json")
    assert broken.code == 1
    assert [run["status"] for run in broken.json["runs"]] == ["found", "found", "failed"]
    assert "to continue, repeat the command" in broken.err
    calls = len(server.requests)
    script.fault = lambda seen: None
    done = cli("debug", "logs", "--failed", "--limit", "3", "--json")
    assert (done.code, [run["status"] for run in done.json["runs"]]) == (0, ["found"] * 3), done.err
    assert len(server.requests) == calls + 4
    assert done.json["usage"]["calls"] == 12
    recurring = done.json["recurring"]["tool_errors"]
    assert [(each["tool"], sorted(each["steps"]), each["critical"]) for each in recurring] == [
        ("search", ["r1", "r2", "r4"], 3)
    ]
    assert done.json["recurring"]["error_types"][0] == {
        "module": "action",
        "error_type": "parameter_error",
        "critical": {"r1": 2, "r2": 2, "r4": 2},
        "labels": {"r1": [2], "r2": [2], "r4": [2]},
    }


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            ("logs",),
            "holds 5 runs; list them with --list, debug several with --failed or --limit N",
        ),
        (("t1", "--list"), "--list, --failed and --limit need recorded runs"),
        (("logs", "--trajectory", "logs"), "either a THREAD or"),
        (("logs", "--failed", "--pick", "r3"), "records no failed run"),
    ],
)
def test_a_line_says_what_to_do(
    cli: Cli, debugging: Start, folder: Path, line: tuple[str, ...], words: str
) -> None:
    debugging()
    refused = cli("debug", *line)
    assert (refused.code, words in refused.err) == (2, True), refused.err
