"""ALFWorld's games as samples: what is taken of a folder, and what is said of one that will not do."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

from forethought.evals.benchmarks.alfworld import BENCHMARK, TASK_TYPES
from forethought.evals.types import DataError, InfrastructureError, Sample
from tests.support.answers import attempt, services

GRAMMAR = '"task": [{"rhs": "Your task is to: put a hot egg in fridge."}]'


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the extra was installed: no game is played here."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)


def add(data: Path, folder: str, split: str = "valid_unseen", kind: str = TASK_TYPES[0], **game: Any) -> Path:
    """A game in a folder of games."""
    home = data / "json_2.1.1" / split / folder
    home.mkdir(parents=True)
    (home / "traj_data.json").write_text(json.dumps({"task_type": kind, "turk_annotations": {}}))
    whole = {"grammar": GRAMMAR, "pddl_problem": "p", "pddl_domain": "d", "solvable": True, **game}
    path = home / "game.tw-pddl"
    path.write_text(json.dumps(whole))
    return path


def test_a_game_is_a_sample(tmp_path: Path) -> None:
    path = add(tmp_path, "pick_heat-Egg-None-Fridge-1/trial_T1", kind="pick_heat_then_place_in_recep")
    [sample] = BENCHMARK.samples(tmp_path, {})
    assert sample.id == "pick_heat-Egg-None-Fridge-1.trial_T1"
    assert sample.task.endswith("Your task is to: put a hot egg in fridge.")
    assert sample.groups == {"task_type": "pick_heat_then_place_in_recep", "split": "valid_unseen"}
    assert sample.data == {"game": str(path)}


def test_what_the_benchmark_leaves_out_is_left_out(tmp_path: Path) -> None:
    add(tmp_path, "b/1")
    add(tmp_path, "a/1")
    add(tmp_path, "movable-x/1")
    add(tmp_path, "AppleSliced/1")
    add(tmp_path, "c/1", solvable=False)
    add(tmp_path, "d/1", solvable=None)
    add(tmp_path, "e/1", walkthrough=[])
    add(tmp_path, "f/1", kind="pick_and_place_with_movable_recep")
    add(tmp_path, "g/1", split="train")
    assert [sample.id for sample in BENCHMARK.samples(tmp_path, {})] == ["a.1", "b.1"]
    assert [sample.id for sample in BENCHMARK.samples(tmp_path / "json_2.1.1", {"split": "train"})] == ["g.1"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "there is no json_2.1.1/valid_unseen here"),
        ({"split": "train"}, "no solvable game found; generate some"),
    ],
)
def test_absent_data_is_reported_in_one_line(options: dict[str, str], message: str, tmp_path: Path) -> None:
    add(tmp_path, "a/1", split="train", solvable=False)
    with pytest.raises(DataError, match=re.escape(message)) as error:
        BENCHMARK.samples(tmp_path, options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("game.tw-pddl", '{"pddl_problem": "p"}', "grammar: Field required"),
        ("game.tw-pddl", '{"pddl_problem": "p", "grammar": "none", "solvable": true}', "states no task"),
        ("traj_data.json", None, "is missing next to its game"),
    ],
)
def test_a_broken_game_is_named(name: str, text: str | None, message: str, tmp_path: Path) -> None:
    path = add(tmp_path, "a/1").with_name(name)
    path.unlink()
    if text is not None:
        path.write_text(text)
    with pytest.raises(DataError, match=re.escape(message)) as error:
        BENCHMARK.samples(tmp_path, {})
    assert "alfworld-download" in str(error.value)


@pytest.mark.parametrize("reward", [0.0, 1.0])
async def test_the_score_is_success(reward: float) -> None:
    score = await BENCHMARK.score(Sample("a", "t"), attempt(reward=reward), services())
    assert score.values == {"success": reward}
    assert BENCHMARK.floor(Sample("a", "t")) == 0.0


async def test_without_a_game_there_is_no_score(tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match="no reward"):
        await BENCHMARK.score(Sample("a", "t"), attempt(reward=None), services())
    with pytest.raises(InfrastructureError, match="no longer exists"):
        BENCHMARK.episode(Sample("a", "t", data={"game": str(tmp_path / "g")}), services())
