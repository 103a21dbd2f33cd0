"""Self-Refine: drafts and feedback."""

from __future__ import annotations

from forethought.evals.registry import method
from forethought.evals.types import Budget
from forethought.tools.base import make_tool
from tests.support.evaluating import Bureau, Replies, SafeEpisode, done, move
from tests.support.exchange import Reply


def weigh(thing: str) -> str:
    """Weigh something."""
    return f"{thing} weighs 3 kg"


async def test_drafts_are_mended_until_nothing_is_wrong(bureau: Bureau) -> None:
    replies = Replies(
        {
            "ReactMove": [done("about 2 kg"), move("weigh", thing="pear"), done("3 kg")],
            "DraftFeedback": [{"feedback": "weigh it", "good": False}, {"feedback": "right", "good": True}],
        }
    )
    out = await bureau.work(method("self-refine"), replies, tools=[make_tool(weigh)])
    assert (out.attempt.answer, out.attempt.tries) == ("3 kg", 2)
    message = out.asked("ReactMove")[1].last
    assert '<draft number="1">\nabout 2 kg' in message
    assert '<feedback draft="1">\nweigh it' in message
    assert "finish: about 2 kg" in message, "the history goes on"
    assert "pear weighs 3 kg" in out.asked("DraftFeedback")[1].last
    assert [step.number for step in out.attempt.trajectory.steps] == [1, 2, 3]


async def test_it_ends_after_four_drafts_and_without_feedback(bureau: Bureau) -> None:
    feedback = {"feedback": "still wrong", "good": False}
    replies = Replies({"ReactMove": [done(str(n)) for n in range(9)], "DraftFeedback": [feedback]})
    out = await bureau.work(method("self-refine"), replies)
    assert (out.attempt.answer, out.attempt.tries) == ("3", 4)
    replies = Replies({"ReactMove": [done("0"), done("1")], "DraftFeedback": ["no JSON"]})
    assert (await bureau.work(method("self-refine"), replies)).attempt.answer == "0"


async def test_in_a_world_a_draft_is_a_try_from_the_beginning(bureau: Bureau) -> None:
    safe = SafeEpisode()
    replies = Replies(
        {
            "ReactMove": [
                move("open_safe", code="123"),
                done("It is jammed."),
                move("open_safe", code="407"),
            ],
            "DraftFeedback": [
                {"feedback": "try 407", "good": False},
                {"feedback": "It is open.", "good": True},
            ],
        }
    )
    out = await bureau.work(method("self-refine"), replies, episode=safe)
    assert (out.attempt.reward, safe.resets, out.attempt.tries) == (1, 2, 2)
    message = out.asked("ReactMove")[2].last
    assert "It is jammed." in message
    assert "123" not in message, "only the draft and its feedback are carried over"


async def test_it_may_go_on_until_the_budget_is_spent_though_the_draft_is_good(bureau: Bureau) -> None:
    feedback = Reply({"feedback": "It is right.", "good": True}, prompt_tokens=1_000, completion_tokens=0)
    drafts = [Reply(done(str(n)), prompt_tokens=1_000, completion_tokens=0) for n in range(9)]
    replies = Replies({"ReactMove": drafts, "DraftFeedback": [feedback]})
    out = await bureau.work(method("self-refine-budget"), replies, budget=Budget(max_tokens=13_000))
    assert out.attempt.tries == 6
    assert (await bureau.work(method("self-refine"), replies)).attempt.tries == 1
