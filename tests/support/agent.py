"""Driving the compiled agent in a test: replies scripted by role, a scripted tool, and what was seen.

    out = await drive(Script(plans=[plan(sub("a"), sub("b", after=["a"]))]))
    assert out.status == "answered"

Each kind of reply is a list that is given in turn (its last item for ever) or a function of the request. The
tool agent's replies are scripted by subtask; a subtask without a script calls the tool `lookup` with its id,
which finishes it.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.base import BaseStore
from langgraph.types import Command

from forethought.graph.agent import build_agent
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.state.reducers import with_statuses
from forethought.tools.base import Observation, Tool, ToolError, make_tool
from tests.support.model_server import Answer, ModelServer, Reply, SeenRequest
from tests.support.replies import answer, call, diagnosis, granting, plan, sub, verdict

Json = dict[str, Any]
Replies = Sequence[Answer] | Callable[[SeenRequest], Answer]
_SUBTASK = re.compile(r'<subtask id="([^"]+)">')
UNSET = "the task"


@dataclass
class Script:
    """The model of a test."""

    plans: Replies = field(default_factory=lambda: [plan(sub("a"))])
    diagnoses: Replies = field(default_factory=lambda: [diagnosis()])
    revisions: Replies = ()
    moves: Mapping[str, Replies] = field(default_factory=dict)
    answers: Replies = field(default_factory=lambda: [answer()])
    reflections: Replies = field(default_factory=lambda: [{"reflection": "reflected upon"}])
    verdicts: Replies = field(default_factory=lambda: [verdict()])
    grants: Replies = field(default_factory=lambda: [granting()])
    rows: Replies = ()
    exact: bool = False
    """Whether replies hold only what the schema asks for, as a strict provider's do."""
    _given: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, seen: SeenRequest) -> Answer:
        """The reply to a request."""
        kind = kind_of(seen)
        if kind == "ToolChoice":
            key = subtask_of(seen)
            reply = self._next(f"move {key}", self.moves.get(key, [call(key)]), seen)
            if self.exact and isinstance(reply, dict) and seen.schema:
                reply = {key: value for key, value in reply.items() if key in seen.schema["properties"]}
            return as_function(reply, seen) if seen.functions else reply
        replies = {
            "Plan": self.plans,
            "PlanDiagnosis": self.diagnoses,
            "PlanRevision": self.revisions,
            "AnswerDraft": self.answers,
            "RoundReflection": self.reflections,
            "ForesightVerdict": self.verdicts,
            "Grants": self.grants,
            "Rows": self.rows,
        }[kind]
        return self._next(kind, replies, seen)

    def _next(self, name: str, replies: Replies, seen: SeenRequest) -> Answer:
        if callable(replies):
            return replies(seen)
        with self._lock:
            at = self._given.get(name, 0)
            self._given[name] = at + 1
        return replies[min(at, len(replies) - 1)]


def kind_of(seen: SeenRequest) -> str:
    """The reply type asked for; several functions are offered only for a ToolChoice."""
    return "ToolChoice" if seen.method == "functions" else seen.reply_name


def subtask_of(seen: SeenRequest) -> str:
    """The subtask a tool agent's request is for."""
    found = _SUBTASK.search(seen.messages[1][1])
    assert found, "the request names no subtask"
    return found.group(1)


def as_function(reply: Answer, seen: SeenRequest) -> Answer:
    """A ToolChoice as the native call of one of the functions offered."""
    if not isinstance(reply, dict):
        return reply
    name = reply["tool"] if reply["action"] == "call" else reply["action"]
    offered = {tool["function"]["name"]: tool["function"]["parameters"] for tool in seen.body["tools"]}
    keys = offered[name]["properties"] if name in offered else reply
    return Reply(calls=((name, {key: reply[key] for key in keys}),))


