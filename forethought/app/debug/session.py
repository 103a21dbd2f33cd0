"""A debugging's thread, opened for a command together with the run that it debugs.

It is kept in the database of threads, under an id of its own (`debug:SUBJECT:NUMBER`), so that it can be
broken off and resumed without labelling a step twice, shown again, and forked as any thread. The request is
saved with its checkpoints; what runs code or changes the world has to be named again on resuming.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forethought.app.command_flags import Flags
from forethought.app.errors import CliError
from forethought.app.options import context_of, resume_command, settings_from
from forethought.app.report import status_of, task_error, unfinished
from forethought.app.runner import Session
from forethought.app.text import one_line
from forethought.app.threads.branches import state_at
from forethought.app.threads.thread import DEBUGGING, Thread, check_thread_id, open_thread, unknown_thread
from forethought.graph.debugger import build_debugger
from forethought.state.debugger import DebuggerContext
from forethought.state.history import Point, point_of
from forethought.storage import address_of, open_threads
from forethought.tools.registry import effects_of
from forethought.trajectories.own import from_state
from forethought.trajectories.types import Loaded, Trajectory

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from forethought.rollouts.types import Environment, Rollouts
    from forethought.settings import Settings
    from forethought.storage.saver import ThreadSaver

Json = dict[str, Any]
_SAVED = "forethought_debug"
"""Key of a checkpoint's metadata that holds the request, as JSON text."""
_STEPS = 50
"""Most steps of a re-run in an environment, kept steps included, where the recorded run was not longer."""


@dataclass(frozen=True)
class DebugRequest:
    """What is debugged and how: saved with the debugging's checkpoints."""

    context: Json
    """Fields of the DebuggerContext; all of them once it has begun."""
    thread: str | None = None
    leaf: str | None = None
    """The last checkpoint of the thread's branch that is debugged; None: its head."""
    environment: str | None = None
    allow_writes: bool = False
    started: float = 0.0
    """Seconds since the epoch."""


def saved_request(metadata: Mapping[str, Any] | None) -> DebugRequest:
    """The request in the metadata of a debugging's checkpoint."""
    return DebugRequest(**json.loads((metadata or {})[_SAVED]))


@dataclass
class DebugSession(Session):
    """A thread of the debugger's graph."""

    request: DebugRequest


@asynccontextmanager
async def open_debugging(
    request: DebugRequest, flags: Flags, trajectory: Trajectory | None = None, id: str = ""
) -> AsyncIterator[DebugSession]:
    """The debugging `id`, or a new one; claimed, with the thread that it debugs, by this process.

    `trajectory` is what is debugged where that is no thread. Raises CliError, ConfigurationError.
    """
    from forethought.models import Models

    settings, parts = settings_from(flags), {}
    async with AsyncExitStack() as stack:
        if request.thread is None:
            saver = await stack.enter_async_context(open_threads(address_of(settings), settings.key))
            model = settings.model
            if request.environment and trajectory:
                environment = _environment(request.environment, trajectory, settings)
                if hasattr(environment, "close"):
                    stack.push_async_callback(environment.close)
                parts = _in_environment(environment, settings)
        else:
            # --model and --set are the debugger's: the thread keeps its own Context, whose models are first
            # asked by a re-run.
            own = Flags(base_url=flags.base_url, db=flags.db, tools=flags.tools)
            opening = open_thread(request.thread, own, must_exist=True, calls_models=False)
            debugged = await _debugged(request, await stack.enter_async_context(opening), flags)
            saver, model = debugged.thread.saver, debugged.thread.context.model
            parts = {"load_thread": debugged.load, "rollouts": debugged.rollouts}
            request = replace(request, leaf=debugged.head.id)
        context = debugger_context(request, flags, settings, model)
        used = (context.model, context.judge_model, context.actor_model)
        Models(settings).verify(dict.fromkeys(filter(None, used)))
        started = request.started or time.time()
        request = replace(request, context=context.model_dump(mode="json"), started=started)
        id = id or await _new_id(saver, request.thread or (trajectory.id if trajectory else ""))
        await stack.enter_async_context(saver.claim(id))
        graph = build_debugger(settings, saver, **parts)
        saved = {_SAVED: json.dumps(asdict(request), ensure_ascii=False)}
        yield DebugSession(id, saver, graph, context, request, metadata=saved)


def debugger_context(
    request: DebugRequest, flags: Flags, settings: Settings, model: str | None
) -> DebuggerContext:
    """The choices of a debugging, where `model` is asked unless they name another. Raises CliError."""
    defaults = {"model": model} if model else {}
    return context_of(DebuggerContext, flags, settings, {**defaults, **request.context})


@asynccontextmanager
async def read_debugging(thread_id: str, flags: Flags) -> AsyncIterator[DebugSession]:
    """A debugging, to be looked at only. Raises CliError when there is none."""
    check_thread_id(thread_id)
    settings = settings_from(flags)
    async with open_threads(address_of(settings), settings.key, create=False) as saver:
        checkpoint = await saver.aget_tuple({"configurable": {"thread_id": thread_id}})
        if checkpoint is None:
            raise unknown_thread(thread_id)
        request = saved_request(checkpoint.metadata)
        context = DebuggerContext.model_validate(request.context)
        yield DebugSession(thread_id, saver, build_debugger(settings, saver), context, request)


