"""From failed runs to a trained model that answers as the retrospective role, all by commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forethought.app.main import run_cli
from forethought.training import serve
from forethought.training.dataset import read_rows
from forethought.training.records import ReflectionRecord
from tests.forethought.training.samples import trial, write_retries
from tests.support.counting import Counter, counted
from tests.support.model_server import Answer, ModelServer, SeenRequest
from tests.support.replies import answer

pytestmark = pytest.mark.train
KINDS = ("cats", "dogs", "owls", "bees", "ants")


def doubtful(seen: SeenRequest) -> Answer | None:
    """Doubts its count of the task of the last run, until a round has failed."""
    asked = seen.reply_name == "AnswerDraft" and counted(seen) == "goats"
    return answer("41", [1], score=3) if asked else None


def test_failed_runs_teach_a_model_that_is_the_retrospective_role_of_a_real_run(
    model_server: Callable[..., ModelServer],
    base_model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server = model_server(Counter(doubtful))
    monkeypatch.chdir(tmp_path)
    environment = {"BASE_URL": server.url, "MODEL": "openai:scripted", "MODELS_DIR": str(tmp_path)}
    for name, value in environment.items():
        monkeypatch.setenv(f"FORETHOUGHT_{name}", value)

    def command(*arguments: str) -> str:
        capsys.readouterr()
        code = run_cli(arguments)
        said = capsys.readouterr()
        assert code == 0, said.err
        return said.out

    tasks = [{"id": kind, "task": f"Count the {kind}.", "expected": "42"} for kind in KINDS]
    Path("tasks.jsonl").write_text("".join(f"{json.dumps(task)}\n" for task in tasks))
    command("synthesize", "tasks.jsonl", "--out", "reflections.jsonl")
    records = read_rows(Path("reflections.jsonl"), ReflectionRecord)
    assert [record.task_id for record in records] == list(KINDS)

    command("train", "export", "reflections.jsonl", "--out", "data", "--held-out", "0.2")
    choices = ("--epochs", "16", "--learning-rate", "0.01", "--max-length", "2048")
    out = command("train", "run", "data", "--out", "taught", "--base", str(base_model), *choices, "--json")
    made = json.loads(out[out.index("{") :])
    assert made["last_loss"] < made["first_loss"] / 2
    after = {"samule": "ab", "trained": ""}
    retries = [(name, trial(number, "ab", left)) for name, left in after.items() for number in range(8)]
    command("train", "gate", "taught", "--evaluation", write_retries("evaluation", *retries))

    wrote: list[str] = []
    reflect = serve.LocalModel.reflect

    def look(self: Any, messages: Any, seconds: float) -> Any:
        made = reflect(self, messages, seconds)
        wrote.append(made.text)
        return made

    monkeypatch.setattr(serve.LocalModel, "reflect", look)
    capsys.readouterr()
    sets = ("round_reflection=true", "retrospective_model=local:taught", "max_rounds=2")
    flags = [part for item in sets for part in ("--set", item)]
    code = run_cli(["run", "Count the goats.", "--thread", "g", "--json", *flags])
    result = json.loads(capsys.readouterr().out)
    assert (code, result["status"]) == (3, "best_effort"), result
    assert wrote, "the trained model was not asked"
    assert "RoundReflection" not in server.names, "the backbone was asked"
    plans = [seen for seen in server.requests if seen.reply_name == "Plan" and counted(seen) == "goats"]
    assert wrote[0].split(".")[0] in plans[-1].text, "the next plan does not see the reflection"
