"""Trying methods in a test: small worlds as episodes, workshops, and scripted models that know the way.

out = await work(method("react"), expert(house), episode=HouseEpisode(house))
assert out.attempt.reward == 1
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from forethought.evals.actions import parse_call
from forethought.evals.harness.budget import Meter, MeteredTransport
from forethought.evals.toolset import make_toolset
from forethought.evals.types import (
    Attempt,
    Budget,
    EarlierTask,
    Episode,
    Method,
    Sample,
    ToolSpec,
    TrialContext,
)
from forethought.models.ask import Models
from forethought.models.live import LiveTransport
from forethought.rollouts.types import EnvironmentReply
from forethought.settings import Settings
from forethought.tools.base import Tool
from tests.support.household import Household, right_action
from tests.support.model_server import Answer, ModelServer, SeenRequest
from tests.support.replies import answer, call, diagnosis, finish, plan, sub

Json = dict[str, Any]


@dataclass
class HouseEpisode:
    """A household as an episode of text actions."""

    house: Household
    breaks_at: int = 0
    """The step at which the world breaks (0: never)."""
    resets: int = 0
    steps: list[str] = field(default_factory=list)
    name: str = "household"
    how_to_act: str = "Actions are such as `go to shelf` or `take mug from shelf`."
    tools: Sequence[ToolSpec] = ()
    _last: EnvironmentReply = field(default_factory=lambda: EnvironmentReply(""))

    @property
    def task(self) -> str:
        """What is asked."""
        return self.house.task

    async def reset(self) -> EnvironmentReply:
        """The room as it was."""
        self.resets += 1
        self._last = await self.house.reset()
        return self._last

    async def step(self, action: str) -> EnvironmentReply:
        """An action."""
        self.steps.append(action)
        if len(self.steps) == self.breaks_at:
            raise OSError("the house burnt down")
        self._last = await self.house.step(action)
        return self._last

    async def finish(self, answer: str) -> EnvironmentReply:
        """The end."""
        return EnvironmentReply("The end.", reward=self._last.reward, done=True)

    async def close(self) -> None:
        """Nothing to let go of."""


DIGITS = ("first", "second", "third")


@dataclass
class SafeEpisode:
    """A safe with three digits: each can be read, and `open_safe` with all three is rewarded. Wrong digits
    jam it for good."""

    digits: Sequence[int] = (4, 0, 7)
    name: str = "safe"
    task: str = "Open the safe."
    how_to_act: str = ""
    opened: bool = False
    jammed: bool = False
    resets: int = 0
    called: list[str] = field(default_factory=list)
    last_word: str | None = None

    @property
    def tools(self) -> Sequence[ToolSpec]:
        """Reading and opening."""
        which = {"which": {"type": "string", "enum": list(DIGITS), "description": "The digit's place."}}
        code = {"code": {"type": "string", "description": "All three digits, such as 123."}}
        return (
            ToolSpec("read_digit", "Read one digit of the code.", _schema(which)),
            ToolSpec(
                "open_safe", "Try a code. A wrong one jams the safe.", _schema(code), changes_world=True
            ),
        )

    async def reset(self) -> EnvironmentReply:
        """Closed again."""
        self.resets += 1
        self.opened = self.jammed = False
        self.last_word = None
        return EnvironmentReply("A safe stands before you.")

    async def step(self, action: str) -> EnvironmentReply:
        """A call."""
        name, arguments = parse_call(action)
        self.called.append(name)
        if name == "read_digit":
            return self._reply(f"It is {self.digits[DIGITS.index(arguments['which'])]}.")
        right = arguments["code"] == "".join(map(str, self.digits))
        self.opened = right and not self.jammed
        self.jammed = self.jammed or not right
        return self._reply("It opens." if self.opened else "It is jammed.")

    async def finish(self, answer: str) -> EnvironmentReply:
        """The end."""
        self.last_word = answer
        return EnvironmentReply("The end.", reward=float(self.opened), done=True)

    async def close(self) -> None:
        """Nothing to let go of."""

    def _reply(self, text: str) -> EnvironmentReply:
        return EnvironmentReply(text, reward=float(self.opened), done=self.opened)


def _schema(properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


def move(tool: str, thought: str = "a thought", **arguments: Any) -> Json:
    """A ReactMove that calls."""
    return {"thought": thought, "action": "call", "tool": tool, "arguments": arguments, "answer": None}


def done(text: str, thought: str = "that is it") -> Json:
    """A ReactMove that finishes."""
    return {"thought": thought, "action": "finish", "tool": None, "arguments": None, "answer": text}


@dataclass
class Replies:
    """A model scripted by the name of the reply asked for: a list given in turn, the last one for ever, or a
    function of the request."""

    by_name: Mapping[str, Sequence[Answer] | Callable[[SeenRequest], Answer]]
    given: dict[str, int] = field(default_factory=dict)

    def __call__(self, seen: SeenRequest) -> Answer:
        """The reply."""
        replies = self.by_name[seen.reply_name]
        if callable(replies):
            return replies(seen)
        at = self.given.get(seen.reply_name, 0)
        self.given[seen.reply_name] = at + 1
        return replies[min(at, len(replies) - 1)]


def expert(house: Household, **others: Any) -> Replies:
    """A model that finds its way in a household, as ReAct's actor and as our agent's roles."""

    def react(seen: SeenRequest) -> Answer:
        way = right_action(house, house.world)
        return done("it cannot be done") if house.solved(house.world) or not way else move("act", action=way)

    def choose(seen: SeenRequest) -> Answer:
        if house.solved(house.world):
            return finish("It is done.")
        way = right_action(house, house.world)
        return call(tool="act", action=way, finishes=False) if way else finish("There is no way left.")

    return Replies(
        {
            "ReactMove": react,
            "Plan": [plan(sub("s1"))],
            "PlanDiagnosis": [diagnosis()],
            "ToolChoice": choose,
            "AnswerDraft": [answer("It is done.")],
            **others,
        }
    )


@dataclass
class Worked:
    """What came of a method's work."""

    attempt: Attempt
    server: ModelServer
    workshop: TrialContext
    meter: Meter

    def asked(self, name: str) -> list[SeenRequest]:
        """The requests for one reply type."""
        return [seen for seen in self.server.requests if seen.reply_name == name]


