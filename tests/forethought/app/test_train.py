"""train export, run and gate on the command line, without the extra: what they write and how they refuse."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from forethought.extras import install_command
from forethought.training.gate import Retry
from tests.forethought.app.conftest import Cli
from tests.forethought.training.samples import record, trial, write_records, write_retries

RUN = ("train", "run", "data", "--out", "model")


@pytest.fixture
def data(cli: Cli) -> None:
    """A dataset in `data`, made by the command."""
    write_records(Path("records.jsonl"), [record(number) for number in range(6)])
    assert cli("train", "export", "records.jsonl", "--out", "data").code == 0


def both(prompted: str, trained: str) -> list[tuple[str, Retry]]:
    """Errors after the retries of eight tasks, after either model's reflections."""
    after = {"samule": prompted, "trained": trained}
    return [(name, trial(number, "ab", left)) for name, left in after.items() for number in range(8)]


def model() -> Path:
    folder = Path("model")
    folder.mkdir()
    (folder / "adapter_model.safetensors").write_bytes(b"weights")
    (folder / "training.json").write_text(json.dumps({"task_ids": ["t1"], "tasks": ["book a hotel"]}))
    return folder


def test_export_tells_its_counts(cli: Cli) -> None:
    write_records(Path("a.jsonl"), [record(number) for number in range(6)])
    write_records(Path("b.jsonl"), [record(0, trajectory_id="again")])
    done = cli("train", "export", "a.jsonl", "b.jsonl", "--out", "data", "--held-out", "0.3", "--json")
    assert done.code == 0, done.err
    assert (done.json["read"], done.json["duplicates"]) == (7, 1)
    assert done.json["train"] + done.json["held_out"] == 6
    assert len(Path("data/train.jsonl").read_text().splitlines()) == done.json["train"]
    plain = cli("train", "export", "a.jsonl", "--out", "other")
    assert "0 duplicates left out" in plain.out
    assert "forethought train run other --out MODEL" in plain.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("export", "none.jsonl", "--out", "d"), "none.jsonl: cannot be read (No such file"),
        (("export", "bad.jsonl", "--out", "d"), "bad.jsonl:1: task_id: "),
        (("export", "one.jsonl", "--out", "d"), "all records are of one task"),
        (
            ("export", "one.jsonl", "--out", "one.jsonl", "--held-out", "0"),
            "one.jsonl: cannot be written to",
        ),
        (("run", "nothing", "--out", "m"), "is missing: make it with `forethought train export"),
        (("run", "d", "--out", "m", "--learning-rate", "0"), "learning_rate: must be greater than 0"),
        (("gate", "nowhere", "--evaluation", "x"), "has no weights"),
    ],
)
def test_what_is_wrong_is_one_line(arguments: tuple[str, ...], told: str, cli: Cli) -> None:
    Path("bad.jsonl").write_text('{"task_id": 3}\n')
    write_records(Path("one.jsonl"), [record(0)])
    done = cli("train", *arguments)
    assert done.code == 2
    assert told in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_the_missing_extra_is_named(cli: Cli, data: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "peft", "trl"):
        monkeypatch.setitem(sys.modules, name, None)
    done = cli(*RUN)
    assert done.code == 2
    assert f"is not installed: {install_command('train')}" in done.err
    assert not Path("model").exists()


def test_the_gate_adopts_the_better_model_and_says_no_with_exit_code_3(cli: Cli) -> None:
    folder = model()
    better = cli("train", "gate", "model", "--evaluation", write_retries("e", *both("ab", "a")))
    assert better.code == 0, better.err
    assert "trained: 0.50 of 16 errors prevented" in better.out
    assert "adopted: " in better.out
    assert json.loads((folder / "gate.json").read_text())["adopted"] is True
    assert "--set retrospective_model=local:model" in better.out
    gate = ("train", "gate", "model", "--evaluation")
    same = cli(*gate, write_retries("same", *both("a", "a")), "--json")
    assert (same.code, same.json["adopted"]) == (3, False)
    seen = Retry(task_id="t1", trajectory_id="x", before=("a",), after=())
    refused = cli(*gate, write_retries("seen", ("samule", seen), ("trained", seen)))
    assert (refused.code, "task t1 is a training task" in refused.err) == (2, True)
    (folder / "training.json").unlink()
    assert "nothing shows that the tasks were held out" in cli(*gate, "seen").err
    untried = cli(*gate, write_retries("untried", ("samule", seen)))
    assert (untried.code, "no retries after a trained model's reflections" in untried.err) == (2, True)
    assert "has no retries: run `eval run" in cli("train", "reduction", write_retries("none")).err
