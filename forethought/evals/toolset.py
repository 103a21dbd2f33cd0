"""The tools of one trial of a sample: its episode's, the benchmark's own and built-in ones, all counted.

A benchmark's world speaks `Episode`, an agent speaks `tools.base.Tool`. What stands between them counts every
call against the sample's budget, carries out one action at a time, keeps the world's last word, and tells a
broken world apart from a task that went wrong: a tool's exception is only an observation to an agent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from forethought.evals.actions import call_text
from forethought.evals.harness.budget import StepCounter
from forethought.evals.types import Budget, Episode, InfrastructureError, ToolSpec
from forethought.prompts.tool_choice import RESERVED
from forethought.rollouts.types import EnvironmentReply
from forethought.settings import Settings
from forethought.text import fence, one_line
from forethought.tools.base import Effect, Observation, Tool, ToolEnv, ToolError
from forethought.tools.json_arguments import arguments_model
from forethought.tools.registry import toolbox

ACT = "act"
"""The only tool of an episode with text actions."""
SHOWN_ACTIONS = 80
"""Maximum possible actions in an observation."""
_ACTION_CHARS = 200
WORLD_S = 1_800.0
"""Time limit of an environment's answer, in seconds; after it, the environment counts as broken."""
OVER = "The episode is over: nothing more can be done in it."
_SERVED = frozenset({"web_search"})
"""Built-in tools that need a server outside the task."""
_nested: ContextVar[bool] = ContextVar("nested", default=False)
"""Whether a program of the agent makes the call; the program itself counts as one call."""


class Toolset(Mapping[str, Tool]):
    """The tools by name, and the state of the world behind them."""

    def __init__(self, episode: Episode | None, others: Mapping[str, Tool], budget: Budget) -> None:
        self.episode, self.budget = episode, budget
        self.counter = StepCounter(budget.max_steps)
        self.reply: EnvironmentReply | None = None
        """The environment's last reply in this try."""
        self.broken: InfrastructureError | None = None
        """Set if the environment, or a tool for it, failed."""
        self._one = asyncio.Lock()
        self._unserved = ""
        self._served = False
        of_episode = _episode_tools(self, episode) if episode else {}
        for name in (*of_episode, *others):
            if name in RESERVED or (name in of_episode and name in others):
                raise ValueError(f"the sample has a tool named {name}, but that name is taken: rename it")
        rest = {name: self._counted(tool) for name, tool in others.items()}
        self.of_episode = frozenset(of_episode)
        self._tools = {**of_episode, **rest}

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    @property
    def done(self) -> bool:
        """Whether the world says that it is over."""
        return self.reply is not None and self.reply.done

    @property
    def reward(self) -> float | None:
        """The reward of the world's last word; None where there is no world."""
        return self.reply.reward if self.reply is not None else None

    @property
    def acts_in_text(self) -> bool:
        """Whether what counts is what is done in the world, and no answer is asked for."""
        return self.episode is not None and not self.episode.tools

    def renew(self) -> None:
        """Give the next try all calls of the budget, as in training."""
        self.counter = StepCounter(self.budget.max_steps)

    async def begin(self) -> EnvironmentReply | None:
        """Reset the world for a try; None where there is none. Raises InfrastructureError."""
        if self.episode is None:
            return None
        return await self._ask(self.episode.reset(), "reset")

    async def finish(self, answer: str) -> float | None:
        """End the try with the agent's last word, unless the world is over; its reward. Raises
        InfrastructureError."""
        if self.episode is not None and not self.done:
            await self._ask(self.episode.finish(answer), "the end")
        return self.reward

    async def step(self, action: str) -> str:
        """Carry out one action and return what a tool says of it. Raises StepsSpent, ToolError once the
        world is over, InfrastructureError (which is kept in `broken`)."""
        assert self.episode is not None
        async with self._one:
            self._check()
            if self.done:
                raise ToolError(OVER, cause="limit", hint="finish")
            self._take()
            return observation_text(await self._ask(self.episode.step(action), "a step"))

    async def _ask(self, question: Awaitable[EnvironmentReply], what: str) -> EnvironmentReply:
        """The world's answer. An episode is the benchmark's code: what it raises is not the agent's doing."""
        name = self.episode.name if self.episode else ""
        scope = asyncio.timeout(WORLD_S)
        try:
            async with scope:
                self.reply = await question
        except ToolError:
            raise
        except InfrastructureError as error:
            self.broken = error
            raise
        except Exception as error:
            reason = one_line(f"{type(error).__name__}: {error}", 500)
            reason = f"no answer within {WORLD_S:g} s" if scope.expired() else reason
            self.broken = InfrastructureError(f"the environment {name} failed at {what}: {reason}")
            raise self.broken from error
        return self.reply

    def check_served(self) -> None:
        """Raises InfrastructureError where a server that tools rest on was asked, and never answered: what
        came of that says nothing of the agent."""
        if self._unserved and not self._served:
            raise InfrastructureError(self._unserved)

    def _check(self) -> None:
        if self.broken is not None:
            raise self.broken

    def _take(self) -> None:
        if not _nested.get():
            self.counter.take()

    def _counted(self, tool: Tool) -> Tool:
        """`tool`, its calls counted. Those that a program makes are part of the program's own call."""

        async def run(env: ToolEnv, **arguments: Any) -> str | Observation:
            self._check()
            self._take()
            if tool.name in _SERVED:
                self._unserved = self._unserved or f"{tool.name} did not answer in time, even when repeated"
            try:
                result = await tool.run(_uncounted(env), **arguments)
            except InfrastructureError as error:
                self.broken = error
                raise
            except ToolError as error:
                if tool.name in _SERVED:
                    self._served |= error.cause != "transport"
                    self._unserved = str(error)
                raise
            self._served |= tool.name in _SERVED
            return result

        return replace(tool, run=run)