@dataclass
class Bureau:
    """Makes workshops whose model is scripted, and has methods work in them."""

    model_server: Callable[..., ModelServer]
    settings: Callable[..., Settings]

    def workshop(
        self,
        server: ModelServer,
        *,
        episode: Episode | None = None,
        tools: Sequence[Tool] = (),
        builtin: Sequence[str] = (),
        task: str = "",
        sample: str = "s1",
        budget: Budget | None = None,
        outcome: Callable[[Attempt], Awaitable[bool]] | None = None,
        learned: Mapping[str, Any] | None = None,
        context: Mapping[str, Any] | None = None,
        files: Sequence[Path] = (),
        answer_format: str = "",
        earlier: Sequence[EarlierTask] = (),
        saver: InMemorySaver | None = None,
        meter: Meter | None = None,
    ) -> TrialContext:
        """A workshop."""
        made, budget = self.settings(server, request_retries=0), budget or Budget()
        transport = MeteredTransport(LiveTransport(made), (meter or Meter(),), budget.max_tokens)
        told = task or (episode.task if episode else "What is asked?")
        return TrialContext(
            sample=Sample(sample, told, tuple(files), answer_format, tuple(earlier)),
            tools=make_toolset(made, budget, episode, tools, builtin),
            episode=episode,
            models=Models(made, transport),
            model="openai:scripted",
            settings=made,
            budget=budget,
            checkpointer=saver or InMemorySaver(),
            thread=f"thread-{sample}",
            seed=7,
            outcome=outcome,
            learned=learned or {},
            context=context or {},
        )

    async def work(self, method: Method, model: Callable[[SeenRequest], Answer], **given: Any) -> Worked:
        """Have `method` try a sample."""
        server, meter = self.model_server(model), Meter()
        workshop = self.workshop(server, meter=meter, **given)
        return Worked(await method.run(workshop), server, workshop, meter)
