"""`forethought eval run --method samule`: from training failures to retries with learned reflections."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.forethought.app.conftest import Cli
from tests.forethought.app.eval.conftest import command, lines, write_data
from tests.forethought.app.eval.scripts import REMEDY, RIGHT, learn
from tests.support.evaluating import done
from tests.support.model_server import Answer, ModelServer, SeenRequest


def counter(seen: SeenRequest) -> Answer:
    """An actor that counts right once it is told how, and reads as `learn` does."""
    if seen.reply_name == "ReactMove":
        return done(RIGHT if REMEDY in seen.last else "1")
    return learn(seen)


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
    assert "1 run, 120 tokens; estimate for all 5 runs, 600 tokens" in out.err, "of a pilot"
    assert out.json["cost"]["tokens"] == 120 * len(server.requests)
    assert {line["tries"] for line in lines()} == {1}
    assert not [seen for seen in server.requests if seen.reply_name == "SelfReflection"]
    assert json.loads(Path("o/run.json").read_text())["budget"]["tries"] == 1


def test_the_synthesis_in_training_has_settings(cli: Cli, server: ModelServer) -> None:
    chosen = ("--tries", "1", "--set", "steps_per_call=1", "--set", "effort=low")
    out = cli(*command(*TRAIN, *chosen, method="samule"))
    assert out.code == 0, out.err
    labels = [seen.last for seen in server.requests if seen.reply_name == "StepLabels"]
    assert labels
    assert all(re.search(r"# The steps to label\n\d+$", text.strip()) for text in labels)
    assert json.loads(Path("o/run.json").read_text())["context"] == {"steps_per_call": 1, "effort": "low"}
    assert re.search(r"Tokens for learning .* samule [\d,]+\.", Path("o/table.md").read_text())
    wrong = cli(*command(*TRAIN, "--set", "steps_per_call=0", method="samule"))
    assert (wrong.code, "steps_per_call" in wrong.err) == (2, True)


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
