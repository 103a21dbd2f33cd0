"""ALFWorld itself: games made offline, played by its own expert through our agent's graph."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from benchmarks.alfworld_expert import in_turn, play
from benchmarks.alfworld_games import TASKS, generate, write
from forethought.evals.benchmarks.alfworld import BENCHMARK
from forethought.evals.environments.alfworld.episode import AlfworldEpisode
from forethought.evals.environments.alfworld.game import Game
from forethought.evals.types import Sample
from forethought.rollouts.environment import replay_prefix
from forethought.rollouts.types import EnvironmentReply
from forethought.trajectories.types import TrajectoryStep

pytestmark = pytest.mark.alfworld


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A game of each task type."""
    folder = tmp_path_factory.mktemp("games")
    generate(write(folder, "valid_unseen", len(TASKS), seed=5))
    return folder


@pytest.fixture(scope="module")
def samples(games: Path) -> list[Sample]:
    return in_turn(BENCHMARK.samples(games, {}))


async def won(sample: Sample) -> tuple[list[str], list[EnvironmentReply]]:
    """The planner's way through a game, and what an episode shows on it."""
    game, world = Game(Path(sample.data["game"]), "planner"), _episode(sample)
    try:
        at, replies, actions = await game.reset(), [await world.reset()], []
        while not replies[-1].done:
            actions.append(at.plan[0])
            at = await game.step(actions[-1])
            replies.append(await world.step(actions[-1]))
        return actions, replies
    finally:
        await game.close()
        await world.close()


def _episode(sample: Sample) -> AlfworldEpisode:
    return AlfworldEpisode(Game(Path(sample.data["game"])), sample.task)


async def test_every_game_can_be_won_and_not_by_doing_nothing(samples: list[Sample]) -> None:
    assert sorted(sample.groups["task_type"] for sample in samples) == sorted(TASKS)
    for actions, replies in await asyncio.gather(*map(won, samples)):
        assert [reply.reward for reply in replies] == [0.0] * len(actions) + [1.0]
        assert all(action in reply.admissible for action, reply in zip(actions, replies[:-1], strict=True))


async def test_a_game_goes_the_same_way_every_time(samples: list[Sample]) -> None:
    """In another process, and after a reset and a replay in the same one."""
    (actions, first), (_, again) = await asyncio.gather(won(samples[0]), won(samples[0]))
    assert first == again
    world = _episode(samples[0])
    steps = [
        TrajectoryStep(number=number, action=action, observation=reply.observation)
        for number, (action, reply) in enumerate(zip(actions, first[1:], strict=True), 1)
    ]
    await world.reset()
    await world.step("go nowhere")
    replayed = await replay_prefix(world, steps)
    await world.close()
    assert (replayed.diverged, replayed.reply) == ("", first[-1])


async def test_the_expert_wins_through_our_agents_loop(samples: list[Sample], tmp_path: Path) -> None:
    played = [await play(sample, "planner", tmp_path / sample.id) for sample in samples]
    assert [outcome.problem for outcome in played] == [""] * len(TASKS)
