"""From failed tries to a trained model that answers as the retrospective role of a real run."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rapidfuzz import fuzz

from forethought.json_files import write_records as write_rows
from forethought.models.ask import Models
from forethought.models.types import ConfigurationError, Message, TransportError, reply_spec
from forethought.prompts.replies import RoundReflection
from forethought.settings import Settings
from forethought.training import serve
from forethought.training.dataset import export
from forethought.training.gate import compare, write_result
from forethought.training.prompt import reflection_prompt
from forethought.training.train import TrainOptions, train
from tests.forethought.training.samples import record, trial, write_records
from tests.support.agent import Drive, Script, make_drive
from tests.support.model_server import ModelServer
from tests.support.replies import answer
from tests.support.tiny_model import HOLDS

pytestmark = pytest.mark.train


@pytest.fixture(scope="module")
def adapter(base_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained adapter, judged and adopted, in a folder of models."""
    folder = tmp_path_factory.mktemp("models")
    records = [record(number) for number in range(6)]
    export([write_records(folder / "records.jsonl", records)], folder / "data", str, held_out=0.01)
    asked = {"base": str(base_model), "epochs": 16, "learning_rate": 1e-2, "max_length": 2048}
    train(folder / "data", TrainOptions.model_validate(asked), folder / "taught", print)
    sides = {
        "prompted": [trial(n, "ab", "ab") for n in range(8)],
        "trained": [trial(n, "ab", "") for n in range(8)],
    }
    for name, trials in sides.items():
        write_rows(folder / f"{name}.jsonl", trials)
    verdict = compare(*sides.values())
    write_result(folder / "taught", verdict, *(folder / f"{name}.jsonl" for name in sides))
    return folder / "taught"


def asking(settings: Settings, name: str = "local:taught", user: str = "", **changes: Any) -> Any:
    system, default = reflection_prompt(
        task="Book a hotel in Lima.", trajectory="step 1 [book] book({}): FAILED"
    )
    return Models(settings).ask(
        role="retrospective",
        model=name,
        reply=changes.pop("reply", reply_spec(RoundReflection)),
        messages=[Message("system", system), Message("user", user or default)],
    )


@pytest.fixture
def drive(model_server: Callable[..., ModelServer], settings: Callable[..., Settings]) -> Drive:
    """See tests/support/agent.py."""
    return make_drive(model_server, settings)


