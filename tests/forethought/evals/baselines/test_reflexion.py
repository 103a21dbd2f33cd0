"""Reflexion: who says that a trial failed, what the next one is told, and which one counts."""

from __future__ import annotations

from typing import Any

from forethought.evals.registry import method
from forethought.evals.types import Attempt, Budget
from tests.support.evaluating import Bureau, HouseEpisode, Replies, done, expert, move
from tests.support.household import RUINS, Household
from tests.support.model_server import Answer, SeenRequest

RIGHT = "42"


def scripted(*answers: str, **others: Any) -> Replies:
    """Answers in turn, and a reflection for each failure."""
    reflections = [{"reflection": f"lesson {number}"} for number in range(1, 9)]
    return Replies({"ReactMove": [done(text) for text in answers], "SelfReflection": reflections, **others})


async def is_right(attempt: Attempt) -> bool:
    """The oracle."""
    return attempt.answer == RIGHT


async def test_a_failed_trial_is_reflected_upon_and_tried_again(bureau: Bureau) -> None:
    out = await bureau.work(method("reflexion"), scripted("40", "41", RIGHT, "43"), outcome=is_right)
    assert (out.attempt.answer, out.attempt.tries, out.attempt.status) == (RIGHT, 3, "answered")
    first, second, third = (seen.last for seen in out.asked("ReactMove"))
    assert "lesson" not in first
    assert ("lesson 1" in second, "lesson 2" in second) == (True, False)
    assert third.index("lesson 1") < third.index("lesson 2")
    assert not out.asked("SelfJudgement"), "the benchmark's word is enough"
    message = out.asked("SelfReflection")[1].last
    assert "finish: 41" in message
    assert "finish: 40" not in message
    assert "lesson 1" in message
    assert "which gives no reason" in message
    assert out.attempt.trajectory.notes == ("This is try 3 of 3.",)


async def test_after_the_last_trial_its_answer_counts(bureau: Bureau) -> None:
    out = await bureau.work(method("reflexion"), scripted("1", "2", "3", "4", "5"), outcome=is_right)
    assert (out.attempt.answer, out.attempt.tries) == ("3", 3)
    assert len(out.asked("SelfReflection")) == 2


async def test_without_an_oracle_the_model_judges_itself(bureau: Bureau) -> None:
    verdicts = [{"reasoning": "it is too small", "solved": False}, {"reasoning": "", "solved": True}]
    out = await bureau.work(method("reflexion"), scripted("40", "41", RIGHT, SelfJudgement=verdicts))
    assert (out.attempt.answer, out.attempt.tries) == ("41", 2)
    assert "By your own judgement: it is too small." in out.asked("SelfReflection")[0].last


async def test_in_a_world_each_trial_begins_anew_and_leaves_steps_to_the_next(bureau: Bureau) -> None:
    steps, house = 40, Household(3)
    episode = HouseEpisode(house)
    wise = expert(house).by_name["ReactMove"]

    def hasty(seen: SeenRequest) -> Answer:
        if "do not ruin it" not in seen.last and house.world.held:
            return move("act", action=f"{next(iter(RUINS))} {house.world.held}")
        if "do not ruin it" not in seen.last and house.world.place(house.thing) == "nowhere":
            return move("act", action="go to shelf" if house.world.at != "shelf" else "go to desk")
        assert callable(wise)
        return wise(seen)

    async def solved(attempt: Attempt) -> bool:
        return attempt.reward == 1

    replies = Replies({"ReactMove": hasty, "SelfReflection": [{"reflection": "do not ruin it"}]})
    out = await bureau.work(
        method("reflexion"), replies, episode=episode, outcome=solved, budget=Budget(max_steps=steps)
    )
    assert (out.attempt.reward, out.attempt.tries, episode.resets) == (1, 2, 2)
    assert steps // 2 < out.attempt.steps <= steps, "half of them went into the first trial"
    assert len(out.attempt.trajectory.steps) == out.attempt.steps - steps // 2
    assert "The environment was put back to its beginning." in out.asked("ReactMove")[-1].last
