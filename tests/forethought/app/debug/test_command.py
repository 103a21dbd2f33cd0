"""debug, of threads and of recorded trajectories, with a real database and a scripted model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from forethought.app.debug.command import with_rerun_method
from tests.forethought.app.conftest import Cli
from tests.forethought.app.debug_script import GUIDANCE, Start, failed_run, trajectory, write
from tests.support.model_server import Fault

LABELS = ["StepLabels"] * 4


def test_a_critical_error_is_found_and_kept(cli: Cli, debugging: Start) -> None:
    _, server = debugging()
    calls = failed_run(cli, server)
    found = cli("debug", "t1", "--json").json
    assert server.names[calls:] == [*LABELS, "CriticalError"]
    assert found["subject"] == {"id": "t1", "task": "What is 40 + 2?", "source": "forethought", "steps": 3}
    assert (found["status"], found["method"]) == ("found", "triage")
    assert found["critical"]["critical_step"] == 3
    assert found["critical"]["correction_guidance"] == GUIDANCE
    assert found["labels"]["3"]["action"]["error_type"] == "parameter_error"
    assert (found["probes"], found["branches"]) == ([], [])
    assert found["usage"]["calls"] == 5
    assert found["seconds"] > 0
    assert cli("show", found["thread_id"], "--json").json == found
    assert len(server.requests) == calls + 5, "it is shown without a model"
    assert cli("show", "t1", "--json").json["answer"] == "41", "the thread itself is as it was"
    assert "no thread t9" in cli("debug", "t9").err


def test_a_model_is_offered_the_error_types_of_each_module_and_no_others(cli: Cli, debugging: Start) -> None:
    _, server = debugging()
    calls = failed_run(cli, server)
    assert cli("debug", "t1").code == 0
    schemas = [seen.body["response_format"]["json_schema"]["schema"] for seen in server.requests[calls:]]
    modules = schemas[0]["properties"]
    offered = {name: each["properties"]["error_type"]["enum"] for name, each in modules.items()}
    assert offered["system"] == [
        "step_limit", "tool_execution_error", "llm_limit", "environment_error", "no_error"
    ]  # fmt: skip
    assert offered["planning"][0] == "constraint_ignorance"
    assert len(schemas[-1]["properties"]["error_type"]["enum"]) == 17, "hallucination has two modules"


def test_prompts_name_the_tools_and_the_files_that_the_agent_had(
    cli: Cli, debugging: Start, tmp_path: Path
) -> None:
    _, server = debugging()
    calls = failed_run(cli, server, "--file", write(tmp_path / "sums.txt", "40 + 2"))
    assert cli("debug", "t1").code == 0
    for seen in server.requests[calls:]:
        assert "Tools that it had: " in seen.text
        assert "Files that came with the task: sums.txt" in seen.text


def test_a_rerun_goes_on_from_the_middle_and_is_compared(cli: Cli, debugging: Start) -> None:
    _, server = debugging()
    calls = failed_run(cli, server)
    done = cli("debug", "t1", "--expect", "42", "--rerun")
    assert done.code == 0, done.err
    assert server.names[calls:] == [*LABELS, "CriticalError", "ToolChoice", "AnswerDraft"], (
        "not steps 1 and 2"
    )
    assert all(GUIDANCE in seen.text for seen in server.requests[-2:])
    for shown in (done.out, cli("show", "debug:t1:1").out):
        for part in (
            "debugging t1 (forethought), 3 steps and the answer",
            "task: What is 40 + 2?",
            "#1 no error",
            '#3 action parameter_error  "both say 42"',
            "Critical error: step 3, action: parameter_error",
            GUIDANCE,
            "then #4: a wrong answer",
            "re-run 1 from before step 3 succeeded",
            "answer: 42",
            "fixed  ",
        ):
            assert part in shown, part
    assert cli("show", "t1", "--json").json["answer"] == "42"
    branches = cli("show", "t1", "--branches", "--json").json["branches"]
    assert [(item["forked_before"], item["guidance"]) for item in branches] == [(None, []), (3, [GUIDANCE])]


def test_reruns_that_fail_are_located_again_and_each_starts_from_the_run_that_failed(
    cli: Cli, debugging: Start
) -> None:
    _, server = debugging(cured_by="words that no prompt holds")
    failed_run(cli, server)
    found = cli("debug", "t1", "--expect", "42", "--rerun", "--max-reruns", "3", "--json")
    assert (found.code, found.json["status"]) == (3, "not_fixed"), found.err
    assert [item["success"] for item in found.json["branches"]] == [False] * 3
    assert server.names.count("CriticalError") == 3
    kept = cli("show", "t1", "--branches", "--json").json["branches"]
    assert [item["branch"] for item in kept][1:] == [item["branch"] for item in found.json["branches"]]
    assert [item["guidance"] for item in kept] == [
        [], [GUIDANCE], [f"{GUIDANCE} Attempt 1."], [f"{GUIDANCE} Attempt 2."]
    ]  # fmt: skip
    assert GUIDANCE in server.requests[-1].text
    assert [item["head"] for item in kept] == [True, False, False, False], "no failed re-run is the head"
    assert cli("debug", "t1", "--json").json["subject"]["steps"] == 3, "it can be debugged again"


def test_the_thread_is_run_again_as_it_was_run_and_the_debugger_has_its_own_model(
    cli: Cli, debugging: Start
) -> None:
    _, server = debugging()
    calls = failed_run(cli, server, "--set", "max_steps=3")
    own = ("--model", "openai:other", "--set", "max_parallel=2")
    done = cli("debug", "t1", "--expect", "42", "--rerun", *own)
    assert done.code == 0, done.err
    models = [(seen.reply_name, seen.body["model"]) for seen in server.requests[calls:]]
    assert {model for name, model in models if name in {"StepLabels", "CriticalError"}} == {"other"}
    assert {model for name, model in models if name in {"ToolChoice", "AnswerDraft"}} == {"scripted"}
    assert "of 3" in next(seen.last for seen in server.requests[calls:] if seen.reply_name == "ToolChoice")


def test_what_was_labelled_is_not_labelled_again(cli: Cli, debugging: Start) -> None:
    script, server = debugging()
    calls = failed_run(cli, server)
    script.fault = lambda seen: Fault("503") if "Examine step 3" in seen.last else None
    broken = cli("debug", "t1", "--set", "max_parallel=1")
    assert broken.code == 1
    assert "continue with: forethought resume debug:t1:1" in broken.err
    assert cli("threads", "--all", "--json").json[0]["status"] == "failed"
    assert cli("show", "debug:t1:1", "--json").json["status"] == "failed"
    script.fault = lambda seen: None
    done = cli("resume", "debug:t1:1", "--json")
    assert (done.code, done.json["status"]) == (0, "found"), done.err
    examined = re.findall(r"Examine step (\d)", "".join(seen.last for seen in server.requests[calls:]))
    assert examined == ["1", "2", "3", "3", "4"]
    assert server.names[-1] == "CriticalError"
    over = cli("resume", "debug:t1:1")
    assert (over.code, "is finished (found)" in over.err) == (2, True)


def test_a_person_judges(cli: Cli, debugging: Start) -> None:
    _, server = debugging()
    failed_run(cli, server)
    waits = cli("debug", "t1", "--rerun", "--judge", "person")
    assert waits.code == 4
    assert "does this solve the task?" in waits.out
    assert 'forethought resume debug:t1:1 --reply "YOUR ANSWER"' in waits.err
    done = cli("resume", "debug:t1:1", "--reply", "yes", "--json")
    assert (done.code, done.json["status"]) == (0, "fixed"), done.err
    assert done.json["branches"][0]["reason"] == "a person said yes"


def test_counterfactual_mode_runs_the_thread_again_and_says_how_often_it_turned(
    cli: Cli, debugging: Start
) -> None:
    script, server = debugging(cured_by="CURED", critical_step=1, evidence='python({"code": "40 + 2"})')
    script.substitution = lambda seen: {"thought": "", "action": "finish: CURED"}  # type: ignore[attr-defined]
    failed_run(cli, server)
    counterfactual = ("debug", "t1", "--expect", "42", "--method", "counterfactual")
    shown = cli(*counterfactual, "--trials", "2")
    assert shown.code == 0, shown.out + shown.err
    assert "probe #1 2 of 2 continuations succeed (1.00, between 0.34 and 1.00): finish:" in shown.out
    assert "Critical error, suggested by re-runs: step 1, action" in shown.out
    assert "raise --trials" in shown.out
    shown = cli(*counterfactual)
    assert "Critical error, proven by re-runs: step 1, action" in shown.out
    assert cli("show", "t1", "--json").json["answer"] == "41", "no probe is the thread's head"


def test_a_successful_run_is_said_to_be_one(cli: Cli, debugging: Start) -> None:
    _, server = debugging()
    calls = failed_run(cli, server)
    shown = cli("debug", "t1", "--expect", "41", "--rerun")
    assert shown.code == 0
    assert "the run succeeded, judged by gold" in shown.out
    assert len(server.requests) == calls


def test_an_answer_that_explains_itself_below_its_first_line_is_the_expected_one(
    cli: Cli, debugging: Start
) -> None:
    _, server = debugging(answer="EUR 893.10\n\nOnly shipped orders count.")
    failed_run(cli, server)
    shown = cli("debug", "t1", "--expect", "EUR 893.10")
    assert "the run succeeded, judged by gold" in shown.out


def test_debuggings_are_threads_that_are_listed_when_asked_for(cli: Cli, debugging: Start) -> None:
    _, server = debugging()
    failed_run(cli, server)
    cli("debug", "t1")
    assert [item["thread_id"] for item in cli("threads", "--json").json] == ["t1"]
    found = cli("threads", "--all", "--json").json[0]
    assert (found["thread_id"], found["status"], found["task"], found["answer"]) == (
        "debug:t1:1", "found", "What is 40 + 2?", "parameter_error",
    )  # fmt: skip
    for command in (("run", "x", "--thread", "debug:t1:1"), ("fork", "debug:t1:1", "--before", "1")):
        refused = cli(*command)
        assert (refused.code, "is a debugging" in refused.err) == (2, True)
    assert "is a debugging thread; continue it with: " in cli("debug", "debug:t1:1").err


def test_a_run_that_broke_off_with_an_error_can_be_debugged_and_one_that_waits_cannot(
    cli: Cli, debugging: Start
) -> None:
    script, _ = debugging(question="Which colour?", cascade=False)
    assert cli("run", "What is 40 + 2?", "--thread", "waits").code == 4
    refused = cli("debug", "waits")
    assert refused.code == 2
    assert "thread waits is unfinished (interrupted): finish it first" in refused.err
    script.question, script.fault = (
        "",
        lambda seen: Fault("503") if seen.reply_name == "AnswerDraft" else None,
    )
    assert cli("run", "What is 40 + 2?", "--thread", "t1").code == 1
    script.fault = lambda seen: None
    found = cli("debug", "t1", "--json")
    assert (found.code, found.json["subject"]["steps"]) == (0, 3), found.err
    failed = cli("debug", "t1", "--expect", "43", "--rerun", "--max-reruns", "1", "--json")
    assert failed.json["status"] == "not_fixed", failed.err
    assert cli("show", "t1", "--json").json["answer"] == "", "it is as it was"
    assert cli("resume", "t1", "--json").json["answer"] == "41", "and goes on where it broke off"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("debug t1 --rerun", "debug t1 --rerun=agentdebug"),
        ("debug --rerun t1", "debug --rerun=agentdebug t1"),
        ("debug t1 --rerun --json", "debug t1 --rerun=agentdebug --json"),
        ("debug t1 --rerun vanilla", "debug t1 --rerun vanilla"),
        ("run --rerun", "run --rerun"),
    ],
)
def test_a_bare_rerun_means_agentdebug(given: str, meant: str) -> None:
    assert with_rerun_method(given.split()) == meant.split()


def test_what_prompts_shorten_is_said_before_a_model_is_asked(
    cli: Cli, debugging: Start, tmp_path: Path
) -> None:
    debugging()
    long = trajectory(changes={2: {"observation": "word " * 2_000}})
    shown = cli("debug", "--trajectory", write(tmp_path / "r.json", long)).out
    note = "note: the prompts shorten 1 observation of more than 4,000 characters"
    assert note in shown
    assert shown.index(note) < shown.index("#1 ")


def test_a_recorded_trajectory_is_debugged(cli: Cli, debugging: Start, tmp_path: Path) -> None:
    debugging(critical_step=2, evidence="open drawer 2")
    file = write(tmp_path / "r.json", {"trajectory": trajectory("a/b c"), "reference": {"gold": ["the key"]}})
    found = cli("debug", "--trajectory", file, "--json")
    assert (found.code, found.json["status"]) == (0, "found"), found.err
    assert found.json["thread_id"] == "debug:a-b-c:1"
    assert found.json["verdict"]["by"] == "gold", "the file knows the answer"
    assert found.json["critical"]["critical_step"] == 2


def test_what_asks_more_than_ten_times_says_first_what_it_will_cost(
    cli: Cli, debugging: Start, tmp_path: Path
) -> None:
    debugging(critical_step=2, evidence="open drawer 2")
    file = write(tmp_path / "r.json", trajectory(count=12))
    shown = cli("debug", "--trajectory", file, "--method", "agentdebug")
    assert re.search(r"note: estimate: about 13 calls, [\d,]+ tokens, price unknown\n", shown.out), shown.out
    assert shown.out.index("estimate:") < shown.out.index("#1 no error")
    assert "13 model calls" in shown.out
    shown = cli("debug", "--trajectory", file)
    assert "estimate" not in shown.out
    assert "suspect: step 2: it may be" in shown.out
    assert "#1, 3-12 not examined: the triage did not select it" in shown.out


def test_what_a_model_wrote_cannot_move_the_cursor(cli: Cli, debugging: Start, tmp_path: Path) -> None:
    debugging(critical_step=2, evidence="open drawer 2")
    bad = trajectory(task="Find \x1b[31mthe\x07 key\u202e.")
    bad["steps"][1]["action"] = "open drawer 2 \x1b]0;title\x07"
    shown = cli("debug", "--trajectory", write(tmp_path / "r.json", bad))
    assert shown.code == 0, shown.err
    assert not {"\x1b", "\x07", "\u202e"} & set(shown.out + shown.err)


def test_one_of_several_is_picked(cli: Cli, debugging: Start, tmp_path: Path) -> None:
    debugging(critical_step=2, evidence="open drawer 2")
    file = write(tmp_path / "r.json", [trajectory(f"r{n}", task=f"Find key {n}.") for n in range(1, 15)])
    refused = cli("debug", "--trajectory", file)
    assert refused.code == 2
    assert "holds 14 runs; list them with --list" in refused.err
    assert "--pick: r1, r2," in refused.err
    assert "r10, ..." in refused.err
    assert cli("debug", "--trajectory", file, "--pick", "r3", "--json").json["subject"]["id"] == "r3"
    assert "holds 14 runs, none called r99" in cli("debug", "--trajectory", file, "--pick", "r99").err


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
        seen = "the key" if found else action.removeprefix("open ") + " holds nothing of use"
        return EnvironmentReply(seen, reward=float(found), done=found)

def broken(trajectory):
    raise RuntimeError("no such world")

def nothing(trajectory):
    return object()
"""


def test_a_trajectory_is_run_again_in_its_environment(
    cli: Cli, debugging: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, server = debugging(critical_step=55, evidence="open drawer 55")
    script.modularstep = lambda seen: {"action": "open the box"}  # type: ignore[attr-defined]
    monkeypatch.syspath_prepend(tmp_path)
    write(tmp_path / "debugged_world.py", WORLD)
    file = write(tmp_path / "r.json", trajectory(count=60))
    unlabelled = ("--set", "fine_grained=false", "--json")
    again = ("debug", "--trajectory", file, *unlabelled, "--rerun", "--environment")
    done = cli(*again, "debugged_world:World")
    assert (done.code, done.json["status"]) == (0, "fixed"), done.err
    (branch,) = done.json["branches"]
    assert (branch["kept"], branch["reward"], branch["diverged"]) == (54, 1.0, ""), (
        "longer than other runs may be"
    )
    assert GUIDANCE in server.requests[-1].text
    assert "RuntimeError: no such world" in cli(*again, "debugged_world:broken").err
    assert (
        "does not return a forethought.rollouts.types.Environment"
        in cli(*again, "debugged_world:nothing").err
    )
    assert "ModuleNotFoundError" in cli(*again, "no_such_module:World").err
