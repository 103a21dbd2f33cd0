"""A thread that is debugged: read as a trajectory, held, and run again from its checkpoints."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forethought.app.errors import CliError
from forethought.app.options import Flags, resume_flags
from forethought.app.report import status_of, task_error, unfinished
from forethought.app.threads.branches import at
from forethought.app.threads.thread import Thread, open_thread
from forethought.app.transport import Answering, choose_transport
from forethought.settings import Settings
from forethought.state.history import Point, point_of
from forethought.trajectories.own import from_state
from forethought.trajectories.types import Loaded, Trajectory

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from forethought.rollouts.types import Rollouts
    from forethought.state.debugger import DebuggerContext

Json = dict[str, Any]


@dataclass(frozen=True)
class DebuggedThread:
    """The thread, open and claimed, and the branch of it that is debugged."""

    thread: Thread
    head: Point
    """The last checkpoint of that branch: re-runs move the thread's head, not this."""
    plans: tuple[Json, ...]
    """Plans of the task that were replaced: its state no longer holds them, its checkpoints do."""
    effects: Mapping[str, str]
    allow_writes: bool

    def read(self, values: Mapping[str, Any]) -> Trajectory:
        """The trajectory of a state of the thread. A tool that is not known here may change something."""
        steps = [step for step in values.get("trajectory") or [] if step.get("tool")]
        called = [*steps, *(call for step in steps for call in step.get("sub_steps") or [])]
        unknown = {str(call["tool"]) for call in called} - self.effects.keys()
        effects = {**self.effects, **dict.fromkeys(unknown, "write")}
        return from_state(values, effects, id=self.thread.id, plans=self.plans)

    async def load(self, thread_id: str) -> Loaded:
        """The debugged branch as a trajectory. Raises ValueError for another thread."""
        if thread_id != self.thread.id:
            raise ValueError(f"thread {thread_id} is not the one that is debugged")
        return Loaded(trajectory=self.read(self.head.values))

    def rollouts(self, trajectory: Trajectory, thread_id: str | None, context: DebuggerContext) -> Rollouts:
        """Re-runs in the thread's own checkpoints, with the Context that the thread was run with."""
        from forethought.rollouts.thread import GraphThread, ThreadRollouts

        again = GraphThread(self.thread.graph, self.thread.config, context=self.thread.context)
        return ThreadRollouts(
            again,
            trajectory,
            self.read,
            allow_writes=self.allow_writes,
            max_tokens=context.max_tokens,
            max_usd=context.max_usd,
            leaf=self.head,
        )


@asynccontextmanager
async def open_debugged(
    thread_id: str, flags: Flags, *, leaf: str | None, runs_again: bool, allow_writes: bool
) -> AsyncIterator[DebuggedThread]:
    """The thread, held for this process, and its head as the branch to debug unless `leaf` names another.

    --model and --set are the debugger's: the thread keeps its own Context. Raises CliError when there is no
    such thread, another process runs it, or its task is not over.
    """
    own = Flags(base_url=flags.base_url, db=flags.db, tools=flags.tools)
    # Only a re-run asks the thread's own models, so only then do their keys have to be there.
    answering = choose_transport(None, None, {}) if runs_again else Answering(lambda settings, context: None)
    async with open_thread(thread_id, own, answering, must_exist=True) as thread:
        snapshot = await (at(thread, leaf) if leaf else thread.snapshot())
        if not leaf:
            _check_over(thread, snapshot, resume_flags(own))
        yield DebuggedThread(
            thread=thread,
            head=point_of(snapshot),
            plans=await _earlier_plans(thread, snapshot),
            effects=_effects(thread.settings),
            allow_writes=allow_writes,
        )


def _check_over(thread: Thread, snapshot: StateSnapshot, flags: str) -> None:
    """Raises CliError for a task that goes on: it has not failed yet. One that an error ended is over."""
    if not snapshot.values.get("progress") and not snapshot.tasks:
        raise CliError(f"thread {thread.id} holds no task of the agent's: there is nothing to debug")
    if snapshot.interrupts or (unfinished(snapshot) and not task_error(snapshot)):
        status = "waits for a reply" if snapshot.interrupts else "has an unfinished task"
        raise CliError(
            f"thread {thread.id} {status} ({status_of(snapshot)}): finish it before it is debugged, with: "
            f"forethought resume {thread.id}{flags}"
        )


async def _earlier_plans(thread: Thread, leaf: StateSnapshot) -> tuple[Json, ...]:
    """The plans that steps of the task were made under and that were replaced since, from the checkpoints."""
    task = (leaf.values.get("progress") or {}).get("task")
    steps = [step for step in leaf.values.get("trajectory") or [] if step.get("task") == task]
    wanted = {step["plan_version"] for step in steps} - {(leaf.values.get("plan") or {}).get("version")}
    found: dict[int, Json] = {}
    snapshot, passed = leaf, set[str]()
    while wanted - found.keys() and snapshot.parent_config is not None:
        snapshot = await thread.graph.aget_state(snapshot.parent_config)
        place = snapshot.config["configurable"]["checkpoint_id"]
        if place in passed:  # changed by hand
            break
        passed.add(place)
        if (snapshot.values.get("progress") or {}).get("task") != task:
            break
        plan = snapshot.values.get("plan") or {}
        if plan.get("version") in wanted:
            found.setdefault(plan["version"], plan)
    return tuple(found[version] for version in sorted(found))


def _effects(settings: Settings) -> dict[str, str]:
    """The effect of each tool that is known without asking a server."""
    from forethought.tools.registry import toolbox

    return {name: tool.effect for name, tool in toolbox(settings).items()}
