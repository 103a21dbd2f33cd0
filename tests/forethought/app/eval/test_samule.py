"""`forethought eval run --method samule`: from training failures to retries with learned reflections."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forethought.trajectories.read import read_trajectories
from tests.forethought.app.conftest import Cli
from tests.forethought.app.eval.conftest import command, lines, write_data
from tests.support import tiny_checkouts
from tests.support.evaluating import done, move
from tests.support.model_server import Answer, ModelServer, SeenRequest

RIGHT, REMEDY = "42", "count each one twice"


def counter(seen: SeenRequest) -> Answer:
    """An actor that counts right once it is told how; a reader that finds the same error everywhere."""
    if seen.reply_name == "ReactMove":
        return done(RIGHT if REMEDY in seen.last else "1")
    hasty = [{"error_type": "hasty_count", "critique": "It counted once."}]
    found = [] if f"answer: {RIGHT}" in seen.last else hasty
    numbers = sorted({int(text) for text in re.findall(r"^Step (\d+)$", seen.last, re.MULTILINE)})
    replies: dict[str, Any] = {
        "TrialReflection": {"comparison": "Other.", "reflection": f"It was hasty: {REMEDY}."},
        "TaxonomyGrowth": {"rationale": "Haste.", "new_types": _new_types(seen)},
        "StepLabels": {"steps": [{"step": number, "errors": found} for number in numbers]},
        "TypeReflection": {
            "cites": re.findall(r'<case trajectory="([^"]+)"', seen.last),
            "reflection": "Haste recurs.",
        },
        "MergedReflection": {"reflection": f"Merged: {REMEDY}."},
        "SelfReflection": {"reflection": _prompted(seen)},
        "RoundReflection": {"reflection": f"Trained: {REMEDY}."},
    }
    reply: Answer = replies[seen.reply_name]
    return reply


def _prompted(seen: SeenRequest) -> str:
    """Only what other tasks showed tells it how to count."""
    return f"I was hasty: {REMEDY}." if REMEDY in seen.last else "I was wrong."


def _new_types(seen: SeenRequest) -> list[dict[str, str]]:
    known = '<error_type name="hasty_count"' in seen.last
    return [] if known else [{"name": "hasty_count", "definition": "A step counts in haste."}]


@pytest.fixture
def server(
    model_server: Callable[..., ModelServer], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> ModelServer:
    """The model, and data to learn from and to be evaluated on."""
    write_data(tmp_path / "data", "cats", "owls")
    write_data(tmp_path / "data", "dogs", "bees", split="train")
    started = model_server(counter)
    monkeypatch.setenv("FORETHOUGHT_BASE_URL", started.url)
    monkeypatch.setenv("FORETHOUGHT_MODEL", "openai:scripted")
    return started


TRAIN = ("--train", "2", "--train-option", "split=train", "--yes")


def test_it_learns_at_all_levels_and_retries_by_the_benchmarks_verdict(cli: Cli, server: ModelServer) -> None:
    out = cli(*command(*TRAIN, "--json", method="samule,react"))
    assert out.code == 0, out.err
    assert {row["method"]: row["main"]["mean"] for row in out.json["rows"]} == {"samule": 1, "react": 0}
    by_method = {line["method"]: line for line in lines()}
    assert (by_method["samule"]["tries"], by_method["samule"]["asked_outcome"]) == (2, True)
    micro = [seen for seen in server.requests if seen.reply_name == "TrialReflection"]
    assert len(micro) == 2, "the second try of each training sample succeeds"
    assert all("<reference>\n42\n</reference>" in seen.last for seen in micro)
    learned = json.loads(Path("o/learned/samule.json").read_text())["learned"]
    assert (learned["trials"], learned["solved"], learned["problems"]) == (4, 2, [])
    assert [error["name"] for error in learned["errors"]] == ["hasty_count"]
    assert {record["reflection"] for record in learned["records"]} == {f"Merged: {REMEDY}."}
    prompted = [seen for seen in server.requests if seen.reply_name == "SelfReflection"]
    assert len(prompted) == 2
    assert '<reflection error_type="hasty_count">\nHaste recurs.' in prompted[0].last
    assert prompted[0].last.count(f"Merged: {REMEDY}.") == 2, "one of each similar task"
    assert "next: forethought train export o/learned/samule.json" in out.err
    assert "42" not in prompted[0].last, "what is reflected on when it counts sees no reference"


def test_the_number_of_tries_is_an_option(cli: Cli, server: ModelServer) -> None:
    out = cli(*command(*TRAIN, "--tries", "1", "--json", method="samule"))
    assert out.code == 0, out.err
    assert {line["tries"] for line in lines()} == {1}
    assert not [seen for seen in server.requests if seen.reply_name == "SelfReflection"]
    assert json.loads(Path("o/run.json").read_text())["budget"]["tries"] == 1


def test_a_retrospective_model_is_asked_as_it_was_trained(cli: Cli, server: ModelServer) -> None:
    out = cli(*command(*TRAIN, "--set", "retrospective_model=openai:retro", method="samule"))
    assert out.code == 0, out.err
    assert cli("train", "export", "o/learned/samule.json", "--out", "set").code == 0
    hosted = cli("train", "export", "o/learned/samule.json", "--out", "hosted", "--format", "openai")
    assert "--set retrospective_model=openai:MODEL" in hosted.out
    (row,) = [json.loads(line) for line in Path("hosted/train.jsonl").read_text().splitlines()]
    assert set(row) == {"messages"}
    assert json.loads(row["messages"][2]["content"]) == {"reflection": f"Merged: {REMEDY}."}
    rows = [json.loads(line) for line in Path("set/train.jsonl").read_text().splitlines()]
    asked = next(seen for seen in server.requests if seen.reply_name == "RoundReflection")
    assert asked.body["model"] == "retro"
    system, user, _ = (message["content"] for message in rows[0]["messages"])
    assert asked.messages[0][1] == system
    assert re.sub("cats|owls", rows[0]["task_id"], asked.messages[1][1]) == user


def test_error_reduction_is_measured_and_gates_a_model_by_command(cli: Cli, server: ModelServer) -> None:
    model = ("--set", "retrospective_model=openai:retro")
    out = cli(*command(*TRAIN, *model, method="error-reduction"))
    assert out.code == 0, out.err
    assert {line["sample"]: len(line["retries"]) for line in lines()} == {"cats": 3, "owls": 3}
    rates = cli("train", "reduction", "o", "--json").json
    assert {name: row["rate"] for name, row in rates.items()} == {"reflexion": 0, "samule": 1, "trained": 1}
    assert {row["retries"] for row in rates.values()} == {2}
    folder = Path("retro")
    folder.mkdir()
    (folder / "adapter_model.safetensors").write_bytes(b"weights")
    verdict = cli("train", "gate", "retro", "--evaluation", "o", "--json")
    assert (verdict.code, verdict.json["adopted"], verdict.json["tasks"]) == (3, False, 2)
    assert "at least 5" in verdict.json["reason"]


def test_a_service_desk_is_learned_from_and_retried(
    cli: Cli, model_server: Callable[..., ModelServer], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def desk(seen: SeenRequest) -> Answer:
        if seen.reply_name == "CustomerReply":
            return {"thought": "", "state": "continues", "message": "Emma, please."}
        if seen.reply_name != "ReactMove":
            return counter(seen)
        if REMEDY in seen.last and "Step" not in seen.last and "observation:" not in seen.last:
            return move("lend_book", **tiny_checkouts.LEND)
        return done("Good-bye.")

    server = model_server(desk)
    monkeypatch.setenv("FORETHOUGHT_BASE_URL", server.url)
    monkeypatch.setenv("FORETHOUGHT_MODEL", "openai:scripted")
    checkout = str(tiny_checkouts.tau_bench(tmp_path / "checkout"))
    learn = ("--option", "domain=retail", "--sample", "retail-test-0", "--train", "2", "--tries", "2")
    chosen = ("eval", "run", "tau-bench", "--data", checkout, "--method", "samule", *learn)
    out = cli(*chosen, "--yes", "--out", "o")
    assert out.code == 0, out.err
    (line,) = lines()
    assert (line["reward"], line["tries"]) == (1, 2)
    micro = [seen for seen in server.requests if seen.reply_name == "TrialReflection"]
    assert len(micro) == 2, "a task that is solved by doing nothing teaches nothing"
    assert all('"name": "get_book"' in seen.last for seen in micro), "the calls of a right run"
    kept = read_trajectories(Path("o") / line["trajectory"])[0]
    assert '"name": "lend_book"' in kept.reference.solution, "`synthesize o/trajectories` has it too"


def test_a_world_without_references_is_learned_from(
    cli: Cli, model_server: Callable[..., ModelServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    def shopper(seen: SeenRequest) -> Answer:
        looked = "observation:" in seen.last
        is_move = seen.reply_name == "ReactMove"
        return (done("") if looked else move("act", action="search[lamp]")) if is_move else counter(seen)

    server = model_server(shopper)
    monkeypatch.setenv("FORETHOUGHT_BASE_URL", server.url)
    monkeypatch.setenv("FORETHOUGHT_MODEL", "openai:scripted")
    few = ("--limit", "1", "--train", "2", "--tries", "2", "--steps", "2")
    out = cli("eval", "run", "small-shop", "--method", "samule,react", *few, "--yes", "--out", "o")
    assert out.code == 0, out.err
    assert {line["method"]: (line["score"], line["tries"]) for line in lines()} == {
        "samule": (0, 2),
        "react": (0, 1),
    }
    learned = json.loads(Path("o/learned/samule.json").read_text())["learned"]
    assert (learned["trials"], learned["solved"]) == (4, 0), "each try has all steps of the budget"
    assert len(learned["records"]) == 4
    assert "None is known." in next(s for s in server.requests if s.reply_name == "TrialReflection").last
