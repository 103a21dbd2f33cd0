"""A trained model: its reflections, its weights, prompts that are too long for it."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rapidfuzz import fuzz

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
    prompted, trained = ([trial(n, "ab", after) for n in range(8)] for after in ("ab", ""))
    write_result(folder / "taught", compare(prompted, trained))
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
