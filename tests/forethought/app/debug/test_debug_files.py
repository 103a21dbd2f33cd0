"""debug --trajectory: recorded runs, the world they ran in, and folders that are measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.forethought.app.conftest import Cli
from tests.forethought.app.debug_script import GUIDANCE, Start, trajectory, write


def test_a_recorded_trajectory_is_debugged(cli: Cli, debugging: Start, tmp_path: Path) -> None:
    debugging(critical_step=2, evidence="open 2")
    file = write(tmp_path / "r.json", {"trajectory": trajectory("a/b c"), "reference": {"gold": ["the key"]}})
    found = cli("debug", "--trajectory", file, "--json")
    assert (found.code, found.json["status"]) == (0, "found"), found.err
    assert found.json["thread_id"] == "debug:a-b-c:1"
    assert found.json["verdict"]["by"] == "gold", "the file knows the answer"
    assert found.json["critical"]["critical_step"] == 2


def test_one_of_several_is_picked(cli: Cli, debugging: Start, tmp_path: Path) -> None:
    debugging(critical_step=2, evidence="open 2")
    file = write(tmp_path / "r.json", [trajectory(f"r{n}", task=f"Find key {n}.") for n in range(1, 15)])
    refused = cli("debug", "--trajectory", file)
    assert refused.code == 2
    assert "holds 14 trajectories: choose one with --pick: r1, r2," in refused.err
    assert "r10, … 4 more" in refused.err
    assert cli("debug", "--trajectory", file, "--pick", "r3", "--json").json["subject"]["id"] == "r3"
    assert (
        "holds no trajectory 'r99'; there are: r1," in cli("debug", "--trajectory", file, "--pick", "r99").err
    )


WORLD = """
from forethought.rollouts.types import EnvironmentReply

class World:
    name = "drawers"

    def __init__(self, trajectory):
        self.task = trajectory.task

    async def reset(self):
        return EnvironmentReply("a room")

    async def step(self, action):
        found = action == "open the box"
        seen = "the key" if found else action.replace("open", "dust")
        return EnvironmentReply(seen, reward=float(found), done=found)

def broken(trajectory):
    raise RuntimeError("no such world")

def nothing(trajectory):
    return object()
"""


def test_a_trajectory_is_run_again_in_its_environment(
    cli: Cli, debugging: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, server = debugging(critical_step=2, evidence="open 2")
    script.modularstep = lambda seen: {"action": "open the box"}  # type: ignore[attr-defined]
    monkeypatch.syspath_prepend(tmp_path)
    write(tmp_path / "debugged_world.py", WORLD)
    file = write(tmp_path / "r.json", trajectory())
    again = ("debug", "--trajectory", file, "--rerun", "--environment")
    done = cli(*again, "debugged_world:World", "--json")
    assert (done.code, done.json["status"]) == (0, "fixed"), done.err
    (branch,) = done.json["branches"]
    assert (branch["kept"], branch["reward"], branch["diverged"]) == (1, 1.0, "")
    assert GUIDANCE in server.requests[-1].text
    assert "RuntimeError: no such world" in cli(*again, "debugged_world:broken").err
    assert "has no name and no task and no reset and no step" in cli(*again, "debugged_world:nothing").err
    assert "write MODULE:NAME" in cli(*again, "debugged_world").err
    assert "ModuleNotFoundError" in cli(*again, "no_such_module:World").err


def test_annotated_trajectories_are_measured_and_not_debugged_twice(
    cli: Cli, debugging: Start, tmp_path: Path
) -> None:
    _, server = debugging(critical_step=2, evidence="open 2")
    folder = tmp_path / "bench"
    folder.mkdir()
    known = [
        (2, "action", "parameter_error"),
        (2, "action", "format_error"),
        (3, "action", "parameter_error"),
    ]
    for at, (step, module, kind) in enumerate(known, 1):
        world = "alfworld" if at < 3 else "gaia"
        annotation = {"critical_step": step, "critical_module": module, "error_type": kind}
        write(folder / f"r{at}.json", {"trajectory": trajectory(f"r{at}", environment=world),
                                       "reference": {"annotation": annotation}})  # fmt: skip
    labels = [{"trajectory_id": f"r{at}", "critical_failure_step": step, "critical_failure_module": module,
               "failure_type": kind} for at, (step, module, kind) in enumerate(known, 1)]  # fmt: skip
    write(folder / "labels.json", labels)
    done = cli("debug", "--trajectory", str(folder), "--score", "--json")
    assert done.code == 0, done.err
    counts = {name: share["count"] for name, share in done.json["total"].items()}
    assert counts == {"step": 2, "step_and_module": 2, "all_correct": 1}
    assert done.json["total"]["step"]["total"] == 3
    alfworld = done.json["environments"]["alfworld"]
    assert (alfworld["step"]["share"], alfworld["all_correct"]["share"]) == (1.0, 0.5)
    assert [item["found"]["critical_step"] for item in done.json["trajectories"]] == [2, 2, 2]
    calls = len(server.requests)
    shown = cli("debug", "--trajectory", str(folder), "--score")
    assert len(server.requests) == calls, "the same command goes on from what is there"
    assert "2/3  66.7%" in shown.out
    assert "gaia" in shown.out


def test_a_run_that_was_longer_than_others_may_be_as_long_again(
    cli: Cli, debugging: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, _ = debugging(critical_step=55, evidence="open 55")
    script.modularstep = lambda seen: {"action": "open the box"}  # type: ignore[attr-defined]
    monkeypatch.syspath_prepend(tmp_path)
    write(tmp_path / "long_world.py", WORLD)
    file = write(tmp_path / "r.json", trajectory(count=60))
    wanted = ("--rerun", "--environment", "long_world:World", "--set", "fine_grained=false", "--json")
    done = cli("debug", "--trajectory", file, *wanted)
    assert (done.code, done.json["branches"][0]["kept"]) == (0, 54), done.err
