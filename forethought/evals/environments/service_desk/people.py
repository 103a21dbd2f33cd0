"""Those around the agent whom a model plays: the customer, and the judge of what should have been said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from forethought.evals.prompts import render
from forethought.evals.prompts.judge_replies import AssertionVerdicts, CustomerReply
from forethought.evals.types import InfrastructureError, Services
from forethought.models.types import Message, ModelError, reply_spec

GREETING = "Hi! How can I help you today?"
"""What both benchmarks have the agent say before the customer's first message."""


@dataclass(frozen=True)
class Turn:
    """What one side said, or a tool call of the agent's and its result."""

    speaker: Literal["agent", "customer", "tool"]
    text: str


@dataclass(frozen=True)
class Said:
    """What the customer said, and whether that was the last of it."""

    message: str
    ends: bool


@dataclass
class Customer:
    """Plays `scenario`, which the agent never sees.

    The same conversation gets the same reply for as long as this object lives, so that a world that is reset
    comes out the same when the same is done. Its calls are booked under the role `user`.
    """

    services: Services
    scenario: str
    _replies: dict[tuple[Turn, ...], Said] = field(default_factory=dict)

    async def reply(self, turns: Sequence[Turn]) -> Said:
        """The next message after `turns` (without tool calls). Raises InfrastructureError."""
        heard = tuple(turn for turn in turns if turn.speaker != "tool")
        if heard not in self._replies:
            self._replies[heard] = await self._asked(heard)
        return self._replies[heard]

    async def _asked(self, turns: Sequence[Turn]) -> Said:
        system, user = render("user", scenario=self.scenario, turns=turns)
        try:
            asked = await self.services.models.ask(
                role="user",
                model=self.services.user_model,
                messages=[Message("system", system), Message("user", user)],
                reply=reply_spec(CustomerReply),
            )
        except ModelError as error:
            raise InfrastructureError(f"the model that plays the customer: {error}") from error
        return Said(asked.reply.message, asked.reply.state != "continues")


async def judged(services: Services, turns: Sequence[Turn], statements: Sequence[str]) -> list[bool]:
    """Whether each statement about the conversation holds, as the judge model finds. Raises
    InfrastructureError."""
    wanted = list(range(1, len(statements) + 1))

    def check(reply: AssertionVerdicts) -> str | None:
        got = [verdict.number for verdict in reply.verdicts]
        return None if got == wanted else f"verdicts must have the numbers {wanted}, in order; got {got}"

    system, user = render("assertions", turns=turns, statements=statements)
    try:
        asked = await services.models.ask(
            role="judge",
            model=services.judge_model,
            messages=[Message("system", system), Message("user", user)],
            reply=reply_spec(AssertionVerdicts),
            check=check,
        )
    except ModelError as error:
        raise InfrastructureError(f"the judge of the conversation: {error}") from error
    return [verdict.holds for verdict in asked.reply.verdicts]
