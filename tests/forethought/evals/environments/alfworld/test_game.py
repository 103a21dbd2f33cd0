"""A game's process, with a small game in ALFWorld's place: what it answers, and how it can break."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from forethought.evals.environments.alfworld import game
from forethought.evals.environments.alfworld.episode import AlfworldEpisode
from forethought.evals.environments.alfworld.game import Game
from forethought.evals.types import InfrastructureError
from forethought.rollouts.types import EnvironmentReply

WORKER = r"""
import json, os, sys, time

INTRO = "-= Welcome to TextWorld, ALFRED! =-\n\nA room.\n\nYour task is to: win."
n = 0
for line in sys.stdin:
    asked = json.loads(line)
    action = asked["arguments"].get("action", "")
    n = 0 if asked["operation"] == "reset" else n + 1
    text = f"{n}: {action}" if n else INTRO
    position = {"observation": text, "admissible": ["win", "wait"], "won": action == "win", "plan": []}
    reply = {"ok": position}
    if action == "die":
        sys.exit("it died")
    if action == "hang":
        time.sleep(60)
    if action == "fail":
        reply = {"error": "ValueError: oops"}
    if action.startswith("env "):
        position["observation"] = os.environ.get(action.removeprefix("env "), "unset")
    print("this is no reply" if action == "noise" else json.dumps(reply), flush=True)
"""


@pytest.fixture(autouse=True)
def small_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = tmp_path / "worker.py"
    worker.write_text(WORKER)
    monkeypatch.setattr(game, "WORKER", [str(worker)])


def episode(max_steps: int = 50) -> AlfworldEpisode:
    return AlfworldEpisode(Game(Path("game")), "win", max_steps)


async def test_a_game_is_won() -> None:
    world = episode()
    first = await world.reset()
    assert first == EnvironmentReply("A room.\n\nYour task is to: win.", ("win", "wait"))
    assert await world.step(" wait  here ") == EnvironmentReply("1: wait here", ("win", "wait"))
    assert await world.step("win") == EnvironmentReply("2: win", (), 1.0, True)
    assert await world.reset() == first
    ended = await world.finish("I won")
    assert (ended.reward, ended.done) == (0.0, True)
    await world.close()


async def test_a_game_ends_after_its_last_command() -> None:
    world = episode(max_steps=2)
    with pytest.raises(ValueError, match="reset"):
        await world.step("win")
    await world.reset()
    assert not (await world.step("wait")).done
    assert await world.step("wait") == EnvironmentReply("2: wait", (), 0.0, True)
    assert not (await world.reset()).done
    assert not (await world.step("wait")).done, "the count begins anew"
    await world.close()


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("die", "it died"),
        ("noise", "ended at step"),
        ("fail", "ValueError: oops"),
        ("hang", "no answer within 0.2 s"),
    ],
)
async def test_a_game_that_breaks_is_reported_and_can_begin_anew(action: str, message: str) -> None:
    world = episode()
    await world.reset()
    if action == "hang":
        world._game._process.seconds = 0.2  # type: ignore[union-attr]
    with pytest.raises(InfrastructureError, match=message):
        await world.step(action)
    assert (await world.reset()).observation.startswith("A room.")
    await world.close()


async def test_a_step_that_was_given_up_leaves_no_answer_behind() -> None:
    world = episode()
    await world.reset()
    step = asyncio.create_task(world.step("hang"))
    await asyncio.sleep(0.05)
    step.cancel()
    with pytest.raises(asyncio.CancelledError):
        await step
    assert (await world.reset()).observation.startswith("A room.")
    assert (await world.step("wait")).observation == "1: wait"
    await world.close()


async def test_no_key_reaches_a_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    world = episode()
    await world.reset()
    assert (await world.step("env SOME_API_KEY")).observation == "unset"
    assert (await world.step("env PYTHONHASHSEED")).observation == "0"
    await world.close()
