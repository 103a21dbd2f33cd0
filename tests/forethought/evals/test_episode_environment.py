"""An evaluation's episode as an environment of re-runs."""

from __future__ import annotations

from typing import Any

from forethought.evals.actions import call_text
from forethought.evals.episode_environment import EpisodeEnvironment
from forethought.evals.types import ToolSpec
from forethought.rollouts.types import EnvironmentReply
from forethought.tools.base import ToolError


class Desk:
    """A world with one tool, which refuses what it does not know."""

    name, task, how_to_act = "desk", "Book.", ""
    tools = (ToolSpec("book", "Books a seat.", {"type": "object", "properties": {"seat": {}}}),)

    def __init__(self) -> None:
        self.actions: list[str] = []

    async def reset(self) -> EnvironmentReply:
        """See Episode."""
        return EnvironmentReply("A desk.", admissible=("wait",))

    async def step(self, action: str) -> EnvironmentReply:
        """See Episode."""
        self.actions.append(action)
        if "99" in action:
            raise ToolError("no such seat")
        return EnvironmentReply("Booked.", reward=0.5)

    async def finish(self, answer: str) -> EnvironmentReply:
        """See Episode."""
        return EnvironmentReply("Bye.", reward=float(answer == "done"))

    async def close(self) -> None:
        """See Episode."""


async def test_calls_of_either_form_and_the_last_word_are_carried_out() -> None:
    desk: Any = Desk()
    world = EpisodeEnvironment(desk, "Book seat 7.")
    assert (await world.reset()).observation == "A desk.\n\nPossible actions now:\n- wait"
    booked = await world.step(call_text("book", {"seat": 7}))
    assert (booked.observation, booked.reward) == ("Booked.", 0.5)
    await world.step('book({"seat": 7})')
    assert desk.actions == [call_text("book", {"seat": 7})] * 2
    refused = await world.step(call_text("book", {"seat": 99}))
    assert (refused.observation, refused.reward, refused.done) == ("no such seat", 0.5, False)
    assert (await world.step("finish: the subtask")).observation == ""
    assert len(desk.actions) == 3
    over = await world.step("answer: done")
    assert (over.reward, over.done) == (1.0, True)


async def test_the_task_says_how_one_acts() -> None:
    desk: Any = Desk()
    task = EpisodeEnvironment(desk, "Book seat 7.").task
    assert task.startswith("Book seat 7.\n\nHow to act:\nAn action is a call as JSON, one of:\n")
    assert '- {"arguments": {}, "name": "book"}, arguments' in task
    assert task.endswith("The action `answer: TEXT` ends the run with TEXT.")
