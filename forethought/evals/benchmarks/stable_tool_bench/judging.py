"""Whether an answer solves its query, and which of two answers is better, as a model says.

The rules are those of the benchmark's evaluator: an answer is first judged by itself; where that does not
tell, what was done for it is looked at. Of two answers the one with the better verdict wins; where the
verdicts are equal they are compared, and here in both orders, since judges favour a place: who does not win
both ties.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from pydantic import BaseModel

from forethought.evals.benchmarks.stable_tool_bench.reference import Solution
from forethought.evals.prompts.judge_replies import AnswerStatus, BetterAnswer
from forethought.evals.types import Services

Status = Literal["solved", "unsure", "unsolved"]
Preference = Literal["win", "tie", "loss"]
WORTH: Mapping[Status, float] = {"solved": 1.0, "unsure": 0.5, "unsolved": 0.0}
"""What a verdict counts in the pass rate."""
_CALLS = 12_000
"""Characters of the calls that a judge is shown."""
R = TypeVar("R", bound=BaseModel)


@dataclass
class SolutionJudge:
    """Judges solutions with one model."""

    services: Services
    reason: str = ""
    """Of the last verdict."""

    async def status(self, query: str, solution: Solution) -> Status:
        """Whether `solution` solves `query`. Without an answer it does not, and no model is asked."""
        if not solution.answer.strip():
            self.reason = "there is no answer"
            return "unsolved"
        verdict = await self.services.ask(
            "judge", "stb_answer", AnswerStatus, query=query, answer=solution.answer
        )
        if verdict.status == "unsure":
            verdict = await self.services.ask(
                "judge",
                "stb_execution",
                AnswerStatus,
                query=query,
                answer=solution.answer,
                calls=shown_calls(solution),
            )
        self.reason = verdict.reason
        return verdict.status

    async def statuses(self, query: str, solution: Solution, times: int) -> list[Status]:
        """The verdicts of `times` judgements; of one where there is nothing to judge."""
        return [await self.status(query, solution) for _ in range(times if solution.answer.strip() else 1)]

    async def better(self, query: str, ours: Solution, reference: Solution) -> Preference:
        """Which of two solutions of equal standing is better, asked in both orders."""
        if ours == reference:
            return "tie"
        first = await self._compared(query, ours, reference)
        second = await self._compared(query, reference, ours)
        if (first, second) == ("first", "second"):
            return "win"
        return "loss" if (first, second) == ("second", "first") else "tie"

    async def _compared(self, query: str, one: Solution, two: Solution) -> str:
        values = {
            "query": query,
            "first": one.answer or "(no answer)",
            "first_calls": shown_calls(one),
            "second": two.answer or "(no answer)",
            "second_calls": shown_calls(two),
        }
        reply = await self.services.ask("judge", "stb_compare", BetterAnswer, **values)
        self.reason = reply.reason
        return reply.better


async def preference(
    judge: SolutionJudge, query: str, ours: tuple[Solution, Status], theirs: tuple[Solution, Status]
) -> Preference:
    """Who wins: the better verdict, or else the better solution."""
    mine, other = WORTH[ours[1]], WORTH[theirs[1]]
    if mine != other:
        return "win" if mine > other else "loss"
    return await judge.better(query, ours[0], theirs[0])


def majority(statuses: Sequence[Status]) -> Status:
    """The most frequent verdict; unsure where two are equally frequent."""
    counts = Counter(statuses)
    leading = [status for status, count in counts.items() if count == max(counts.values())]
    return leading[0] if len(leading) == 1 else "unsure"


def shown_calls(solution: Solution) -> str:
    """The calls of a solution for a judge; the middle is left out where they are long."""
    text = "\n\n".join(f"{number}. {call}" for number, call in enumerate(solution.calls, 1))
    if len(text) <= _CALLS:
        return text or "(no calls)"
    return f"{text[: _CALLS // 2]}\n[...]\n{text[-_CALLS // 2 :]}"
