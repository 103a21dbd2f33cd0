"""debug: what cannot work is refused in a line, and what a model wrote cannot harm a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from forethought.app.debug.commands import Judge, Method, Rerun, with_rerun_method
from forethought.state import debugger as state
from tests.forethought.app.conftest import Cli
from tests.forethought.app.debug_script import Start, failed_run, trajectory, write
from tests.support.model_server import Fault


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name what is to be debugged: a THREAD, or --trajectory FILE"),
        (("t1", "--trajectory", "r.json"), "cannot go together"),
        (("t9",), "no thread t9"),
        (("t 9",), "thread id 't 9'"),
        (("--trajectory", "gone.json"), "gone.json: cannot be read"),
        (("--trajectory", "."), "is a folder: name one file, or measure on all of it with --score"),
        (("--trajectory", "broken.json"), "broken.json: broken JSON"),
        (("--trajectory", "other.json"), "this is no trajectory in a known format"),
        (("--trajectory", "empty.json"), "the file is empty"),
        (("--trajectory", "r.json", "--score"), "no trajectory in it has an annotation"),
        (("--trajectory", "none", "--score"), "no trajectories in this folder"),
        (("--trajectory", "r.json", "--score", "--method", "counterfactual"), "counterfactual mode does not"),
        (("--trajectory", "r.json", "--score", "--set", "rerun=vanilla"), "a re-run does not go with it"),
        (("t1", "--method", "counterfactual", "--judge", "person"), "too many runs for a person"),
        (("--trajectory", "r.json", "--rerun", "--expect", "x"), "--environment MODULE:NAME"),
        (("--trajectory", "r.json", "--method", "counterfactual", "--expect", "x"), "--environment MODULE"),
        (("t1", "--rerun"), "somebody has to say whether a re-run succeeded"),
        (("t1", "--method", "counterfactual"), "somebody has to say whether a re-run succeeded"),
        (("t1", "--rerun", "--judge", "none"), "somebody has to say"),
        (("t1", "--judge", "gold"), "--judge gold needs the answer of a right run"),
        (("t1", "--judge", "model"), "--judge model needs the answer of a right run"),
        (("t1", "--judge", "environment"), "--judge environment needs --environment"),
        (("t1", "--expect", " "), "--expect is empty"),
        (("t1", "--pick", "a"), "--pick goes with --trajectory"),
        (("t1", "--score"), "--score goes with --trajectory"),
        (("--trajectory", ".", "--score", "--rerun"), "do not go with it"),
        (("t1", "--environment", "a:b"), "--environment goes with --trajectory"),
        (("t1", "--method", "magic"), "--method"),
        (("t1", "--rerun=magic"), "--rerun"),
        (("t1", "--max-reruns", "0"), "--max-reruns"),
        (("t1", "--set", "max_steps=3"), "--set: unknown setting 'max_steps'"),
        (("t1", "--set", "trials=0"), "--set trials"),
        (("t1", "--model", "nonsense!"), "is not a model's name"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused_in_a_line(
    cli: Cli, debugging: Start, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    _, server = debugging()
    failed_run(cli, server)
    calls = len(server.requests)
    write(tmp_path / "r.json", trajectory())
    write(tmp_path / "broken.json", '{"id": ')
    write(tmp_path / "other.json", {"colour": "red"})
    write(tmp_path / "empty.json", "")
    (tmp_path / "none").mkdir()
    refused = cli("debug", *arguments)
    assert refused.code == 2, refused.err
    assert said in refused.err
    assert refused.err.count("\n") == 1, refused.err
    assert len(server.requests) == calls
    assert [item["thread_id"] for item in cli("threads", "--all", "--json").json] == ["t1"], "nothing is left"


def test_a_trajectory_of_no_steps_fails_in_a_line(cli: Cli, debugging: Start, tmp_path: Path) -> None:
    debugging()
    shown = cli("debug", "--trajectory", write(tmp_path / "r.json", trajectory(count=0)))
    assert shown.code == 1
    assert "the trajectory has no steps: there is nothing to debug in it" in shown.out


def test_a_task_that_is_not_over_is_refused(cli: Cli, debugging: Start) -> None:
    script, _ = debugging(question="Which colour?")
    cli("run", "What is 40 + 2?", "--thread", "t1")
    refused = cli("debug", "t1")
    assert refused.code == 2
    assert "thread t1 waits for a reply (interrupted): finish it before it is debugged" in refused.err
    script.question = ""


def test_a_thread_that_another_process_runs_is_refused(cli: Cli, debugging: Start, tmp_path: Path) -> None:
    _, server = debugging()
    failed_run(cli, server)
    holding = (
        "import sys, pathlib\nfrom forethought.storage.byte_locks import take\n"
        "assert take(pathlib.Path(sys.argv[1]), 't1')\nprint('held', flush=True)\nsys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", holding, str(tmp_path / "data" / "threads.sqlite")],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        refused = cli("debug", "t1")
    finally:
        holder.communicate("")
    assert (refused.code, "thread t1 is being run by another process" in refused.err) == (1, True)
    assert cli("debug", "t1").code == 0


def test_a_run_that_broke_off_with_an_error_can_be_debugged(cli: Cli, debugging: Start) -> None:
    script, _ = debugging(cascade=False)
    script.fault = lambda seen: Fault("503") if seen.reply_name == "AnswerDraft" else None
    assert cli("run", "What is 40 + 2?", "--thread", "t1").code == 1
    script.fault = lambda seen: None
    found = cli("debug", "t1", "--json")
    assert (found.code, found.json["subject"]["steps"]) == (0, 3), found.err


def test_what_a_model_wrote_cannot_move_the_cursor(cli: Cli, debugging: Start, tmp_path: Path) -> None:
    debugging(critical_step=2, evidence="open 2")
    bad = trajectory(task="Find \x1b[31mthe\x07 key\u202e.")
    bad["steps"][1]["action"] = "open 2 \x1b]0;title\x07"
    shown = cli("debug", "--trajectory", write(tmp_path / "r.json", bad))
    assert shown.code == 0, shown.err
    assert not {"\x1b", "\x07", "\u202e"} & set(shown.out + shown.err)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["debug", "t1", "--rerun"], ["debug", "t1", "--rerun=agentdebug"]),
        (["debug", "--rerun", "t1"], ["debug", "--rerun=agentdebug", "t1"]),
        (["debug", "t1", "--rerun", "--json"], ["debug", "t1", "--rerun=agentdebug", "--json"]),
        (["debug", "t1", "--rerun", "vanilla"], ["debug", "t1", "--rerun", "vanilla"]),
        (["debug", "t1", "--rerun=vanilla"], ["debug", "t1", "--rerun=vanilla"]),
        (["debug", "--", "--rerun"], ["debug", "--", "--rerun"]),
        (["run", "--rerun"], ["run", "--rerun"]),
        ([], []),
    ],
)
def test_a_bare_rerun_means_agentdebug(given: list[str], meant: list[str]) -> None:
    assert with_rerun_method(given) == meant


def test_the_flags_choices_are_the_graphs() -> None:
    assert get_args(Method) == get_args(state.SearchMethod)
    assert ("off", *get_args(Rerun)) == get_args(state.RerunMethod)
    assert get_args(Judge) == get_args(state.JudgeName)
