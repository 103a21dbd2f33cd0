"""What the nodes of the debugger, distiller and synthesizer share: models, stored runs, the budget."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

from langgraph.config import get_config
from langgraph.runtime import Runtime
from pydantic import BaseModel

from forethought.models.allowance import charged_tokens, total
from forethought.models.ask import Models
from forethought.models.pricing import estimate_tokens
from forethought.models.types import (
    Message,
    ReplyError,
    ReplyResult,
    Transport,
    Usage,
    no_usage,
    reply_spec,
)
from forethought.nodes.support.state_reader import read_state
from forethought.settings import Settings
from forethought.state.context import bounded
from forethought.state.offline import Job, OfflineContext
from forethought.tools.files import FileStore
from forethought.trajectories.read import all_from_json
from forethought.trajectories.show import PROMPT_CHARS, shortened, whole_text
from forethought.trajectories.tasks import Attempt
from forethought.trajectories.types import Loaded, Trajectory

Json = dict[str, Any]
C = TypeVar("C", bound=OfflineContext)
R = TypeVar("R", bound=BaseModel)


_REPLY_TOKENS = 400
"""Tokens of a reply to such a prompt, including its reasoning on each part."""
_FIXED_TOKENS = 2_500
"""Tokens of a prompt besides its runs."""
_TOLD_FROM = 10
"""A command that needs more model calls than this prints an estimate first."""


def estimate_text(prompts: Sequence[int], models: Models, model: str, besides: str = "") -> str:
    """What a person is told before prompts of so many tokens, as if no cache made any cheaper; '' of a few.

    `besides` is what comes on top, whose cost nobody knows beforehand.
    """
    if len(prompts) <= _TOLD_FROM and not besides:
        return ""
    output = len(prompts) * _REPLY_TOKENS
    usd = models.price(model, sum(prompts), output)
    costs = "price unknown" if usd is None else f"${usd:.2f} without a cache"
    calls = f"about {len(prompts)} calls, {sum(prompts) + output:,} tokens, {costs}" if prompts else ""
    return f"estimate: {'; '.join(filter(None, (calls, besides)))}"


def tokens_of_prompt(messages: Iterable[Message]) -> int:
    """About how many tokens these messages have."""
    return sum(estimate_tokens(message.text) for message in messages)


def tokens_of_runs(runs: Iterable[Trajectory]) -> int:
    """About how many tokens a prompt has that shows these runs."""
    shown = sum(len(whole_text(run)) for run in runs)
    return _FIXED_TOKENS + estimate_tokens("x" * min(shown, PROMPT_CHARS))


@dataclass(frozen=True)
class OfflineServices(Generic[C]):
    """What nodes work with besides state and context: built once a graph, without any thread's data."""

    settings: Settings
    models: Models
    store: FileStore
    context_type: type[C]
    attempt: Attempt | None = None
    """Makes one trial of a task (synthesizer)."""

    @classmethod
    def of(
        cls,
        context_type: type[C],
        settings: Settings | None = None,
        transport: Transport | None = None,
        **others: Any,
    ) -> Self:
        """The services of a graph with this `context_schema`; `transport` carries model calls."""
        settings = settings or Settings()
        return cls(settings, Models(settings, transport), FileStore.of(settings), context_type, **others)

    def context(self, runtime: Runtime[C]) -> C:
        """The context within the operator's bounds. Raises ValueError for a model that is not allowed."""
        return bounded(self.context_type.model_validate(runtime.context or {}), self.settings)

    def read(self, *channels: str) -> Any:
        """These channels as they stood before this superstep, for a node that was started with a job."""
        return read_state(get_config(), channels)

    async def request(
        self,
        runtime: Runtime[C],
        role: str,
        messages: Sequence[Message],
        reply: type[R],
        check: Callable[[R], str | None] | None = None,
        about: str = "",
    ) -> ReplyResult[R]:
        """The checked reply to `messages`; the stream says who is asked about what. Raises ModelError."""
        runtime.stream_writer({"event": "thinking", "role": role.replace("_", " "), "about": about})
        model = self.context(runtime).model
        return await self.models.ask(
            role=role, model=model, messages=messages, reply=reply_spec(reply), check=check
        )

    async def ask(
        self,
        runtime: Runtime[C],
        job: Job,
        role: str,
        messages: Sequence[Message],
        reply: type[R],
        check: Callable[[R], str | None],
    ) -> tuple[R | None, Json]:
        """The reply, or None where no valid one came; and the update of `usage` and, without a reply, of
        `problems`. Raises the other ModelErrors."""
        try:
            result = await self.request(runtime, role, messages, reply, check, job["key"])
        except ReplyError as error:
            return None, {
                "problems": {problem_key(job): error.problem or str(error)},
                "usage": {role: error.usage},
            }
        return result.reply, {"usage": {role: result.usage}}

    def warn_of_cuts(self, runtime: Runtime[C], trajectories: Sequence[Trajectory]) -> None:
        """Say in the stream what prompts about these will shorten, before a model is asked."""
        context = self.context(runtime)
        if note := shortened(trajectories, context.max_observation_chars, getattr(context, "window", None)):
            runtime.stream_writer({"event": "note", "text": note})

    def tell(self, runtime: Runtime[C], prompts: Sequence[int], besides: str = "") -> None:
        """Say in the stream what is to come, where that is more than a few calls: see `estimate_text`."""
        if text := estimate_text(prompts, self.models, self.context(runtime).model, besides):
            runtime.stream_writer({"event": "note", "text": text})

    async def save(self, trajectory: Trajectory) -> str:
        """Store a trajectory, without what is known of it, and return its hash. Raises FilesError."""
        data = json.dumps(trajectory.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False)
        return await asyncio.to_thread(self.store.put, data.encode("utf-8", "replace"))

    async def load(self, stored: str) -> Trajectory:
        """The trajectory stored under a hash. Raises FilesError when it is no longer there."""
        return Trajectory.model_validate_json(await asyncio.to_thread(self.store.get, stored))


