"""Every fault of a model, at the first, a middle and the last call of a run: what a run makes of each.

A run is driven through the real client over HTTP. Its task is one plan of three subtasks: two reads side by
side, then a write whose effects are counted outside of the run. Used by tests/graph/test_model_faults.py and
by `python -m benchmarks.fault_matrix`.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from langgraph.checkpoint.memory import InMemorySaver

from forethought.graph.agent import build_agent
from forethought.graph.resume import restart_failed_task
from forethought.models.live import LiveTransport
from forethought.models.retry import Backoff
from forethought.models.types import ModelError
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.tools.base import Tool, make_tool
from tests.support.agent import World, kind_of, subtask_of
from tests.support.model_server import Answer, Fault, ModelServer, SeenRequest
from tests.support.replies import answer, call, diagnosis, plan, sub

Json = dict[str, Any]
Place = Literal["first", "middle", "last"]
Outcome = Literal["survived", "best effort", "stopped"]
PLACES: dict[Place, str] = {"first": "Plan", "middle": "ToolChoice b", "last": "AnswerDraft"}
"""The call that a fault befalls, by name; the middle one is of a subtask with a sibling."""
_BEFORE = {"Plan": "", "ToolChoice b": "PlanDiagnosis", "AnswerDraft": "ToolChoice c"}
TIMEOUT_S = 1.0
"""Per-call timeout of the runs in which a call hangs; of the others it is long."""
CONFIG: Any = {"configurable": {"thread_id": "t"}}
TASK = {"task": "Note what a and b say."}
ANSWER = "a and b are noted"
_WAIT_S = 0.15
_LONGER_S = 0.4
"""How much longer than a call that stops the run the one beside it takes."""


@dataclass(frozen=True)
class Case:
    """A fault as it is scripted, and what a run has to make of it."""

    name: str
    fault: Fault | None
    """None: connections are refused for a moment, or before the first reply until the run has stopped."""
    times: int = 1
    """How many calls in a row it befalls; 0: all, until it is put right."""
    outcome: Outcome = "survived"
    says: str = ""
    """What the line says where the run stops."""
    middle: Outcome | None = None
    """What comes of it at the middle call, where that differs: a subtask is tried in another way, and one
    that fails is told of in the answer."""
    first: Outcome | None = None
    """What comes of it at the first call, where that differs: a server that never answered is not there."""


_QUOTA = Fault("429", code="insufficient_quota", message="You exceeded your current quota, check your plan")
_FILTER = Fault("400", code="content_filter", message="The prompt was stopped by the content filter")
CASES = (
    Case("429", Fault("429")),
    Case("429 with Retry-After", Fault("429", retry_after="0.05")),
    Case("429, ten in a row", Fault("429"), times=10),
    Case("429 with Retry-After, ten in a row", Fault("429", retry_after="0.01"), times=10),
    Case("500", Fault("500")),
    Case("503", Fault("503")),
    Case("connection refused", None, says="is Ollama (or the server at", first="stopped"),
    Case("dropped before the reply", Fault("drop")),
    Case("dropped in the body", Fault("dropmid")),
    Case("200, the body no JSON", Fault("badbody")),
    Case("malformed JSON in the reply", Fault("badjson")),
    Case("empty reply", Fault("empty")),
    Case("cut off by length", Fault("length")),
    Case("event stream that breaks off", Fault("stream")),
    Case("trickle beyond the timeout", Fault("trickle")),
    Case("hang", Fault("hang")),
    Case("refusal", Fault("refusal", message="I cannot help."), 1, "stopped", "refused", "survived"),
    Case("content filter", Fault("filter"), 1, "stopped", "refused", "survived"),
    Case("content filter, HTTP 400", _FILTER, 1, "stopped", "content filter", "survived"),
    Case("always empty", Fault("empty"), 0, "stopped", "the reply is empty", "best effort"),
    Case("always cut off", Fault("length"), 0, "stopped", "cut off at the length limit", "best effort"),
    Case("outage beyond the retries", Fault("503"), 0, "stopped", "gave no reply in"),
    Case("bad key", Fault("401", message="Incorrect API key"), 0, "stopped", "the key was refused"),
    Case("unknown model", Fault("404", message="No such model"), 0, "stopped", "no such model"),
    Case("quota spent", _QUOTA, 0, "stopped", "the quota is spent"),
)
BY_NAME = {case.name: case for case in CASES}


def expected(case: Case, place: Place) -> Outcome:
    """What is to come of a fault at a call."""
    return {"first": case.first, "middle": case.middle}.get(place) or case.outcome


@dataclass
class Model:
    """The provider: replies by role, and the fault where it is due."""

    case: Case
    at: str
    server: Any = None
    mended: bool = False
    good: Counter[str] = field(default_factory=Counter)
    """Good replies by the request's content: more than one is a call that was repeated."""
    faults: int = 0
    requests: int = 0
    _met: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, seen: SeenRequest) -> Answer:
        """The reply to a request."""
        name = _name(seen)
        with self._lock:
            self.requests += 1
            due = (
                not self.mended and name == self.at and (not self.case.times or self.faults < self.case.times)
            )
            if self.case.fault is not None and due:
                self.faults += 1
                self._met.set()
                return self.case.fault
            self.good[json.dumps([seen.reply_name, seen.messages])] += 1
        if self.case.fault is None and name == _BEFORE[self.at]:
            self.faults += 1
            self.server.refuse_connections(_WAIT_S)
        if self._outlasts(name):
            self._met.wait(_LONGER_S)
            time.sleep(_LONGER_S)
        return _reply(name)

    def _outlasts(self, name: str) -> bool:
        """Whether the call is in flight still when the one beside it stops the run, its reply to be kept."""
        stops = (self.case.middle or self.case.outcome) == "stopped"
        return stops and not self.mended and (name, self.at) == ("ToolChoice a", PLACES["middle"])


