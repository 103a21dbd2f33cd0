"""An episode at a service desk: the company's tools, `respond` to talk to the customer, and the reward.

Tools, databases and the reward's rule are the public repository's own, in its own process; the customer is
played by a model with a prompt of ours, so that figures compare with each other, not to the digit with those
of papers whose user was another model.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from forethought.evals.actions import parse_call
from forethought.evals.environments.process import WorkerProcess
from forethought.evals.environments.service_desk.people import (
    GREETING,
    Customer,
    Turn,
    judge_statements,
)
from forethought.evals.types import Services, ToolSpec
from forethought.rollouts.types import EnvironmentReply

RESPOND = ToolSpec(
    "respond",
    "Send a message to the customer. The customer's reply is the result. This is the only way to ask or tell "
    "the customer something before your final answer.",
    {
        "type": "object",
        "properties": {
            "message": {"type": "string", "description": "The message, as the customer reads it."}
        },
        "required": ["message"],
    },
    changes_world=True,
    asks_person=True,
)
ENDED = "[The customer has ended the conversation.]"


@dataclass(frozen=True)
class Case:
    """What a sample has at the desk."""

    name: str
    task: str
    number: int
    """The task's place in its split."""
    scenario: str
    tools: tuple[ToolSpec, ...]
    statements: tuple[str, ...] = ()
    """What a judge has to check, because the reward depends on it."""


class ServiceDesk:
    """See `Episode`. `start` starts the checkout; with `lent`, that one is used, and left open."""

    how_to_act = ""

    def __init__(
        self,
        case: Case,
        services: Services,
        start: Callable[[], WorkerProcess],
        lent: WorkerProcess | None = None,
    ) -> None:
        self.case, self.name, self.task = case, case.name, case.task
        self.services = services
        self.customer = Customer(services, case.scenario)
        self._start, self._lent = start, lent
        self._own: WorkerProcess | None = None
        self._turns: list[Turn] = []
        self._last = EnvironmentReply("")

    @property
    def tools(self) -> Sequence[ToolSpec]:
        """The company's, then `respond`."""
        return (*self.case.tools, RESPOND)

    async def reset(self) -> EnvironmentReply:
        """The customer has just written; what is shown is the first message."""
        checkout = await self._checkout()
        await checkout.ask_async("reset", task=self.case.number)
        self._turns = [Turn("agent", GREETING)]
        first = await self.customer.reply(self._turns)
        self._turns.append(Turn("customer", first.text))
        await checkout.ask_async("open", reply=first.text)
        self._last = EnvironmentReply(f"The customer writes: {first.text}")
        return self._last

    async def step(self, action: str) -> EnvironmentReply:
        """Use a tool or talk to the customer; the reward stands in the reply that ends the conversation."""
        try:
            name, arguments = parse_call(action)
        except ValueError as error:
            return EnvironmentReply(f"Error: {error}")
        if name != RESPOND.name:
            return await self._use_tool(name, arguments)
        message = arguments.get("message")
        if not isinstance(message, str) or not message.strip():
            return EnvironmentReply("Error: respond needs a message that is not empty")
        return await self._respond(message)

    async def finish(self, answer: str) -> EnvironmentReply:
        """Send `answer` as the last message, unless it is empty, and settle the reward, whether or not the
        customer would have gone on."""
        if answer.strip():
            await self._respond(answer.strip())
        if not self._last.done:
            await self._settle(self._last.observation)
        return self._last

    async def close(self) -> None:
        """End the process that runs the checkout."""
        if self._own is not None:
            await asyncio.to_thread(self._own.close)
            self._own = None

    async def _checkout(self) -> WorkerProcess:
        if self._lent is not None:
            return self._lent
        if self._own is None:
            self._own = await asyncio.to_thread(self._start)
        return self._own

    async def _use_tool(self, name: str, arguments: dict[str, Any]) -> EnvironmentReply:
        checkout = await self._checkout()
        response = await checkout.ask_async("call", name=name, arguments=arguments)
        shown = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
        self._turns.append(Turn("tool", f"{shown}\n{response['observation']}"))
        self._record(response, response["observation"])
        return self._last

    async def _respond(self, message: str) -> EnvironmentReply:
        checkout = await self._checkout()
        self._turns.append(Turn("agent", message))
        reply = await self.customer.reply(self._turns)
        self._turns.append(Turn("customer", reply.text))
        response = await checkout.ask_async("say", message=message, reply=reply.text, ends=reply.ends)
        text = f"{reply.text}\n\n{ENDED}".strip() if reply.ends else reply.text
        if reply.ends and not response["done"]:
            await self._settle(text)
        else:
            self._record(response, text)
        return self._last

    async def _settle(self, text: str) -> None:
        verdicts = None
        if self.case.statements:
            verdicts = await judge_statements(self.services, self._turns, self.case.statements)
        reward = await (await self._checkout()).ask_async("reward", judged=verdicts)
        self._last = EnvironmentReply(text, reward=reward, done=True)

    def _record(self, response: dict[str, Any], text: str) -> None:
        self._last = EnvironmentReply(text, reward=response["reward"], done=response["done"])