async def test_a_trained_model_is_the_retrospective_role_of_a_real_run(
    drive: Drive, adapter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[Path] = []
    seen: list[list[dict[str, str]]] = []
    wrote: list[serve.Reflected] = []
    load, reflect = serve._load, serve.LocalModel.reflect

    def count(path: Path) -> Any:
        loaded.append(path)
        return load(path)

    def look(self: Any, messages: Any, seconds: float) -> Any:
        seen.append(messages)
        wrote.append(reflect(self, messages, seconds))
        return wrote[-1]

    monkeypatch.setattr(serve, "_load", count)
    monkeypatch.setattr(serve.LocalModel, "reflect", look)
    script = Script(answers=[answer("Team B", score=3), answer("Team C", score=4), answer("Team D")])
    out = await drive(
        script,
        setting={"models_dir": adapter.parent},
        task="Which team won?",
        round_reflection=True,
        retrospective_model="local:taught",
        max_usd=None,
    )
    assert out.status == "answered"
    assert not out.asked("RoundReflection"), "the backbone was asked for a reflection"
    assert loaded == [adapter]
    reflections = [out.state["long_term"][key]["reflection"] for key in ("1", "2")]
    assert [made.text for made in wrote] == reflections
    assert all(made.whole for made in wrote), "it did not learn to end a reflection"
    assert out.state["long_term"]["1"]["evaluation"] != reflections[0]
    assert reflections[0][:40] in out.asked("Plan")[-1].text, "the planner is not shown the reflection"
    usage = out.state["usage"]["retrospective"]
    assert usage["calls"] == 2
    assert usage["input_tokens"] > 200
    assert usage["output_tokens"] == sum(made.output_tokens for made in wrote) > 0
    assert (usage["usd"], usage["unpriced"]) == (0, 0)
    trained_on = json.loads((adapter.parent / "data" / "train.jsonl").read_text().splitlines()[0])["messages"]
    assert seen[0][0]["content"] == trained_on[0]["content"], "instructions differ from the training's"
    marks = ("# Task\n<task>", "# The failed try\n<trajectory>\n", "\nSteps:\nstep 1 [", "\nDraft answer:\n")
    assert all(mark in text for mark in marks for text in (seen[0][1]["content"], trained_on[1]["content"]))
    assert "Team B" in seen[0][1]["content"]


async def test_it_says_what_it_was_taught(
    adapter: Path, base_model: Path, settings: Callable[..., Settings]
) -> None:
    row = json.loads((adapter.parent / "data" / "train.jsonl").read_text().splitlines()[0])
    user, target = row["messages"][1]["content"], row["messages"][2]["content"]

    async def likeness(folder: Path) -> float:
        asked = settings(models_dir=folder.parent, allow_ungated_models=True)
        got = await asking(asked, f"local:{folder.name}", user=user)
        assert got.repairs == 0
        return fuzz.ratio(got.reply.reflection, target)

    taught, random = await likeness(adapter), await likeness(base_model)
    assert taught > 45
    assert taught > 1.5 * random
    assert await likeness(adapter) == taught, "greedy, so always the same"


async def test_a_merged_model_answers_like_its_adapter(
    adapter: Path, settings: Callable[..., Settings], tmp_path: Path
) -> None:
    model, tokenizer = serve._load(adapter)
    model.save_pretrained(tmp_path / "merged")
    tokenizer.save_pretrained(tmp_path / "merged")
    merged = await asking(settings(models_dir=tmp_path, allow_ungated_models=True), "local:merged")
    split = await asking(settings(models_dir=adapter.parent))
    assert merged.reply == split.reply


async def test_a_changed_model_is_refused(
    adapter: Path, settings: Callable[..., Settings], tmp_path: Path
) -> None:
    copy = tmp_path / "taught"
    shutil.copytree(adapter, copy)
    file = copy / "adapter_model.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"\x01")
    with pytest.raises(ConfigurationError, match="weights changed after it passed the gate"):
        await asking(settings(models_dir=tmp_path))


async def test_damaged_weights_are_one_line(
    adapter: Path, settings: Callable[..., Settings], tmp_path: Path
) -> None:
    copy = tmp_path / "taught"
    shutil.copytree(adapter, copy)
    (copy / "adapter_model.safetensors").write_bytes(b"junk")
    with pytest.raises(ConfigurationError, match="cannot be loaded") as caught:
        await asking(settings(models_dir=tmp_path, allow_ungated_models=True))
    assert "\n" not in str(caught.value)


async def test_a_trajectory_too_long_for_the_model_is_cut_in_its_middle(
    adapter: Path, settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    shorten = serve.shorten

    def look(user: str, fits: Any) -> str | None:
        made = shorten(user, fits)
        seen.append(made or "")
        return made

    monkeypatch.setattr(serve, "shorten", look)
    steps = "\n".join(f"step {n} [s] look({n}): ok: nothing" for n in range(1, 400))
    _, user = reflection_prompt(task="t", trajectory=steps)
    asked = settings(models_dir=adapter.parent)
    done = await asking(asked, user=user)
    assert done.reply.reflection
    assert "step 1 [s]" in seen[0]
    assert "step 399 [s]" in seen[0]
    assert "characters left out" in seen[0]
    room = HOLDS - serve.MAX_NEW_TOKENS
    assert room - 40 < done.usage["input_tokens"] <= room
    _, endless = reflection_prompt(task="word " * 9000, trajectory=steps)
    with pytest.raises(TransportError, match=f"do not fit into {room} tokens"):
        await asking(asked, user=endless)


async def test_calls_side_by_side_load_one_model(
    adapter: Path, settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = []
    load = serve._load
    monkeypatch.setattr(serve, "_load", lambda path: (loaded.append(path), load(path))[1])
    models = Models(settings(models_dir=adapter.parent))
    system, user = reflection_prompt(task="t", trajectory="x")
    ask = {"role": "retrospective", "model": "local:taught", "reply": reply_spec(RoundReflection)}
    messages = [Message("system", system), Message("user", user)]
    one, other = await asyncio.gather(*(models.ask(**ask, messages=messages) for _ in range(2)))  # type: ignore[arg-type]
    assert one.reply == other.reply
    assert len(loaded) == 1