def _uncounted(env: ToolEnv) -> ToolEnv:
    call = env.call
    if call is None:
        return env

    async def nested(name: str, arguments: dict[str, Any]) -> Observation:
        token = _nested.set(True)
        try:
            return await call(name, arguments)
        finally:
            _nested.reset(token)

    return replace(env, call=nested)


def make_toolset(
    settings: Settings,
    budget: Budget,
    episode: Episode | None = None,
    own: Sequence[Tool] = (),
    builtin: Sequence[str] = (),
) -> Toolset:
    """The tools of one trial: the episode's, the benchmark's `own`, and the built-in ones it wants.

    Raises ValueError, one line, where a name comes twice, is taken, or no built-in tool has it, and where a
    schema is not usable.
    """
    plain = settings.model_copy(update={"tools": None})
    return Toolset(episode, toolbox(plain, own, builtin), budget)


def observation_text(reply: EnvironmentReply) -> str:
    """What the world showed, what is possible now (bounded), and whether it is over."""
    parts = [reply.observation.strip() or "(nothing is shown)"]
    if reply.admissible and not reply.done:
        shown = [one_line(action, _ACTION_CHARS) for action in reply.admissible[:SHOWN_ACTIONS]]
        left_out = len(reply.admissible) - len(shown)
        more = f"\n[and {left_out} more]" if left_out else ""
        parts.append("Possible actions now:\n" + "\n".join(f"- {action}" for action in shown) + more)
    if reply.done:
        parts.append(OVER)
    return "\n\n".join(parts)


def opening(task: str, first: EnvironmentReply | None) -> str:
    """The task as every method is given it: with what the world shows at the beginning, fenced as data."""
    if first is None:
        return task
    shown = fence(observation_text(first), "observation")
    return f"{task.rstrip()}\n\nWhat the environment shows at the beginning:\n{shown}"


def _episode_tools(toolset: Toolset, episode: Episode) -> dict[str, Tool]:
    tools = [_tool(toolset, spec) for spec in episode.tools] or [_act(toolset, episode.how_to_act)]
    names = [tool.name for tool in tools]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"two tools of the episode have the name {twice}: rename one")
    return {tool.name: tool for tool in tools}


def _tool(toolset: Toolset, spec: ToolSpec) -> Tool:
    async def run(env: ToolEnv, **arguments: Any) -> str:
        return await toolset.step(call_text(spec.name, arguments))

    try:
        arguments = arguments_model(spec.name, dict(spec.parameters))
    except ValueError as error:
        raise ValueError(f"the schema of the tool {spec.name} {error}") from error
    effect: Effect = "write" if spec.changes_world else "read"
    return Tool(
        spec.name, spec.description, arguments, run, effect, timeout_s=0, asks_person=spec.asks_person
    )


def _act(toolset: Toolset, how: str) -> Tool:
    async def run(env: ToolEnv, action: str) -> str:
        return await toolset.step(action.strip())

    about = "Take one action in the environment; what it shows then comes back. One action a call."
    meaning = "The action, in the exact words that the environment takes."
    schema = {
        "type": "object",
        "properties": {"action": {"type": "string", "description": meaning}},
        "required": ["action"],
    }
    description = f"{about}\n\n{how.strip()}".strip()
    return Tool(ACT, description, arguments_model(ACT, schema), run, "write", timeout_s=0)