def _name(seen: SeenRequest) -> str:
    kind = kind_of(seen)
    return f"{kind} {subtask_of(seen)}" if kind == "ToolChoice" else kind


def _reply(name: str) -> Answer:
    kind, _, key = name.partition(" ")
    if kind == "ToolChoice":
        return call(key) if key != "c" else call(tool="note", text="a and b")
    replies = {
        "Plan": plan(sub("a"), sub("b"), sub("c", ["a", "b"])),
        "PlanDiagnosis": diagnosis(),
        "AnswerDraft": answer(ANSWER),
    }
    return replies[kind]


@dataclass(frozen=True)
class Cell:
    """What came of one fault at one place."""

    case: Case
    place: Place
    streaming: bool
    status: str
    """Of the thread after the first run; '' where it has none yet."""
    line: str
    """What the run stopped with; '' where it did not."""
    end: Json
    """The thread's state at the end: where it was stopped, after it was resumed."""
    faults: int
    calls_repeated: int
    effects: int

    @property
    def outcome(self) -> Outcome:
        """What came of it."""
        if self.line:
            return "stopped"
        return "survived" if self.status == "answered" else "best effort"

    def wrong(self) -> list[str]:
        """What does not hold; [] if all does."""
        found = {
            "the fault was never met": not self.faults,
            f"{self.outcome} ({self.line or self.status})": self.outcome != expected(self.case, self.place),
            f"the line does not say {self.case.says!r}: {self.line}": self.outcome == "stopped"
            and self.case.says not in self.line,
            "the line is no single line": "\n" in self.line,
            f"ended {self.end.get('status')} with {self.end.get('answer')!r}": (
                self.end.get("status"),
                self.end.get("answer"),
            )
            != ("best_effort" if self.outcome == "best effort" else "answered", ANSWER),
            f"{self.calls_repeated} calls repeated": self.calls_repeated != 0,
            f"{self.effects} effects": self.effects != (self.outcome != "best effort"),
        }
        return [what for what, holds in found.items() if holds]


async def run_cell(case: Case, place: Place, streaming: bool, folder: Path) -> Cell:
    """Run the task into the fault, put it right, and go on where that is needed."""
    model = Model(case, PLACES[place])
    server = model.server = ModelServer(model)
    effects: list[str] = []
    try:
        if case.fault is None and place == "first":
            model.faults += 1
            server.refuse_connections()
        slow = case.fault is not None and case.fault.kind in ("hang", "trickle")
        settings = Settings(
            data_dir=folder,
            base_url=server.url,
            model="openai:scripted",
            request_timeout_s=TIMEOUT_S if slow else 20,
            request_retries=10 if case.times else 3,
        )
        graph = build_agent(
            tools=_tools(effects),
            settings=settings,
            checkpointer=InMemorySaver(),
            transport=LiveTransport(settings, Backoff(0.02, 0.1)),
        )
        line = await _go(graph, TASK, streaming)
        snapshot = await graph.aget_state(CONFIG)
        first = dict(snapshot.values)
        if not line and first["status"] == "failed":
            line = str(first["messages"][-1].text)
        if line:
            model.mended = True
            server.accept_connections()
            if first.get("status") == "failed":
                await restart_failed_task(graph, CONFIG, snapshot.values)
            await _go(graph, None, streaming)
        end = dict((await graph.aget_state(CONFIG)).values)
    finally:
        server.close()
    repeated = sum(count - 1 for count in model.good.values())
    return Cell(
        case,
        place,
        streaming,
        str(first.get("status", "")),
        line,
        end,
        model.faults,
        repeated,
        len(effects),
    )


async def _go(graph: Any, given: Any, streaming: bool) -> str:
    """Run to the end; the line of the error that ended it ('' if none did)."""
    context = Context(max_rounds=1, approve_tools="never")
    try:
        if streaming:
            async for _ in graph.astream(given, CONFIG, context=context, stream_mode=["messages", "custom"]):
                pass
        else:
            await graph.ainvoke(given, CONFIG, context=context)
    except ModelError as error:
        return str(error)
    return ""


def _tools(effects: list[str]) -> list[Tool]:
    async def note(text: str) -> str:
        """Note something.

        Args:
            text: What to note.
        """
        effects.append(text)
        return "noted"

    return [World().tool(), make_tool(note, effect="write")]
