"""learn: from a wrong answer to proven advice, with a real database and a scripted model."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from forethought.nodes.learner.lab import decided
from forethought.nodes.support.questions import NO_REASON, REJECTED
from forethought.state.history import Point
from tests.forethought.app.conftest import Cli, Serve
from tests.forethought.app.debug_script import DebugScript, failed_run
from tests.support.model_server import Answer, Fault, ModelServer, SeenRequest

RULE = "Always check the units of both sums."


@dataclass
class Learner(DebugScript):
    """An agent that checks the units only if it is told to, and a judge who looks for that check."""

    helps: bool = True
    breaks: bool = False
    seen_prompts: int = 0

    def toolchoice(self, seen: SeenRequest) -> Any:
        """The last move is right with the advice."""
        move = super().toolchoice(seen)
        if move["action"] == "finish" and self.helps and RULE in seen.text:
            return {**move, "result": "both say 42, units checked"}
        return move

    def advicedraft(self, seen: SeenRequest) -> Answer:
        """The advice."""
        return {
            "diagnosis": "the units were not checked",
            "replaces": [],
            "kind": "rule",
            "name": "check_units",
            "applies": "sums of two numbers",
            "wrong": "Units are mixed.",
            "instead": RULE,
            "failure": "Two units were added.",
            "success": "Units were compared first.",
        }

    def assertionverdicts(self, seen: SeenRequest) -> Answer:
        """Cases hold if they check the units; plans of past tasks hold unless the advice breaks them."""
        verdicts = []
        for kind, cases in re.findall(r'<measure kind="([^"]+)">(.*?)(?=<measure|\Z)', seen.last, re.DOTALL):
            for number, text in re.findall(r'<case number="(\d+)">(.*?)</case>', cases, re.DOTALL):
                holds = "units checked" in text if kind == "correction" else not self.breaks
                verdicts.append({"number": int(number), "reasoning": "as seen", "holds": holds})
        return {"verdicts": verdicts}


@pytest.fixture
def learner(served: Serve) -> Any:
    """Start a scripted model of the learner: learner(helps=False)."""

    def start(**options: Any) -> tuple[Learner, ModelServer]:
        script = Learner(**options)
        return script, served(script)

    return start


def past_tasks(cli: Cli, count: int) -> None:
    """Threads whose answers nobody called wrong."""
    for number in range(count):
        assert cli("run", f"Which sum is larger, part {number}?", "--thread", f"p{number}").code == 0


def test_advice_that_turns_the_step_and_breaks_nothing_is_proven_within_twelve_calls(
    cli: Cli, learner: Any
) -> None:
    _, server = learner()
    past_tasks(cli, 3)
    calls = failed_run(cli, server)
    done = cli("learn", "t1", "--correction", RULE, "--json")
    assert done.code == 0, done.err
    learned = done.json
    assert server.names[calls:].count("ToolChoice") == 6, "three with the advice, three without"
    assert server.names[calls:].count("Plan") == 3
    assert len(server.names[calls:]) == learned["usage"]["calls"] == 12
    proof, gate = learned["advice"]["proof"], learned["advice"]["gate"]
    assert (proof["status"], proof["flips"], proof["control_flips"]) == ("proven", 3, 0)
    assert proof["low"] > 0
    assert (gate["prevented"], gate["broken"], gate["runs"]) == (3, 0, 6)
    assert gate["low"] > 0
    assert (learned["advice"]["state"], learned["advice"]["level"]) == ("adopted", "micro")
    assert "estimate: at most 12 calls" in done.err
    assert cli("show", "t1", "--json").json["answer"] == "41", "the thread is as it was"
    judged = server.requests[-1].text
    assert "with the advice" not in judged
    assert judged.count("<case ") == 9


def test_a_retrospective_model_reflects_before_the_advice_is_worded(cli: Cli, learner: Any) -> None:
    script, server = learner()
    script.roundreflection = lambda seen: {"reflection": "Units were never compared."}
    failed_run(cli, server)
    learned = cli("learn", "t1", "--set", "retrospective_model=openai:trained", "--json").json
    assert learned["status"] == "learned"
    asked = next(seen for seen in server.requests if seen.reply_name == "RoundReflection")
    assert asked.body["model"] == "trained"
    worded = next(seen for seen in server.requests if seen.reply_name == "AdviceDraft")
    assert "Units were never compared." in worded.text


@pytest.mark.parametrize(
    ("options", "state"), [({"helps": False}, "probation"), ({"helps": False, "breaks": True}, "dropped")]
)
def test_advice_that_does_nothing_or_harm_is_not_adopted(
    cli: Cli, learner: Any, options: dict[str, bool], state: str
) -> None:
    _, server = learner(**options)
    past_tasks(cli, 3)
    failed_run(cli, server)
    learned = cli("learn", "t1", "--json").json
    assert learned["advice"]["source"] == "learn"
    assert (learned["advice"]["state"], learned["advice"]["proof"]["status"]) == (state, "unknown")


def test_a_persons_correction_is_in_use_without_proof(cli: Cli, learner: Any) -> None:
    _, server = learner(helps=False)
    failed_run(cli, server)
    learned = cli("learn", "t1", "--correction", RULE, "--json").json
    assert (learned["advice"]["state"], learned["advice"]["source"]) == ("adopted", "person")
    assert learned["advice"]["gate"]["low"] < 0


def test_a_right_answer_alone_is_a_correction_and_is_not_given_away(cli: Cli, learner: Any) -> None:
    script, server = learner()
    failed_run(cli, server)
    leaking = {**script.advicedraft(None), "instead": "Answer 42."}
    drafts = iter([leaking, script.advicedraft(None)])
    script.advicedraft = lambda seen: next(drafts)
    learned = cli("learn", "t1", "--expect", "42", "--json").json
    assert learned["advice"]["instead"] == RULE
    assert "The right answer: 42" in server.requests[-1].text


@pytest.mark.parametrize("name", ["CriticalError", "AdviceDraft", "ToolChoice", "Plan", "AssertionVerdicts"])
def test_a_learning_that_is_killed_in_any_step_goes_on_there(
    cli: Cli, learner: Any, name: str, tmp_path: Path
) -> None:
    script, server = learner()
    past_tasks(cli, 2)
    calls = failed_run(cli, server)
    command = [sys.executable, "-m", "forethought", "learn", "t1", "--correction", RULE]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(seen: SeenRequest) -> Fault | None:
        if seen.reply_name == name and process.poll() is None:
            process.kill()
            process.wait()
        return None

    script.fault = kill
    assert process.wait(60) == -signal.SIGKILL
    learned = cli("learn", "t1", "--json").json
    assert learned["status"] == "learned"
    done = [server.names[calls:].count(reply) for reply in ("CriticalError", "AdviceDraft")]
    assert sum(done) == 2 + (name in ("CriticalError", "AdviceDraft")), "a finished step is not repeated"
    assert learned["advice"]["proof"]["flips"] == 3
    assert cli("show", "t1", "--json").json["answer"] == "41", "the thread is as it was"


def test_the_reason_of_a_rejected_call_is_the_correction() -> None:
    step = {"n": 1, "task": 2, "tool": "send", "arguments": {}, "approval": "rejected"}
    values = {
        "progress": {"task": 2},
        "trajectory": [
            {**step, "observation": f"{REJECTED}Never write to the board."},
            {**step, "n": 2, "observation": f"{REJECTED}{NO_REASON}"},
            {**step, "n": 3, "approval": "edited", "arguments": {"to": "us"}, "observation": "sent"},
        ],
    }
    said = decided(Point("c", {}, values, (), None))
    assert said == [
        "Never write to the board. (about send)",
        'The person changed the call to: send({"to": "us"})',
    ]


def test_threads_and_tasks_that_are_not_there_are_refused(cli: Cli, learner: Any) -> None:
    _, server = learner()
    failed_run(cli, server)
    assert "no thread t9" in cli("learn", "t9").err
    assert "no task 4" in cli("learn", "t1", "--task", "4").err
