"""Best-of-N: which of the tries counts."""

from __future__ import annotations

from forethought.evals.baselines.best_of_n import majority
from forethought.evals.baselines.state import Try
from forethought.evals.registry import method
from forethought.evals.types import Budget
from tests.support.evaluating import Bureau, Replies, SafeEpisode, done, move
from tests.support.model_server import Answer, Reply, SeenRequest


def tried(number: int, answer: str) -> Try:
    """A try."""
    return Try(number=number, answer=answer, ended="answered", reward=None, solved=None, verdict="")


def test_more_than_half_must_agree() -> None:
    assert majority([tried(1, "Paris"), tried(2, " paris. "), tried(3, "Rome")]) == 1
    assert majority([tried(1, "-5"), tried(2, "5")]) is None
    assert majority([tried(1, "a"), tried(2, "b"), tried(3, "B"), tried(4, "c")]) is None
    assert majority([tried(2, "a")]) == 2


async def test_equal_answers_need_no_choice(bureau: Bureau) -> None:
    out = await bureau.work(method("best-of-n"), Replies({"ReactMove": [done("41"), done("42"), done("42")]}))
    assert (out.attempt.answer, out.attempt.tries) == ("42", 3)
    texts = [seen.last for seen in out.asked("ReactMove")]
    assert ["try 1 of 3" in texts[0], "try 3 of 3 (seed 7)" in texts[2]] == [True, True]
    assert "41" not in texts[2], "the tries are independent"


async def test_the_model_chooses_among_different_ones(bureau: Bureau) -> None:
    choices = [{"reasoning": "", "choice": 9}, {"reasoning": "the first", "choice": 1}]
    replies = Replies({"ReactMove": [done("40"), done("41"), done("42")], "Selection": choices})
    out = await bureau.work(method("best-of-n"), replies)
    assert out.attempt.answer == "40"
    assert "there is no try 9" in out.asked("Selection")[1].last
    assert '<try number="3">' in out.asked("Selection")[0].last


async def test_the_reward_that_counts_is_that_of_the_chosen_try(bureau: Bureau) -> None:
    def act(seen: SeenRequest) -> Answer:
        if "observation:" in seen.last:
            return done("tried")
        return move("open_safe", code="407" if "try 2 of 3" in seen.last else "123")

    for choice, reward in ((2, 1), (3, 0)):
        safe = SafeEpisode()
        replies = Replies({"ReactMove": act, "Selection": [{"reasoning": "", "choice": choice}]})
        out = await bureau.work(method("best-of-n"), replies, episode=safe, budget=Budget(max_steps=6))
        assert (out.attempt.reward, safe.resets, out.attempt.steps) == (reward, 3, 3)


async def test_each_try_has_its_part_of_the_calls(bureau: Bureau) -> None:
    safe = SafeEpisode()
    replies = Replies(
        {
            "ReactMove": [move("read_digit", which="first")],
            "ClosingAnswer": [{"answer": "no time"}],
            "Selection": ["no JSON"],
        }
    )
    out = await bureau.work(method("best-of-n"), replies, episode=safe, budget=Budget(max_steps=8))
    assert (out.attempt.steps, out.attempt.tries, out.attempt.status) == (8, 3, "budget_exhausted")
    lefts = [seen.last.rsplit("# What is left\n")[-1].strip() for seen in out.asked("ReactMove")]
    assert lefts == [f"Calls left: {n}." for n in (3, 2, 1, 2, 1, 3, 2, 1)]


async def test_it_samples_until_the_budget_is_spent(bureau: Bureau) -> None:
    moves = [Reply(done(text), prompt_tokens=2_000, completion_tokens=0) for text in ("41", "42")]
    replies = Replies({"ReactMove": moves, "Selection": [{"reasoning": "", "choice": 2}]})
    out = await bureau.work(method("best-of-n-budget"), replies, budget=Budget(max_tokens=13_000))
    assert (out.attempt.answer, out.attempt.tries) == ("42", 5), "2,000 tokens a try, and no answer for 3,000"
    assert "This is try 5 (seed 7)" in out.asked("ReactMove")[4].last
