"""threads, show, fork, doctor, help and version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.forethought.app.conftest import Cli
from tests.support.model_server import Fault

Scripted = Callable[..., Any]


def test_threads_are_listed_newest_first_with_their_status(cli: Cli, scripted: Scripted) -> None:
    script, _ = scripted(question="Which colour?")
    assert cli("threads").out.startswith("no threads yet in ")
    assert cli("threads", "--json").json == []
    cli("run", "Which one waits?", "--thread", "waits")
    script.question = ""
    cli("run", "Which one is done?", "--thread", "done")
    script.fault = lambda seen: Fault("503") if seen.reply_name == "ToolChoice" else None
    cli("run", "Which one broke?", "--thread", "broke")
    found = cli("threads", "--json").json
    assert [(item["thread_id"], item["status"], item["task"], item["answer"]) for item in found] == [
        ("broke", "failed", "Which one broke?", ""),
        ("done", "answered", "Which one is done?", "42"),
        ("waits", "interrupted", "Which one waits?", ""),
    ]
    assert [item["thread_id"] for item in cli("threads", "--json", "--limit", "1").json] == ["broke"]
    shown = cli("threads").out.splitlines()
    assert "Which one broke?" in shown[1]
    assert "interrupted" in shown[3]


def test_show_tells_the_whole_story_without_a_model(cli: Cli, scripted: Scripted) -> None:
    _, server = scripted(errors=("insufficient_constraint_verification",))
    ran = cli("run", "What is 40 + 2?", "--thread", "t1", "--json")
    server.close()
    shown = cli("show", "t1")
    assert shown.code == 0, shown.err
    for part in ("task: What is 40 + 2?", "insufficient_constraint_verification", "Plan v2", "finished",
                 "#3 join  finished", "both say 42", "Answer", "answered  score 9"):  # fmt: skip
        assert part in shown.out, part
    assert cli("show", "t1", "--json").json == ran.json
    detailed = cli("show", "t1", "--steps", "--json").json
    assert detailed["checkpoints"][-1]["n"] == 3
    assert detailed["checkpoints"][0]["next"] == ["__start__"]
    assert "next: tool_agent, tool_agent" in cli("show", "t1", "--steps").out


def test_show_of_a_broken_off_thread_says_so(cli: Cli, scripted: Scripted) -> None:
    script, _ = scripted()
    script.fault = lambda seen: Fault("503") if seen.reply_name == "AnswerDraft" else None
    cli("run", "What is 40 + 2?", "--thread", "t1")
    shown = cli("show", "t1", "--json").json
    assert shown["status"] == "failed"
    assert shown["error"].startswith("model openai:scripted gave no reply")
    assert [step["n"] for step in cli("show", "t1", "--json").json["steps"]] == [1, 2, 3]


def test_a_fork_repeats_only_what_comes_after(cli: Cli, scripted: Scripted) -> None:
    script, server = scripted()
    first = cli("run", "What is 40 + 2?", "--thread", "t1", "--set", "max_steps=3", "--json")
    calls = len(server.requests)
    script.answer = "forty-two"
    forked = cli("fork", "t1", "--before", "3", "--guidance", "Write it in words.", "--json")
    assert (forked.code, forked.json["answer"]) == (0, "forty-two"), forked.err
    assert server.names[calls:] == ["ToolChoice", "AnswerDraft"]
    assert all("Write it in words." in seen.last for seen in server.requests[calls:])
    assert forked.json["steps"][:2] == first.json["steps"][:2]
    assert [step["n"] for step in forked.json["steps"]] == [1, 2, 3]
    assert cli("show", "t1", "--json").json["answer"] == "forty-two", "the new branch is the head"

    calls = len(server.requests)
    again = cli("fork", "t1", "--before", "2", "--json")
    assert again.code == 0, again.err
    assert server.names[calls:] == ["ToolChoice"] * 3 + ["AnswerDraft"], "the whole wave of step 2"
    assert "Write it in words." not in server.requests[-1].last, "that came after"
    assert "of 3" in server.requests[-2].last, "with the thread's Context"

    refused = cli("fork", "t1", "--before", "9")
    assert (refused.code, "choose from 1 to 3" in refused.err) == (2, True)


def test_help_and_version(cli: Cli) -> None:
    for arguments in (["--help"], ["run", "--help"], ["resume", "--help"], ["doctor", "--help"]):
        said = cli(*arguments)
        assert (said.code, said.err) == (0, "")
        assert "Usage: forethought" in said.out
    assert "1 failed, 2 wrong use" in " ".join(cli("--help").out.split())
    assert cli("--version").out.startswith("forethought ")
    bare = cli()
    assert bare.code == 2
    assert "Usage: forethought" in bare.out


def test_a_narrow_terminal_cuts_no_threads_id(
    cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted()
    assert cli("run", "x", "--thread", "20260517-3f9a1c").code == 0
    monkeypatch.setenv("COLUMNS", "40")
    assert "20260517-3f9a1c" in cli("threads").out
