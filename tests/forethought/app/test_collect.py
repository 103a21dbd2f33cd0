"""`forethought collect`: runs, verdicts, the estimate, and going on where it was."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from forethought.app.collection import Collection
from forethought.trajectories.read import read_trajectories
from tests.forethought.app.conftest import Cli, Serve
from tests.support.agent import kind_of
from tests.support.counting import Counter, counted
from tests.support.model_server import Answer, Fault, Reply, SeenRequest
from tests.support.replies import answer

Json = dict[str, Any]


@dataclass
class Agent(Counter):
    """A model whose answers to a task are given in turn: '42' is right."""

    answers: dict[str, list[str]] = field(default_factory=dict)
    tokens: Callable[[str], int] = lambda task: 100

    def __call__(self, seen: SeenRequest) -> Answer:
        """The reply, at its price."""
        reply = super().__call__(seen)
        return reply if isinstance(reply, Fault) else Reply(reply, prompt_tokens=self.tokens(counted(seen)))

    def answerdraft(self, seen: SeenRequest) -> Json:
        """The next answer; the last one for good."""
        left = self.answers.get(counted(seen), ["42"])
        return answer(left.pop(0) if len(left) > 1 else left[0], [1])

    def judgement(self, seen: SeenRequest) -> Json:
        """Always right."""
        return {"reasoning": "", "correct": True}


def write(path: Path, *names: str, **fields: Any) -> str:
    """A tasks file."""
    given = fields or {"expected": "42"}
    lines = [json.dumps({"id": name, "task": f"Count the {name}.", **given}) for name in names]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_runs_are_judged_kept_and_mixed_tasks_named(cli: Cli, served: Serve, tmp_path: Path) -> None:
    server = served(Agent(answers={"cats": ["41", "42", "42"], "dogs": ["42"], "owls": ["1"]}))
    command = (
        "collect",
        write(tmp_path / "t.jsonl", "cats", "dogs", "owls"),
        "--out",
        "c",
        "--yes",
        "--json",
    )
    out = cli(*command)
    assert out.code == 0, out.err
    assert out.json["outcomes"] == {"success": 5, "failure": 4, "unknown": 0}
    assert out.json["mixed"] == ["cats"]
    assert (out.json["only_success"], out.json["only_failure"]) == (["dogs"], ["owls"])
    found = read_trajectories(Path("c/trajectories"))
    assert len(found) == 9
    cats = [item for item in found if item.trajectory.task == "Count the cats."]
    assert sorted(item.reference.outcome for item in cats) == ["failure", "success", "success"]
    assert {item.trajectory.answer for item in cats} == {"41", "42"}
    assert "next: forethought learn c" in out.err
    calls = len(server.requests)
    assert (cli(*command).code, len(server.requests)) == (0, calls), "nothing is run twice"
    assert cli(*command, "--trials", "4").json["runs"] == 12


def test_the_estimate_is_near_what_it_costs(cli: Cli, served: Serve, tmp_path: Path) -> None:
    sizes = {name: 50 * number for number, name in enumerate(["a", "b", "c", "d", "e"], 1)}
    served(Agent(tokens=lambda task: sizes[task]))
    lines = [
        {"id": name, "task": f"Count the {name} {'very ' * size}", "expected": "42"}
        for name, size in sizes.items()
    ]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, lines)))
    first = cli("collect", "t.jsonl", "--out", "c", "--trials", "2", "--json")
    assert (first.code, first.json["status"], first.json["runs"]) == (4, "waits", 3)
    assert "repeat the command with --yes" in first.err
    told = first.json["estimate"]
    assert told["runs"] == 10
    done = cli("collect", "t.jsonl", "--out", "c", "--trials", "2", "--yes", "--json")
    cost = done.json["cost"]
    assert (done.json["runs"], cost["runs"]) == (10, 10)
    assert abs(told["tokens"] - cost["tokens"]) < 0.3 * cost["tokens"]


def test_a_run_that_broke_off_goes_on_at_its_last_step(cli: Cli, served: Serve, tmp_path: Path) -> None:
    down = {"now": True}

    def fault(seen: SeenRequest) -> Fault | None:
        return Fault("503") if down["now"] and kind_of(seen) == "AnswerDraft" else None

    server = served(Agent(fault=fault))
    tasks = write(tmp_path / "t.jsonl", "cats")
    out = cli("collect", tasks, "--out", "c", "--trials", "1", "--yes", "--json")
    assert (out.code, out.json["status"], list(out.json["failed_runs"])) == (1, "incomplete", ["cats--1"])
    down["now"] = False
    done = cli("collect", tasks, "--out", "c", "--trials", "1", "--yes", "--json")
    assert done.json["runs"] == 1
    assert [kind_of(seen) for seen in server.requests].count("Plan") == 1


def test_a_checker_that_throws_is_told_and_mended_without_another_run(
    cli: Cli, served: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "checks_of_this_test.py"
    module.write_text(
        "broken = True\ndef right(answer, task):\n    if broken:\n        raise ValueError('no')\n"
    )
    module.write_text(module.read_text() + "    return answer == '42'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    server = served(Agent(answers={"cats": ["41", "42"]}))
    tasks = write(tmp_path / "t.jsonl", "cats", checker="checks_of_this_test:right")
    command = ("collect", tasks, "--out", "c", "--trials", "2", "--yes", "--json")
    refused = cli(*command)
    assert (refused.code, server.requests) == (2, [])
    assert "which run code: allow them with --checker checks_of_this_test:right" in refused.err
    assert "checks_of_this_test" not in sys.modules, "a tasks file names no code that is imported"
    command = (*command, "--checker", "checks_of_this_test:right")
    out = cli(*command)
    assert out.json["outcomes"]["unknown"] == 2
    assert "checks_of_this_test:right failed: ValueError: no" in out.err
    calls = len(server.requests)
    import checks_of_this_test  # type: ignore[import-not-found]

    checks_of_this_test.broken = False
    done = cli(*command)
    assert (done.code, done.json["mixed"]) == (0, ["cats"])
    assert len(server.requests) == calls


def test_a_model_judges_where_it_is_asked_to(cli: Cli, served: Serve, tmp_path: Path) -> None:
    server = served(Agent(answers={"cats": ["forty-two"]}))
    tasks = write(tmp_path / "t.jsonl", "cats")
    out = cli("collect", tasks, "--out", "c", "--trials", "1", "--success", "model", "--yes", "--json")
    assert out.json["outcomes"]["success"] == 1
    assert server.names[-1] == "Judgement"
    assert out.json["cost"]["tokens"] == sum(100 + 20 for _ in server.requests)
    assert all("42" not in seen.text for seen in server.requests[:-1]), "the agent is not shown what is right"


def test_wrong_use_is_one_line(cli: Cli, served: Serve, tmp_path: Path) -> None:
    served(Agent())
    tasks = write(tmp_path / "t.jsonl", "cats")
    folder = ("--out", "c", "--trials", "1", "--yes")
    cli("collect", tasks, *folder)
    (tmp_path / "other.jsonl").write_text(json.dumps({"id": "cats", "task": "Other.", "expected": "1"}))
    (tmp_path / "damaged.jsonl").write_text("{")
    for arguments, message in (
        ((tasks, "--set", "answer_threshold=5"), "holds runs with another context"),
        ((tasks, "--model", "openai:other"), "holds runs with another model"),
        (("damaged.jsonl",), "damaged.jsonl:1: broken JSON"),
        (("other.jsonl",), "the text of task cats has changed"),
    ):
        out = cli("collect", *arguments, *folder)
        assert (out.code, out.err.count("\n"), message in out.err) == (2, 1, True), out.err


def test_an_interruption_is_told_once(
    cli: Cli, served: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*given: Any) -> bool:
        raise KeyboardInterrupt

    served(Agent())
    monkeypatch.setattr(Collection, "carry_out", interrupted)
    out = cli("collect", write(tmp_path / "t.jsonl", "cats"), "--out", "c", "--yes")
    assert (out.code, out.err) == (130, "forethought: interrupted; to continue, repeat the command\n")