def debugging_of(name: str) -> str:
    """debug:NAME, the beginning of the ids of all debuggings of the thread or trajectory of this name."""
    return DEBUGGING + (re.sub(r"[^A-Za-z0-9._:@-]+", "-", name)[:70].strip("-") or "trajectory")


async def _new_id(saver: ThreadSaver, name: str) -> str:
    """debug:NAME:1, or the next number that is free."""
    prefix = f"{debugging_of(name)}:"
    numbers = [other.removeprefix(prefix) for other in await saver.with_prefix(prefix)]
    return prefix + str(max((int(number) for number in numbers if number.isdecimal()), default=0) + 1)


@dataclass(frozen=True)
class DebuggedThread:
    """The thread, open and claimed, and the branch of it that is debugged."""

    thread: Thread
    head: Point
    """The last checkpoint of that branch: re-runs move the thread's head, not this."""
    plans: tuple[Json, ...]
    """Plans of the task that were replaced: its state no longer holds them, its checkpoints do."""
    allow_writes: bool

    def read(self, values: Mapping[str, Any]) -> Trajectory:
        """The trajectory of a state of the thread."""
        return from_state(values, effects_of(self.thread.settings), id=self.thread.id, plans=self.plans)

    async def load(self, thread_id: str) -> Loaded:
        """The debugged branch as a trajectory."""
        return Loaded(trajectory=self.read(self.head.values))

    def rollouts(self, trajectory: Trajectory, thread_id: str | None, context: DebuggerContext) -> Rollouts:
        """Re-runs in the thread's own checkpoints, with the Context that the thread was run with."""
        from forethought.rollouts.thread import GraphThread, ThreadRollouts

        return ThreadRollouts(
            GraphThread(self.thread.graph, self.thread.config, context=self.thread.context),
            trajectory,
            self.read,
            self.head.at,
            allow_writes=self.allow_writes,
            max_tokens=context.max_tokens,
            max_usd=context.max_usd,
        )


async def _debugged(request: DebugRequest, thread: Thread, flags: Flags) -> DebuggedThread:
    """The thread with its branch to debug. Raises CliError when its task is not over."""
    snapshot = await (state_at(thread, request.leaf) if request.leaf else thread.snapshot())
    if not snapshot.values.get("progress") and not snapshot.tasks:
        raise CliError(f"thread {thread.id} holds no task to debug; see: forethought threads")
    goes_on = snapshot.interrupts or (unfinished(snapshot) and not task_error(snapshot))
    if goes_on and not request.leaf:
        raise CliError(
            f"thread {thread.id} is unfinished ({status_of(snapshot)}): finish it first with: "
            f"{resume_command(thread.id, flags)}"
        )
    plans = await _replaced_plans(thread, snapshot)
    return DebuggedThread(thread, point_of(snapshot), plans, request.allow_writes)


async def _replaced_plans(thread: Thread, leaf: StateSnapshot) -> tuple[Json, ...]:
    """The plans that steps of the task were made under and that were replaced since, from the checkpoints."""
    task = (leaf.values.get("progress") or {}).get("task")
    steps = [step for step in leaf.values.get("trajectory") or [] if step.get("task") == task]
    versions = {step["plan_version"] for step in steps} - {(leaf.values.get("plan") or {}).get("version")}
    plans: dict[int, Json] = {}
    while versions - plans.keys() and leaf.parent_config is not None:
        leaf = await thread.graph.aget_state(leaf.parent_config)
        plan = leaf.values.get("plan") or {}
        if plan.get("version") in versions:
            plans.setdefault(plan["version"], plan)
    return tuple(plans[version] for version in sorted(plans))


def _environment(name: str, trajectory: Trajectory, settings: Settings) -> Environment:
    """The world that the trajectory ran in: the episode of an evaluation whose folder this is, or
    MODULE:NAME(trajectory). Raises CliError."""
    from forethought.collecting.success import load_function

    try:
        if Path(name).is_dir():
            from forethought.evals.episode_environment import episode_environment

            return episode_environment(Path(name), trajectory, settings)
        environment: Any = load_function(name)(trajectory)
    except Exception as error:
        # Whatever the module does, the line has to name it.
        why = f"{type(error).__name__}: {one_line(error, 200)}"
        raise CliError(f"--environment {one_line(name, 60)}: {why}") from error
    if not all(hasattr(environment, part) for part in ("name", "task", "reset", "step")):
        raise CliError(f"--environment {name}: it does not return a forethought.rollouts.types.Environment")
    made: Environment = environment
    return made


def _in_environment(environment: Environment, settings: Settings) -> Json:
    """The parts of a debugger that re-runs trajectories in this environment, where the actor model acts."""
    from forethought.models import Models
    from forethought.rollouts.environment import EnvironmentRollouts
    from forethought.rollouts.policies import ModelPolicy

    def rollouts(run: Trajectory, thread_id: str | None, context: DebuggerContext) -> Rollouts:
        actor = context.actor_model or context.model
        policy = ModelPolicy(Models(settings), actor, context.max_observation_chars)
        steps = max(_STEPS, len(run.steps))
        return EnvironmentRollouts(
            environment, policy, run, steps, max_tokens=context.max_tokens, max_usd=context.max_usd
        )

    return {"environment": environment, "rollouts": rollouts}
