"""local:PATH without the model itself: what is refused before it is loaded, and what a reply becomes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from forethought.models.ask import Models
from forethought.models.types import ConfigurationError, Message, reply_spec
from forethought.prompts.replies import Plan, RoundReflection
from forethought.settings import Settings
from forethought.training import local
from forethought.training.local import LocalModels

Make = Callable[..., Settings]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of models with one that was never judged."""
    model = tmp_path / "models" / "taught"
    model.mkdir(parents=True)
    (model / "adapter_config.json").write_text("{}")
    (model / "adapter_model.safetensors").write_bytes(b"x")
    return tmp_path / "models"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local.importlib.util, "find_spec", lambda name: object())


def test_a_model_that_was_not_judged_is_refused_unless_the_operator_allows_it(
    folder: Path, settings: Make, installed: None
) -> None:
    with pytest.raises(ConfigurationError, match=r"not passed.*FORETHOUGHT_ALLOW_UNGATED_MODELS=true"):
        Models(settings(models_dir=folder)).verify(["local:taught"])
    Models(settings(models_dir=folder, allow_ungated_models=True)).verify(["local:taught"])


def test_the_missing_extra_is_named(folder: Path, settings: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match=r"torch is not installed: pip install .*\[train"):
        Models(settings(models_dir=folder, allow_ungated_models=True)).verify(["local:taught"])


@pytest.mark.parametrize(
    "name",
    ["local:../outside", "local:/etc", "local:", "local:.", "local:taught/../../outside", "local:link"],
)
def test_only_the_operators_folder_holds_models(name: str, folder: Path, settings: Make) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()
    (outside / "config.json").write_text("{}")
    (folder / "link").symlink_to(outside)
    with pytest.raises(ConfigurationError, match=r"is not in the models folder.*FORETHOUGHT_MODELS_DIR"):
        Models(settings(models_dir=folder, allow_ungated_models=True)).verify([name])


def test_an_absolute_path_in_the_folder_is_fine(folder: Path, settings: Make, installed: None) -> None:
    Models(settings(models_dir=folder, allow_ungated_models=True)).verify([f"local:{folder}/taught"])
    with pytest.raises(ConfigurationError, match="there is no model in"):
        Models(settings(models_dir=folder, allow_ungated_models=True)).verify(["local:missing"])


async def test_it_writes_reflections_only(folder: Path, settings: Make) -> None:
    models = Models(settings(models_dir=folder, allow_ungated_models=True))
    with pytest.raises(ConfigurationError, match="writes reflections only"):
        await models.ask(
            role="planner", model="local:taught", messages=[Message("user", "plan")], reply=reply_spec(Plan)
        )


@pytest.mark.parametrize(
    ("text", "whole", "reflection"),
    [
        ("Ask first.", True, "Ask first."),
        ("Ask first. Then bo", False, "Ask first."),
        ("Ask first, then bo", False, "Ask first, then bo [...]"),
        ("At 3.5 stars. Pay 2.5", False, "At 3.5 stars."),
    ],
)
async def test_plain_text_becomes_the_reflection(
    text: str, whole: bool, reflection: str, folder: Path, settings: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = SimpleNamespace(text=text, input_tokens=7, output_tokens=3, whole=whole)
    seen: list[Any] = []

    def reflect(messages: Any, max_seconds: float) -> Any:
        seen.append((messages, max_seconds))
        return made

    monkeypatch.setattr(LocalModels, "_load", lambda self, name: SimpleNamespace(reflect=reflect))
    got = await Models(settings(models_dir=folder)).ask(
        role="retrospective",
        model="local:taught",
        messages=[Message("system", "s"), Message("user", "u")],
        reply=reply_spec(RoundReflection),
    )
    assert got.reply.reflection == reflection
    assert json.loads(got.text) == {"reflection": reflection}
    assert (got.usage["input_tokens"], got.usage["output_tokens"], got.usage["usd"]) == (7, 3, 0)
    assert got.usage["unpriced"] == 0, "it has a price, of nothing"
    assert seen == [([{"role": "system", "content": "s"}, {"role": "user", "content": "u"}], 20)]
