"""Whatever models, tools, persons and kills do, in any order: what always holds of a thread.

A hypothesis state machine over the compiled graph. A kill abandons the run at a model call, a tool call or a
durable write: what was kept by then is all that the next process finds. Time passes only in model calls.
STATE_MACHINE_EXAMPLES=2000 runs that many, each drawn anew; without it a few dozen, always the same.
"""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import forethought.models.allowance
import forethought.models.ask
import forethought.nodes.support.budget
import forethought.nodes.tool_agent
import forethought.nodes.tool_executor
from forethought.graph.agent import build_agent
from forethought.nodes.support.budget import active_seconds
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.state.reducers import merge, with_statuses
from forethought.state.steps import is_call
from tests.support.wild import AT_EFFECT, INPUT, OUTPUT, SECONDS, USD, Clock, Process, Wild

Json = dict[str, Any]
CONFIG: Any = {"configurable": {"thread_id": "t"}}
EXAMPLES = int(os.environ.get("STATE_MACHINE_EXAMPLES", "0"))
KILLS = st.one_of(st.none(), st.integers(0, 60), st.just(AT_EFFECT))
"""Moments of a process before it is killed: model calls, tool calls and durable writes, before and after."""
TIMED = (
    forethought.models.allowance,
    forethought.models.ask,
    forethought.nodes.support.budget,
    forethought.nodes.tool_agent,
    forethought.nodes.tool_executor,
)
"""What measures the seconds of a budget, or ends with them."""
_MOST = 60
"""Resumptions of one thread; it has long ended by then."""


