"""debug --trajectory: recorded runs, and the world they ran in."""

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


def test_a_trajectory_of_no_steps_fails_in_a_line(cli: Cli, debugging: Start, tmp_path: Path) -> None:
    debugging()
    shown = cli("debug", "--trajectory", write(tmp_path / "r.json", trajectory(count=0)))
    assert shown.code == 1
    assert "the trajectory has no steps: there is nothing to debug in it" in shown.out


def test_what_a_model_wrote_cannot_move_the_cursor(cli: Cli, debugging: Start, tmp_path: Path) -> None:
    debugging(critical_step=2, evidence="open 2")
    bad = trajectory(task="Find \x1b[31mthe\x07 key\u202e.")
    bad["steps"][1]["action"] = "open 2 \x1b]0;title\x07"
    shown = cli("debug", "--trajectory", write(tmp_path / "r.json", bad))
    assert shown.code == 0, shown.err
    assert not {"\x1b", "\x07", "\u202e"} & set(shown.out + shown.err)


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
    assert "makes no forethought.rollouts.types.Environment" in cli(*again, "debugged_world:nothing").err
    assert "write MODULE:NAME" in cli(*again, "debugged_world").err
    assert "ModuleNotFoundError" in cli(*again, "no_such_module:World").err


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
