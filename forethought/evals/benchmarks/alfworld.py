"""ALFWorld (Shridhar et al. 2021): household tasks in a text game; success within 50 steps.

AgentDebug's tables 1 to 3 and figure 5 use it. A game counts as solved when its goal holds at some step.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel

from forethought.evals.benchmarks.reading import Source, choice, json_of, row_of
from forethought.evals.environments.alfworld.episode import AlfworldEpisode
from forethought.evals.environments.alfworld.game import Game
from forethought.evals.types import (
    Attempt,
    Benchmark,
    DataError,
    InfrastructureError,
    Sample,
    Score,
    Services,
)
from forethought.extras import install_command

SOURCE = Source(
    "ALFWorld's games (MIT) come with `alfworld-download --data-dir DIR`; `alfworld-generate` makes those of "
    "a folder that has ALFRED's files, and benchmarks/alfworld_games.py makes some without any download"
)
SPLITS = ("valid_unseen", "valid_seen", "train")
TASK_TYPES = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)
_UNSUPPORTED = re.compile(r"movable|Sliced")
_GOAL = re.compile(r'Your task is to: (.+?)\.?"')


class _Game(BaseModel):
    """What is read of a .tw-pddl file; the game itself reads it whole."""

    grammar: str
    pddl_problem: str
    solvable: bool | None = None
    walkthrough: list[str] | None = None


class _Trajectory(BaseModel):
    """What is read of a traj_data.json."""

    task_type: str


class Alfworld(Benchmark):
    """The benchmark."""

    name = "alfworld"
    title = "ALFWorld"
    about = "household tasks in text games (134 unseen, 140 seen); code and games MIT; AgentDebug's tables"
    main_metric = "success"
    steps: int = 60
    """50 commands, plus room for moves that are not commands."""
    options: Mapping[str, str] = {"split": f"{', '.join(SPLITS)} (default {SPLITS[0]})"}

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """The split's solvable games of the six task types, in the order of their paths."""
        split = choice(options, "split", SPLITS)
        if importlib.util.find_spec("alfworld") is None:
            raise DataError(f"alfworld is not installed: {install_command('alfworld')}")
        home = _home(data, split)
        samples = [
            sample
            for path in sorted(home.rglob("game.tw-pddl"))
            if not _UNSUPPORTED.search(path.relative_to(home).as_posix())
            and (sample := _sample(path, home, split)) is not None
        ]
        if not samples:
            raise SOURCE.fault(str(home), "no solvable game found; generate some")
        return samples

    def episode(self, sample: Sample, services: Services) -> AlfworldEpisode:
        """The game, in a process of its own from its first reset on."""
        path = Path(sample.data["game"])
        if not path.is_file():
            raise InfrastructureError(f"the game {path} no longer exists; restore the data")
        return AlfworldEpisode(Game(path), sample.task)

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """1 if the game was won."""
        if attempt.reward is None:
            raise InfrastructureError("the game gave no reward")
        won = attempt.reward >= 1.0
        return Score({"success": float(won)}, "" if won else "The goal did not hold when the game ended.")


def _home(data: Path, split: str) -> Path:
    """The split's folder, in `data` or in its json_2.1.1 as alfworld-download lays it out."""
    for home in (data / "json_2.1.1" / split, data / split):
        if home.is_dir():
            return home
    raise DataError(f"{data}: there is no json_2.1.1/{split} here. {SOURCE.where}")


def _sample(path: Path, home: Path, split: str) -> Sample | None:
    """The game as a sample; None where it cannot be solved, or is of another type."""
    trajectory = path.with_name("traj_data.json")
    if not trajectory.is_file():
        raise SOURCE.fault(str(trajectory), "is missing next to its game")
    kind = row_of(_Trajectory, json_of(trajectory, SOURCE), str(trajectory), SOURCE).task_type
    game = row_of(_Game, json_of(path, SOURCE), str(path), SOURCE)
    if kind not in TASK_TYPES or not game.solvable or game.walkthrough == []:
        return None
    goal = _GOAL.search(game.grammar)
    if goal is None:
        raise SOURCE.fault(str(path), "its grammar states no task")
    folder = path.parent.relative_to(home).as_posix()
    return Sample(
        id=re.sub(r"[^A-Za-z0-9._-]", "_", folder.replace("/", ".")),
        task=f"You act in a room of a household, by text commands. Your task is to: {goal[1]}.",
        groups={"task_type": kind, "split": split},
        data={"game": str(path.resolve())},
    )


BENCHMARK = Alfworld()