@dataclass
class World:
    """What the tool `lookup` finds: outcomes by key, in turn (the last for ever); else 'value of KEY'."""

    outcomes: Mapping[str, Sequence[str | Exception | Observation]] = field(default_factory=dict)
    retryable: bool = False
    seconds: float = 0.0
    calls: list[str] = field(default_factory=list)
    notes: list[str | None] = field(default_factory=list)
    running: int = 0
    widest: int = 0
    """Most calls that ran at the same time."""

    def tool(self) -> Tool:
        """The tool."""

        async def lookup(key: str, note: str | None = None) -> str | Observation:
            """Look something up.

            Args:
                key: What to look up.
                note: A remark, or null.
            """
            return await self._look(key, note)

        return make_tool(lookup, retryable=self.retryable)

    async def _look(self, key: str, note: str | None) -> str | Observation:
        self.calls.append(key)
        self.notes.append(note)
        self.running += 1
        self.widest = max(self.widest, self.running)
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.running -= 1
        found = self.outcomes.get(key, [f"value of {key}"])
        outcome = found[min(self.calls.count(key), len(found)) - 1]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def broken(text: str = "it is broken", cause: str = "tool", **options: Any) -> ToolError:
    """A failure of the tool."""
    return ToolError(text, cause=cause, **options)


@dataclass
class Driven:
    """An agent under test, its thread and everything that was asked."""

    graph: Any
    server: ModelServer
    world: World
    settings: Settings
    config: Json
    context: Context
    state: Json = field(default_factory=dict)

    async def go(self, given: Any = UNSET, **switches: Any) -> Driven:
        """Run: a task's text, an input, a Command, or None to resume. `switches` replace the context's."""
        if switches:
            self.context = Context.model_validate({**self.context.model_dump(exclude_unset=True), **switches})
        started = {"task": given} if isinstance(given, str) else given
        try:
            await self.graph.ainvoke(started, self.config, context=self.context)
        finally:
            await self.look()
        return self

    async def look(self) -> None:
        """Read the thread's head."""
        self.state = dict((await self.graph.aget_state(self.config)).values)

    async def reply(self, value: Any) -> Driven:
        """Answer the one interrupt that waits."""
        return await self.go(Command(resume=value))

    async def waiting(self) -> list[Json]:
        """Payloads of the interrupts that wait."""
        return [item.value for item in (await self.graph.aget_state(self.config)).interrupts]

    @property
    def requests(self) -> list[SeenRequest]:
        """Everything that models were asked."""
        return self.server.requests

    def asked(self, kind: str, subtask: str | None = None) -> list[SeenRequest]:
        """The requests for one reply type, of one subtask if it is named."""
        found = [seen for seen in self.requests if kind_of(seen) == kind]
        return found if subtask is None else [seen for seen in found if subtask_of(seen) == subtask]

    @property
    def kinds(self) -> list[str]:
        """Reply types asked for, in order."""
        return [kind_of(seen) for seen in self.requests]

    @property
    def status(self) -> str:
        """The run's status."""
        return str(self.state["status"])

    @property
    def talk(self) -> list[tuple[str, str]]:
        """Type and text of the messages that are no calls and no results of calls."""
        return [
            (message.type, str(message.text))
            for message in self.state["messages"]
            if message.type != "tool" and not getattr(message, "tool_calls", None)
        ]

    @property
    def steps(self) -> list[Json]:
        """The trajectory by number."""
        return sorted(self.state.get("trajectory", []), key=lambda step: step["n"])

    @property
    def subtasks(self) -> dict[str, str]:
        """Status by subtask of the final plan."""
        return {item["id"]: item["status"] for item in with_statuses(self.state)["plan"]["subtasks"]}


Drive = Callable[..., Any]


@pytest.fixture
def drive(model_server: Callable[..., ModelServer], settings: Callable[..., Settings]) -> Drive:
    """Run a script to its end (`task=None`: only build); what can be looked at."""

    async def start(
        script: Callable[[SeenRequest], Answer] | None = None,
        world: World | None = None,
        *,
        task: Any = UNSET,
        tools: Sequence[Any] = (),
        setting: Mapping[str, Any] | None = None,
        transport: Any = None,
        store: BaseStore | None = None,
        thread: str = "t",
        **switches: Any,
    ) -> Driven:
        world = world or World()
        server = model_server(script or Script())
        made = settings(server, **{"request_retries": 0, **(setting or {})})
        graph = build_agent(
            tools=[world.tool(), *tools],
            settings=made,
            checkpointer=InMemorySaver(),
            transport=transport(made) if transport else None,
            store=store,
        )
        config = {"configurable": {"thread_id": thread}}
        driven = Driven(graph, server, world, made, config, Context.model_validate(switches))
        return driven if task is None else await driven.go(task)

    return start


def dump(state: Mapping[str, Any]) -> str:
    """All channels but the messages as JSON; fails where one is not plain."""
    return json.dumps({key: value for key, value in state.items() if key != "messages"}, allow_nan=False)