def runs_by_task(trajectories: Sequence[Any]) -> dict[str, list[Loaded]]:
    """The runs in trajectories of any known format, by their task, each with the task in its own words.

    A run that is the same as another but for its id is read once. Raises ValueError for what is no
    trajectory.
    """
    groups: dict[str, list[Loaded]] = {}
    seen: set[str] = set()
    for number, raw in enumerate(trajectories, 1):
        try:
            runs = all_from_json(raw, f"trajectory-{number}")
        except ValueError as error:
            raise ValueError(f"trajectory {number}: {error}") from error
        for item in runs:
            bare = item.trajectory.model_copy(update={"id": "", "source": "", "notes": ()})
            text = bare.model_dump_json()
            if text not in seen:
                seen.add(text)
                group = groups.setdefault(item.trajectory.task_key, [])
                group.append(_with_own_task(item, group[0].trajectory.task) if group else item)
    return groups


def _with_own_task(run: Loaded, task: str) -> Loaded:
    """The run with its task in its own words, where they are not those that its group is shown with: a
    customer says anew in each run what is wanted."""
    trajectory = run.trajectory
    if trajectory.task == task or not trajectory.steps:
        return run
    first, *rest = trajectory.steps
    given = "\n\n".join(filter(None, (f"The task as this run was given it: {trajectory.task}", first.given)))
    steps = (first.model_copy(update={"given": given}), *rest)
    return run.model_copy(update={"trajectory": trajectory.model_copy(update={"steps": steps})})


def exhausted(
    state: Mapping[str, Any], context: OfflineContext, now: Usage | None = None, reserve: int = 0
) -> str:
    """Which budget is spent: '' or a clause such as 'the budget of 1000 tokens is spent'.

    `now` is usage that the state does not hold yet; `reserve` tokens are kept back.
    """
    used = total(*state.get("usage", {}).values(), now or no_usage())
    if context.max_tokens is not None and charged_tokens(used) + reserve >= context.max_tokens:
        return f"the budget of {context.max_tokens} tokens is spent"
    if context.max_usd is not None and used["usd"] >= context.max_usd:
        return f"the budget of {context.max_usd:g} dollars is spent"
    return ""


def stopped(state: Mapping[str, Any], context: OfflineContext, unfinished: str) -> Json | None:
    """The update that stops a run whose budget is spent and says what is `unfinished`; else None."""
    if spent := exhausted(state, context):
        return {"status": "stopped", "problem": f"{spent}, and {unfinished}; raise it"}
    return None


def next_wave(
    state: Mapping[str, Any],
    context: OfflineContext,
    jobs: Sequence[Job],
    unfinished: str,
) -> Json:
    """The first of the open `jobs`, which are done side by side: none where a spent budget stops the run."""
    if jobs and (stop := stopped(state, context, unfinished)):
        return {"wave": [], **stop}
    return {"wave": list(jobs[: context.max_parallel])}


def problem_key(job: Job) -> str:
    """Under what name the channel `problems` says why nothing came of a job."""
    return f"{job['node']} {job['key']}"


def open_jobs(state: Mapping[str, Any], node: str, keys: Iterable[str], channel: str) -> list[Job]:
    """A job of `node` for each key that is neither in `channel` nor left out with a problem."""
    done, problems = state.get(channel, {}), state.get("problems", {})
    jobs = [Job(node=node, key=key) for key in keys if key not in done]
    return [job for job in jobs if problem_key(job) not in problems]
