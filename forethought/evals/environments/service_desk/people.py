"""Those around the agent whom a model plays: the customer, and the judge of what should have been said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from forethought.evals.prompts.judge_replies import CustomerReply
from forethought.evals.types import InfrastructureError, Services
from forethought.models.types import ModelError
from forethought.prompts.debug_replies import AssertionVerdicts, check_numbers

GREETING = "Hi! How can I help you today?"
"""What both benchmarks have the agent say before the customer's first message."""


@dataclass(frozen=True)
class Turn:
    """What one side said, or a tool call of the agent's and its result."""

    speaker: Literal["agent", "customer", "tool"]
    text: str


@dataclass(frozen=True)
class CustomerMessage:
    """What the customer writes, and whether it is the last of it."""

    text: str
    ends: bool


@dataclass
class Customer:
    """Plays `scenario`, which the agent never sees.

    The same conversation gets the same reply for as long as this object lives, so that a world that is reset
    comes out the same when the same is done.
    """

    services: Services
    scenario: str
    _replies: dict[tuple[Turn, ...], CustomerMessage] = field(default_factory=dict)

    async def reply(self, turns: Sequence[Turn]) -> CustomerMessage:
        """The next message after `turns` (without tool calls). Raises InfrastructureError."""
        spoken = tuple(turn for turn in turns if turn.speaker != "tool")
        if spoken not in self._replies:
            try:
                reply = await self.services.ask(
                    "user", "user", CustomerReply, scenario=self.scenario, turns=spoken
                )
            except ModelError as error:
                raise InfrastructureError(f"the model that plays the customer: {error}") from error
            self._replies[spoken] = CustomerMessage(reply.message, reply.state != "continues")
        return self._replies[spoken]


async def judge_statements(
    services: Services, turns: Sequence[Turn], statements: Sequence[str]
) -> list[bool]:
    """Whether each statement about the conversation holds, as the judge model finds. Raises
    InfrastructureError."""

    def check(reply: AssertionVerdicts) -> str | None:
        return check_numbers(reply, len(statements))

    try:
        reply = await services.ask(
            "judge", "assertions", AssertionVerdicts, check, turns=turns, statements=statements
        )
    except ModelError as error:
        raise InfrastructureError(f"the judge of the conversation: {error}") from error
    return [verdict.holds for verdict in reply.verdicts]
