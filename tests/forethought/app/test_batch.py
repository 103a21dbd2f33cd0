"""submit, worker and jobs, as a person types them."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from forethought.extras import install_command
from tests.forethought.app.conftest import Cli, Outcome
from tests.forethought.app.test_bad_input import is_one_clear_line
from tests.support.model_server import Fault, SeenRequest

Scripted = Callable[..., Any]


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch, postgres: str) -> str:
    """The database of all machines."""
    monkeypatch.setenv("FORETHOUGHT_DB", postgres)
    monkeypatch.setattr("forethought.batch.worker._LOOK_S", 0.05)
    return postgres


def refused(outcome: Outcome, code: int, told: str) -> None:
    """A command that ended with one line that says this."""
    assert is_one_clear_line(outcome), outcome.err
    assert outcome.code == code
    assert told in outcome.err


def write(folder: Path, *lines: dict[str, Any]) -> None:
    (folder / "tasks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_a_batch_from_its_submit_to_its_results(
    cli: Cli, scripted: Scripted, tmp_path: Path, shared: str
) -> None:
    scripted()
    write(tmp_path, {"id": "t1", "task": "What is 40 + 2?"}, {"id": "t2", "task": "What is 6 * 7?"})
    added = cli("submit", "tasks.jsonl", "--json")
    assert (added.code, added.json["added"]) == (0, 2), added.err
    batch = added.json["id"]
    assert cli("submit", "tasks.jsonl").out == f"batch {batch}: 0 of 2 tasks added, 2 already in it\n"

    refused(cli("jobs", "--batch", "c"), 2, "no batch c in postgresql://")
    before = cli("jobs", "--batch", batch)
    assert before.out.splitlines()[0] == "2 jobs: 2 todo"
    worked = cli("worker", "--until-empty", "--concurrency", "2")
    assert worked.code == 0, worked.err
    assert worked.out.splitlines()[-1] == "2 done"
    assert f"{batch}:t1  answered" in worked.out

    after = cli("jobs", "--results", "results.jsonl", "--json")
    assert after.code == 0, after.err
    assert (after.json["states"]["done"], after.json["total"]) == (2, 2)
    assert after.json["input_tokens"] > 0
    results = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert [(r["id"], r["thread_id"], r["state"], r["answer"]) for r in results] == [
        ("t1", f"{batch}:t1", "done", "42"),
        ("t2", f"{batch}:t2", "done", "42"),
    ]
    assert cli("jobs", "--results", "-").out.splitlines() == [json.dumps(r) for r in results]
    assert cli("show", f"{batch}:t1", "--json").json["status"] == "answered"
    pruned = cli("threads", "--prune", "--older-than", "0m", "--yes", "--json")
    assert (set(pruned.json["threads"]), pruned.json["jobs"]) == ({f"{batch}:t1", f"{batch}:t2"}, 2), (
        pruned.err
    )
    assert cli("jobs", "--json").json["total"] == 0
    assert cli("submit", "tasks.jsonl", "--json").json["added"] == 2, (
        "what is forgotten can be submitted anew"
    )
    assert cli("jobs", "--cancel-all").out.splitlines()[:2] == ["cancelled 2 jobs", "2 jobs: 2 cancelled"]


def test_a_person_replies_and_the_job_ends_and_a_damaged_one_is_told(
    cli: Cli, scripted: Scripted, tmp_path: Path, shared: str
) -> None:
    scripted(question="Which colour?")
    write(tmp_path, {"id": "t1", "task": "Paint it"}, {"id": "t2", "task": "Paint it"})
    assert cli("submit", "tasks.jsonl", "--batch", "paint", "--set", "max_steps=9").code == 0
    assert cli("worker", "--until-empty").out.splitlines()[-1] == "2 waiting"
    with psycopg.connect(shared, autocommit=True) as connection:
        connection.execute("UPDATE checkpoint_blobs SET blob = '\\xc1' WHERE thread_id = 'paint:t2'")
    replied = cli("resume", "paint:t1", "--reply", "red", "--json")
    assert (replied.code, replied.json["status"]) == (0, "answered"), replied.err
    assert cli("jobs", "--retry").out.splitlines()[0] == "queued 2 jobs again"
    assert cli("worker", "--until-empty", "--attempts", "1").out.splitlines()[-1] == "1 done, 1 failed"
    assert (
        cli("jobs", "--results", "results.jsonl").out.splitlines()[0] == "2 results written to results.jsonl"
    )
    found = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert [(r["state"], r["status"]) for r in found] == [("done", "answered"), ("failed", "damaged")]
    assert "paint:t2: its checkpoint cannot be read" in found[1]["error"]


def test_jobs_that_failed_are_named_with_the_reason(
    cli: Cli, scripted: Scripted, tmp_path: Path, shared: str
) -> None:
    script, _ = scripted()
    script.fault = lambda seen: Fault("401", message="no such key") if "bad" in seen.text else None
    write(tmp_path, *({"id": f"t{n}", "task": f"{'bad' if n else 'good'} {n}"} for n in range(5)))
    cli("submit", "tasks.jsonl", "--batch", "b")
    worked = cli("worker", "--until-empty", "--concurrency", "1")
    assert "WARNING" not in worked.err
    answered = next(line for line in worked.out.splitlines() if line.startswith("b:t0  answered"))
    assert "USD" not in answered
    assert answered.endswith(" calls at an unknown price")
    cli("worker", "--until-empty")
    lines = cli("jobs").out.splitlines()
    assert lines[0] == "5 jobs: 1 done, 4 failed"
    named = [line for line in lines if line.startswith("failed: b:t")]
    assert len(named) == 3
    assert "failed: b:t1: model openai:scripted refused the request (HTTP 401)" in named[0]
    assert lines[-1] == "1 more failed; to list them all: forethought jobs --results FILE"


def test_sigterm_ends_a_worker_in_order(cli: Cli, scripted: Scripted, tmp_path: Path, shared: str) -> None:
    script, server = scripted()
    told: list[int] = []

    def stop(seen: SeenRequest) -> Fault | None:
        if seen.reply_name == "ToolChoice" and not told:
            told.append(seen.n)
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.2)
        return None

    script.fault = stop
    write(tmp_path, {"id": "t1", "task": "What is 40 + 2?"})
    cli("submit", "tasks.jsonl", "--batch", "b")
    stopped = cli("worker", "--json")
    assert (stopped.code, stopped.json) == (0, {"ended": {}, "stopped": True}), stopped.err
    assert "stopped by SIGTERM; unfinished jobs are back in the queue" in stopped.err
    assert cli("worker", "--until-empty", "--json").json == {"ended": {"done": 1}, "stopped": False}
    assert server.names.count("Plan") == 1, "what was done is not done again"


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["submit", "none.jsonl"], 2, "none.jsonl: cannot be read"),
        (["submit", "bad.jsonl"], 2, "bad.jsonl:2: task: field required"),
        (["submit", "good.jsonl", "--batch", "a b"], 2, "'a b' is not a valid batch name"),
        (["submit", "good.jsonl", "--set", "max_stps=3"], 2, "did you mean max_steps"),
        (["submit", "good.jsonl", "--db", "threads.sqlite"], 2, "postgresql://user@host/database"),
        (["worker", "--db", "sqlite:///t.sqlite"], 2, "postgresql://user@host/database"),
        (["worker", "--concurrency", "0"], 2, "--concurrency"),
        (["worker", "--tools", "no_such_module"], 2, "no_such_module not found"),
        (["worker", "--db", "postgresql://u:pass@127.0.0.1:1/d"], 1, "u@127.0.0.1:1/d: connection"),
        (["jobs"], 2, "no threads yet in postgresql://"),
        (["jobs", "--retry", "--cancel-all"], 2, "use either"),
    ],
    ids=str,
)
def test_bad_input_is_told_in_one_line(
    cli: Cli, tmp_path: Path, shared: str, arguments: list[str], code: int, told: str
) -> None:
    (tmp_path / "good.jsonl").write_text('{"task": "a"}\n')
    (tmp_path / "bad.jsonl").write_text('{"task": "a"}\n{"id": "b"}\n')
    refused(cli(*arguments), code, told)


def test_without_the_extra_it_is_named(
    cli: Cli, tmp_path: Path, shared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "procrastinate", None)
    (tmp_path / "good.jsonl").write_text('{"task": "a"}\n')
    for arguments in (["submit", "good.jsonl"], ["worker"], ["jobs"]):
        refused(cli(*arguments), 2, install_command("scale"))
