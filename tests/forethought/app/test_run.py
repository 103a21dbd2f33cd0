"""run and resume against the real graph, with a scripted model over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.forethought.app.conftest import Cli
from tests.forethought.app.scripted import own_subtask
from tests.support.model_server import Fault
from tests.support.replies import plan

Scripted = Callable[..., Any]
KEYS = {
    "thread_id", "status", "answer", "sources", "score", "evaluation", "rounds", "stopped", "plan",
    "plan_reviews", "steps", "replans", "skipped", "usage", "cost", "checks", "seconds",
}  # fmt: skip


def test_what_needs_no_work_is_an_answer_in_one_call_and_shown_as_such(cli: Cli, scripted: Scripted) -> None:
    script, server = scripted()
    script.plan = lambda seen: plan(answer="Paris.")
    done = cli("run", "What is the capital of France?", "--thread", "t1", "--set", "effort=auto")
    assert (done.code, server.names) == (0, ["Plan"]), done.err
    assert "Paris." in done.out
    shown = cli("show", "t1")
    assert "Paris." in shown.out
    assert "Plan v" not in shown.out
    found = cli("show", "t1", "--json").json
    assert (found["status"], found["answer"], found["sources"], found["steps"]) == (
        "answered",
        "Paris.",
        [],
        [],
    )
    again = cli("run", "And of Italy?", "--thread", "t1", "--json")
    assert (again.code, again.json["answer"], len(server.names)) == (0, "Paris.", 2), again.err


def test_a_run_prints_its_records_in_order_and_exits_0(cli: Cli, scripted: Scripted) -> None:
    scripted(errors=("insufficient_constraint_verification",))
    done = cli("run", "What is 40 + 2?", "--thread", "t1")
    assert done.code == 0, done.err
    marks = [
        "thread t1", "Plan v1 (score 9, planner)",
        "insufficient_constraint_verification — the plan → a wrong sum",
        "Revised: a check of the units was added", "no planning errors found in plan v2", "Plan v2 (revised)",
        "wave 1: add, multiply in parallel", 'add  python(code="40 + 2")', "wave 2: join",
        "#3 join  finished",
        "Answer", "answered  score 9, 1 round, 3 steps with 2 tool calls, 8 model calls",
    ]  # fmt: skip
    places = [done.out.find(mark) for mark in marks]
    assert -1 not in places, marks[places.index(-1)]
    assert places == sorted(places)
    assert "price unknown" in done.out
    assert done.err == "forethought: next: forethought chat --thread t1\n"


def test_quiet_prints_the_answer_only(cli: Cli, scripted: Scripted) -> None:
    script, _ = scripted()
    script.answer = f"**42**, {'as both say ' * 20}"
    done = cli("run", "What is 40 + 2?", "--quiet", "--thread", "t1")
    assert (done.code, done.out) == (0, script.answer.strip() + "\n")
    assert "Plan v1" in done.err
    assert script.answer not in done.err
    script.answer_score = 3
    assert cli("fork", "t1", "-q", "--before", "3").code == 3
    both = cli("run", "x", "--quiet", "--json")
    assert (both.code, "use either --quiet or --json" in both.err) == (2, True)


def test_json_is_one_object_on_stdout_and_progress_goes_to_stderr(cli: Cli, scripted: Scripted) -> None:
    scripted()
    done = cli("run", "What is 40 + 2?", "--json")
    assert done.code == 0, done.err
    assert set(done.json) == KEYS
    assert (done.json["status"], done.json["answer"], done.json["score"], done.json["rounds"]) == (
        "answered", "42", 9, 1,
    )  # fmt: skip
    assert [step["n"] for step in done.json["steps"]] == [1, 2, 3]
    assert [source["n"] for source in done.json["sources"]] == [2, 3]
    assert set(done.json["usage"]) == {"calls", "input_tokens", "output_tokens", "cached_tokens", "usd"}
    assert done.json["usage"]["usd"] is None
    assert done.json["usage"]["input_tokens"] == 100 * done.json["usage"]["calls"]
    assert "wave 1" in done.err


def test_a_task_is_read_from_stdin(cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    _, server = scripted()
    monkeypatch.setattr("sys.stdin", io.StringIO("Question from a pipe\n"))
    assert cli("run", "-").code == 0
    assert "Question from a pipe" in server.requests[0].last


def test_files_reach_the_prompts_by_name(cli: Cli, scripted: Scripted, tmp_path: Path) -> None:
    _, server = scripted()
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "notes.txt").write_text(folder)
    done = cli("run", "Read them", "--file", "a/notes.txt", "--file", "b/notes.txt")
    assert done.code == 0, done.err
    assert "notes.txt" in server.requests[0].last
    assert "b/notes.txt" in server.requests[0].last


@pytest.mark.parametrize(
    ("options", "flags", "code", "status"),
    [
        ({"answer_score": 5}, ["--set", "max_rounds=1"], 3, "best_effort"),
        ({}, ["--set", "max_steps=1"], 3, "budget_exhausted"),
    ],
)
def test_an_answer_that_did_not_pass_exits_3(
    cli: Cli, scripted: Scripted, options: dict[str, Any], flags: list[str], code: int, status: str
) -> None:
    scripted(**options)
    done = cli("run", "What is 40 + 2?", "--json", *flags)
    assert (done.code, done.json["status"]) == (code, status)
    assert done.json["answer"] == "42"


@pytest.mark.parametrize(
    ("options", "flag", "why"),
    [
        ({"answer_score": 5}, "max_rounds=1", "risky (mend: facts): thin"),
        ({}, "max_moves=1", "budget_exhausted  max_moves spent, score 9"),
    ],
)
def test_an_answer_that_did_not_pass_says_why(
    cli: Cli, scripted: Scripted, options: dict[str, Any], flag: str, why: str
) -> None:
    scripted(**options)
    done = cli("run", "What is 40 + 2?", "--thread", "t1", "--set", flag)
    assert why in done.out
    assert why in cli("show", "t1").out


def test_a_failed_task_says_why_and_is_resumed_where_it_failed(cli: Cli, scripted: Scripted) -> None:
    script, server = scripted()
    script.fault = lambda seen: Fault("badjson") if seen.reply_name == "AnswerDraft" else None
    failed = cli("run", "What is 40 + 2?", "--thread", "t1", "--json")
    assert (failed.code, failed.json["status"]) == (1, "failed")
    assert "the answer agent gave no valid answer" in failed.json["error"]
    assert "forethought resume t1" in failed.err

    before = len(server.requests)
    script.fault = lambda seen: None
    done = cli("resume", "t1", "--json")
    assert (done.code, done.json["answer"]) == (0, "42"), done.err
    assert server.names[before:] == ["AnswerDraft"], "what was done is not done again"


def test_a_dead_model_leaves_a_thread_that_goes_on(cli: Cli, scripted: Scripted) -> None:
    script, server = scripted()
    script.fault = lambda seen: Fault("503") if "6 * 7" in own_subtask(seen) else None
    dead = cli("run", "What is 40 + 2?", "--thread", "t1", "--json")
    assert dead.code == 1
    assert dead.json["status"] == "failed"
    assert "503" in dead.json["error"]
    assert "Traceback" not in dead.err

    plans = server.names.count("Plan")
    script.fault = lambda seen: None
    done = cli("resume", "t1", "--json")
    assert done.code == 0, done.err
    assert server.names.count("Plan") == plans
    assert [(step["n"], step["subtask"]) for step in done.json["steps"]] == [
        (1, "add"), (2, "multiply"), (3, "join"),
    ]  # fmt: skip


def test_a_finished_thread_is_not_resumed_but_takes_a_next_task(cli: Cli, scripted: Scripted) -> None:
    script, server = scripted()
    assert cli("run", "First question", "--thread", "t1", "--set", "max_steps=7").code == 0
    finished = cli("resume", "t1")
    assert finished.code == 2
    assert "t1 is finished (answered)" in finished.err

    script.answer = "43"
    done = cli("run", "Second question", "--thread", "t1", "--json")
    assert (done.code, done.json["answer"]) == (0, "43"), done.err
    assert [step["n"] for step in done.json["steps"]] == [4, 5, 6], "only this task's steps, numbered on"
    planner = [seen for seen in server.requests if seen.reply_name == "Plan"][-1]
    assert "First question" in planner.text
    assert "7 of 7 tool calls" in planner.last, "the thread's own Context"


def test_the_context_is_saved_with_the_thread_and_flags_override_it(cli: Cli, scripted: Scripted) -> None:
    _, server = scripted(question="Which colour?")
    flags = ["--set", "max_steps=9", "--model", "openai:special", "--set", "answer_format=one word"]
    assert cli("run", "What is it?", "--thread", "t1", *flags).code == 4
    assert cli("resume", "t1", "--reply", "red", "--set", "max_steps=3").code == 0
    last = server.requests[-1]
    assert last.body["model"] == "special"
    assert "one word" in last.text
    plans, moves = ([s for s in server.requests if s.reply_name == name] for name in ("Plan", "ToolChoice"))
    assert "of 9" in plans[0].last
    assert "of 3" in moves[-1].last, "a worker is told what is left where it is little"


def test_the_address_is_saved_without_its_password(
    cli: Cli, scripted: Scripted, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _, server = scripted(question="Which colour?")
    monkeypatch.delenv("FORETHOUGHT_BASE_URL")
    url = server.url.replace("http://", "http://user:hunter2pass@")
    assert cli("run", "What is it?", "--thread", "t1", "--base-url", url).code == 4
    everything = b"".join(path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file())
    assert b"hunter2pass" not in everything
    monkeypatch.setenv("FORETHOUGHT_BASE_URL", url)
    assert cli("resume", "t1", "--reply", "red").code == 0, "it is the same one"


def test_text_of_models_neither_marks_up_nor_moves_the_cursor(cli: Cli, scripted: Scripted) -> None:
    script, _ = scripted(answer="[bold]x[/bold] \x1b[2J\x1b]0;title\x07\u202ereversed\u202c :smile: \x9b31m")
    script.description = "Compute 40 + 2 [red]\x1b[31mnow\r\x08"
    shown = cli("run", "What is 40 + 2?", "--thread", "t1")
    assert shown.code == 0
    for text in (shown.out, cli("show", "t1").out):
        assert "[bold]x[/bold]" in text
        assert ":smile:" in text
        assert "[red]now" in text
        assert not set(text) & set("\x1b\x07\x08\r\x9b\u202e\u202c")
    as_json = cli("show", "t1", "--json")
    assert as_json.json["answer"].startswith("[bold]x[/bold] \x1b[2J"), "JSON keeps the text as it is"
    assert not set(as_json.out) & set("\x1b\x9b\u202e"), "but escapes it"


def test_replies_recorded_are_replayed_without_a_model(cli: Cli, scripted: Scripted, tmp_path: Path) -> None:
    _, server = scripted()
    recorded = cli("run", "What is 40 + 2?", "--record", "run.jsonl", "--json", "--set", "max_steps=6")
    assert recorded.code == 0, recorded.err
    header = json.loads((tmp_path / "run.jsonl").read_text().splitlines()[0])
    assert (header["task"], header["model"]) == ("What is 40 + 2?", "openai:scripted")
    server.close()
    replayed = cli("run", "What is 40 + 2?", "--replay", "run.jsonl", "--json")
    assert replayed.code == 0, replayed.err
    assert _without_times(replayed.json) == _without_times(recorded.json)


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _without_times(item) for key, item in value.items() if key not in {"seconds", "thread_id"}
        }
    return [_without_times(item) for item in value] if isinstance(value, list) else value


def test_a_replay_that_asks_something_else_says_what_differs(cli: Cli, scripted: Scripted) -> None:
    scripted()
    assert cli("run", "What is 40 + 2?", "--record", "run.jsonl").code == 0
    other = cli("run", "What is 41 + 2?", "--replay", "run.jsonl", "--json")
    assert other.code == 1
    assert "has no reply to call 1 (planner, Plan)" in other.json["error"]