class Thread(RuleBasedStateMachine):
    """One thread, from task to task."""

    @initialize(
        approve_plan=st.booleans(),
        rounds=st.integers(1, 3),
        steps=st.sampled_from([1, 4, 9]),
        replans=st.integers(0, 2),
        usd=st.sampled_from([None, None, 0.15]),
        tokens=st.sampled_from([None, None, 6_000, 12_000]),
        seconds=st.sampled_from([None, None, 10, 20]),
    )
    def begin(
        self,
        approve_plan: bool,
        rounds: int,
        steps: int,
        replans: int,
        usd: float | None,
        tokens: int | None,
        seconds: float | None,
    ) -> None:
        """An agent, and what it may use."""
        self.context = Context(
            max_tokens=tokens,
            max_seconds=seconds,
            max_rounds=rounds,
            max_steps=steps,
            max_replans=replans,
            max_usd=usd,
            max_revisions=1,
            max_attempts=2,
            max_parallel=3,
            max_reflections=1,
            forced_replans=(3,),
            approve_plan=approve_plan,
            approve_tools="always",
            foresight="off",
        )
        self.folder = tempfile.TemporaryDirectory()
        self.rng = random.Random(0)
        self.data: Any = None
        self.clock = Clock()
        self.model = Wild(self.pick, self.clock, self.spent)
        self.saver = InMemorySaver()
        self.task_before: int | None = None
        self.counted: tuple[Any, ...] = ()
        """What was counted of the task before the present one."""
        self.seconds_before, self.went_on_at = 0.0, 0.0
        """Seconds of the task when it was gone on with, and when that was."""
        self.state: Json = {}
        self.waiting: list[Any] = []
        self.next: tuple[str, ...] = ()
        self.cut_short = False
        self.tasks = 0
        self.dispatched: list[tuple[Json, Json, Json]] = []
        """(update that sent a wave, the state it was sent from, ids of results then) of the task."""
        self.versions: dict[int, Json] = {}

    def _graph(self, process: Process) -> Any:
        return build_agent(
            tools=self.model.tools(),
            settings=Settings(data_dir=Path(self.folder.name)),
            checkpointer=process.saver,
            transport=self.model,
        )

    def spent(self, asked: int = 0) -> str:
        """Which budget the task has spent by now: '', usd, tokens or seconds; and what is kept back for the
        answer, where that was `asked` for before."""
        calls, context = self.model.answered, self.context
        seconds = self.seconds_before + self.clock.now - self.went_on_at
        tokens = INPUT + OUTPUT
        budgets = {
            "usd": (USD * calls, context.max_usd, USD * asked, 0.1 * (context.max_usd or 0)),
            "tokens": (tokens * calls, context.max_tokens, tokens * asked, 2_000),
            "seconds": (seconds, context.max_seconds, SECONDS * asked, 0.1 * (context.max_seconds or 0)),
        }
        for name, (used, most, answering, kept) in budgets.items():
            if most and used >= most and (not asked or answering > kept):
                return name
        return ""

    def pick(self, choices: Any) -> Any:
        """One of `choices`: drawn by hypothesis, or at the end of the test by a generator."""
        if self.data is None:
            return self.rng.choice(choices)
        return self.data.draw(st.sampled_from(choices))

    @property
    def ended(self) -> bool:
        """Whether the thread has no task that goes on."""
        return not self.tasks or (not self.next and not self.waiting)

    @precondition(lambda self: self.ended)
    @rule(data=st.data(), kill=KILLS)
    def start(self, data: Any, kill: int | None) -> None:
        """A new task."""
        self.tasks += 1
        self.counted = self.model.answered, self.dispatched, self.model.late
        self.model.answered, self.dispatched, self.model.late = 0, [], []
        self._go({"task": f"task {self.tasks}"}, data, kill)

    @precondition(lambda self: not self.ended and not self.waiting)
    @rule(data=st.data(), kill=KILLS)
    def go_on(self, data: Any, kill: int | None) -> None:
        """A broken-off thread is resumed, and may be broken off again."""
        self._go(None, data, kill)

    @precondition(lambda self: not self.ended and self.waiting)
    @rule(data=st.data(), kill=KILLS)
    def reply(self, data: Any, kill: int | None) -> None:
        """The person answers all that waits."""
        self._go(self._replies(), data, kill)

    def teardown(self) -> None:
        """The thread comes to its end, once nothing breaks it off any more."""
        if not hasattr(self, "folder"):
            return
        with self.folder:
            if self.cut_short:
                return
            for _ in range(_MOST):
                if self.ended:
                    break
                self._go(self._replies() if self.waiting else None, None, None)
            assert self.ended

    def _replies(self) -> Command[Any]:
        return Command(resume={item.id: self.pick(self._said(item.value)) for item in self.waiting})

    def _said(self, asked: Json) -> list[str]:
        if "unknown" not in asked:
            said = {"plan": ["approve", "approve", "reject"], "tool": ["approve", "approve", "reject"]}
            return said.get(asked["kind"], ["this"])
        happened, again, give_up = asked["choices"]
        return [happened if asked["unknown"]["arguments"]["text"] in self.model.effects else again, give_up]

    def _go(self, given: Any, data: Any, kill: int | None) -> None:
        self.data = data
        self.cut_short = True  # hypothesis may end an example within a draw, and asserts may fail
        try:
            with ExitStack() as patched:
                for module in TIMED:
                    patched.enter_context(mock.patch.object(module, "time", self.clock))
                asyncio.run(self._run(given, kill))
        finally:
            self.data = None
        self.check()
        self.cut_short = False

    async def _run(self, given: Any, kill: int | None) -> None:
        """A process that goes on with what the one before left, and is killed or not."""
        process = self.model.process = Process(kill, self.saver)
        self.seconds_before, self.went_on_at = self._seconds(given), self.clock.now
        work = asyncio.ensure_future(self._streamed(self._graph(process), given))
        gone = asyncio.ensure_future(process.killed.wait())
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        self.saver = process.left or process.saver
        if process.left:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
        else:
            await work
        snapshot = await self._graph(Process(None, self.saver)).aget_state(CONFIG)
        self.state, self.next, self.waiting = (
            dict(snapshot.values),
            tuple(task.name for task in snapshot.tasks),
            list(snapshot.interrupts),
        )
        if process.left:
            # What was not booked by then is lost.
            begun = self.state.get("progress", {}).get("task") != self.task_before
            self.model.answered = round(self._sum("output_tokens") / OUTPUT) if begun else 0
            if isinstance(given, dict) and not self.next and not begun:
                # Killed before anything of it was kept, a task was never begun.
                self.model.answered, self.dispatched, self.model.late = self.counted

    async def _streamed(self, graph: Any, given: Any) -> None:
        modes = ["updates", "values"]
        options: Json = {"context": self.context, "stream_mode": modes, "durability": "sync"}
        async for mode, part in graph.astream(given, CONFIG, **options):
            if mode == "values":
                self.state = part
            else:
                self._note(part)

    def _seconds(self, given: Any) -> float:
        """What the task had taken when it is gone on with; 0 where the state is of the one before."""
        task = self.state.get("progress", {}).get("task")
        if isinstance(given, dict):
            self.task_before = task
        return 0.0 if task == self.task_before else active_seconds(self.state)

    def _note(self, part: Json) -> None:
        update = part.get("replan_trigger")
        if update and update["dispatch"]:
            finished = {step["subtask"] for step in self._steps() if step["finished"]}
            statuses = merge(self.state.get("statuses"), update.get("statuses"))
            plan = with_statuses({**self.state, "statuses": statuses})["plan"]
            self.dispatched.append((update, plan, dict.fromkeys(finished)))

    def _steps(self) -> list[Json]:
        task = self.state.get("progress", {}).get("task")
        found = [step for step in self.state.get("trajectory", []) if step["task"] == task]
        return sorted(found, key=lambda step: step["n"])

    def check(self) -> None:
        """The invariants."""
        if "progress" not in self.state:
            return  # killed before the first update
        self._check_order()
        self._check_caps()
        if self.ended:
            self._check_end()

    def _check_order(self) -> None:
        for update, plan, finished in self.dispatched:
            subtasks = {subtask["id"]: subtask for subtask in plan["subtasks"]}
            keys = [item["subtask"] for item in update["dispatch"]]
            assert len(set(keys)) == len(keys) <= self.context.max_parallel
            for key in keys:
                assert set(subtasks[key]["depends_on"]) <= set(finished), "started before what it depends on"

    def _check_caps(self) -> None:
        progress, context = self.state["progress"], self.context
        steps = self._steps()
        sent = progress["n"] - progress["base_n"]
        assert len(steps) <= sent <= context.most_moves
        assert sum(is_call(step) for step in steps) <= context.max_steps
        assert progress["round"] <= context.max_rounds
        replans = [item for item in self.state.get("replans", []) if item["task"] == progress["task"]]
        assert len(replans) == progress["replans"] <= context.max_replans
        assert self.state.get("plan", {}).get("revisions", 0) <= context.max_revisions
        numbers = [step["n"] for step in steps]
        assert len(set(numbers)) == len(numbers)
        assert len(self.model.effects) == len(set(self.model.effects)), "an effect happened twice"
        late = self.model.late
        assert len(late) <= 1, late
        assert all(question.startswith("AnswerDraft") for question in late), late

    def _check_end(self) -> None:
        state, progress, status = self.state, self.state["progress"], self.state["status"]
        numbers = [step["n"] for step in self._steps()]
        assert numbers == list(range(progress["base_n"] + 1, progress["n"] + 1)), "a step was lost"
        left = {subtask["status"] for subtask in state.get("plan", {}).get("subtasks", [])}
        if status == "answered":
            assert left == {"finished"}
            assert state["draft"]["score"] >= self.context.answer_threshold
        assert "pending" not in left or status in ("budget_exhausted", "failed"), "a subtask was dropped"
        assert status in ("answered", "best_effort", "budget_exhausted", "failed")
        assert bool(state["answer"]) == (status != "failed")
        paid = self.model.answered
        figures = {"input_tokens": INPUT * paid, "output_tokens": OUTPUT * paid, "usd": USD * paid}
        assert {key: self._sum(key) for key in figures} == pytest.approx(figures), "paid, but not booked once"

    def _sum(self, figure: str) -> float:
        return sum(usage.get(figure, 0) for usage in self.state.get("usage", {}).values())


TestThread = Thread.TestCase
TestThread.settings = settings(
    max_examples=EXAMPLES or 10,
    stateful_step_count=5,
    derandomize=not EXAMPLES,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate] if not EXAMPLES else list(Phase),
    suppress_health_check=list(HealthCheck),
)
