"""The interfaces of evaluations: samples, benchmarks, methods, attempts and their scores.

A benchmark knows its data, the world of a sample and how to score; a method turns a sample into an attempt.
Neither knows the other, nor the harness that runs them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar

from langgraph.checkpoint.base import BaseCheckpointSaver
from pydantic import BaseModel

from forethought.evals.prompts import render
from forethought.models.ask import Models
from forethought.models.types import Message, Usage, reply_spec
from forethought.rollouts.types import Environment, EnvironmentReply
from forethought.settings import Settings
from forethought.state.cost import CostRow
from forethought.trajectories.types import Trajectory

if TYPE_CHECKING:
    from forethought.evals.toolset import Toolset
    from forethought.tools.base import Tool


R = TypeVar("R", bound=BaseModel)


class DataError(ValueError):
    """A benchmark's data is missing or not what it should be: one line that says where to get it."""


class InfrastructureError(RuntimeError):
    """The sample could not be tried (no model, no server, a broken environment): it has no score, and is told
    apart from a task that was tried and failed."""


class UnscoredError(InfrastructureError):
    """The attempt cannot be scored here by its nature, as where a test's answers are not public: it is kept
    without a score, and is not tried again."""


class EarlierTask(NamedTuple):
    """A task of the conversation that was answered before the sample's."""

    task: str
    answer: str


@dataclass(frozen=True)
class Sample:
    """One task of a benchmark. Methods see neither `target` nor `groups` nor `data`."""

    id: str
    """Letters, digits and . _ -, unique within the benchmark and the same in every run."""
    task: str
    """The full task."""
    files: tuple[Path, ...] = ()
    answer_format: str = ""
    """A sentence on the answer's form ('' any)."""
    earlier: tuple[EarlierTask, ...] = ()
    """The conversation before the task, oldest first; it is not run."""
    target: Any = None
    """The right answer in the scorer's form: plain JSON, never shown to a method."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Groups of the tables, such as {"level": "2"}."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """What the benchmark needs for the sample's environment: plain JSON, never shown to a method."""


@dataclass(frozen=True)
class ToolSpec:
    """A tool of an environment, for any agent."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """A JSON schema of type object."""
    changes_world: bool = False
    asks_person: bool = False
    """Whether it returns a person's words, which foresight of the user predicts."""


class Episode(Environment, Protocol):
    """A sample's world: the Environment of re-rollouts (reset, step), with its tools and its end.

    With `tools`, an action is the text that `call_text` makes of a name and arguments; without, it is any
    text, or one of the reply's `admissible` ones. `reset` begins anew: a method may try several times.
    Once a reply is done, neither `step` nor `finish` is called before the next `reset`.
    """

    @property
    def tools(self) -> Sequence[ToolSpec]:
        """The tools, in the order shown; none where actions are text."""
        ...

    @property
    def how_to_act(self) -> str:
        """For text actions: what an action looks like ('' with tools)."""
        ...

    async def finish(self, answer: str) -> EnvironmentReply:
        """End the episode with the agent's last word; the reply's reward is the episode's."""
        ...

    async def close(self) -> None:
        """Let go of what it holds."""
        ...


@dataclass(frozen=True)
class Services:
    """What a benchmark may use besides a sample: settings, and a model for judges and simulated users."""

    settings: Settings
    models: Models
    judge_model: str
    """The judge: `--judge-model`, by default the evaluated model."""
    user_model: str
    """The simulated user: `--user-model`, by default the evaluated model."""

    async def ask(
        self,
        role: Literal["judge", "user"],
        template: str,
        reply: type[R],
        check: Callable[[R], str | None] | None = None,
        /,
        **values: Any,
    ) -> R:
        """The judge's or the user's reply to a template of forethought/evals/prompts. Raises ModelError."""
        system, user = render(template, **values)
        result = await self.models.ask(
            role=role,
            model=self.judge_model if role == "judge" else self.user_model,
            messages=[Message("system", system), Message("user", user)],
            reply=reply_spec(reply),
            check=check,
        )
        return result.reply


@dataclass(frozen=True)
class Score:
    """What a scorer says of an attempt."""

    values: Mapping[str, float]
    """Values by metric, including the main one, from 0 to 1."""
    explanation: str = ""
    label: str = ""
    """The scorer's class, such as not_attempted."""


@dataclass(frozen=True)
class Budget:
    """What one sample may cost a method, all its tries together: the same for every method."""

    max_steps: int = 20
    """Tool calls or actions."""
    max_tokens: int = 400_000
    """Input and output tokens; cached ones count at their price."""
    tries: int | None = None
    """Maximum tries of a method that tries again; None: as in its paper."""


@dataclass(frozen=True)
class TrialContext:
    """What a method is given for one trial of one sample."""

    sample: Sample
    """Without its target, groups and data."""
    tools: Toolset
    """Tools by name, including those of the episode. Every call counts against the budget."""
    episode: Episode | None
    models: Models
    """Logs and counts every call; beyond the budget, a call raises BudgetSpent."""
    model: str
    settings: Settings
    budget: Budget
    checkpointer: BaseCheckpointSaver[Any]
    thread: str
    """The thread's id for this method, sample and trial."""
    seed: int
    outcome: Callable[[Attempt], Awaitable[bool]] | None = None
    """The benchmark's verdict on a try, for methods that by their paper learn from it (Reflexion's oracle,
    ExpeL in training); tables mark a method that used it. None where it may not be asked."""
    references: Sequence[str] = ()
    """The right result from `Benchmark.references`, for training samples only."""
    learned: Mapping[str, Any] = field(default_factory=dict)
    """The result of the method's `train`, plain JSON; {} without one."""
    context: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the Context from `--set`, for our agent."""


class BudgetSpent(RuntimeError):
    """The sample's budget is spent: a method ends its attempt with what it has."""


@dataclass(frozen=True)
class Attempt:
    """What a method made of a sample."""

    answer: str
    status: str
    """answered, best_effort, budget_exhausted or failed (no answer)."""
    trajectory: Trajectory
    usage: Usage
    """Usage of all of the method's calls."""
    seconds: float
    """Wall-clock seconds, including waits for the model."""
    steps: int
    reward: float | None = None
    """The episode's reward, if there is one."""
    tries: int = 1
    """Rounds (ours) or trials (Reflexion, Best-of-N) within the attempt."""
    self_scores: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """The scores that roles gave themselves, such as {"planner": [8, 9]} (MIRROR figure 3)."""
    plan_errors: Sequence[Sequence[str]] = ()
    """For each plan that was diagnosed: the types of the planning errors found (PreFlect figure 4)."""
    retries: Sequence[Mapping[str, Any]] = ()
    """Retries after reflections: records of `training.gate.Retry`, each with its `reflector` and whether it
    `solved` the task (SAMULE 4.7)."""
    costs: Sequence[CostRow] = ()
    """What each mechanism of our agent cost and changed."""


class Benchmark(ABC):
    """Data, worlds and scores of one benchmark; what a subclass leaves out has the default of most."""

    name: str
    title: str
    about: str
    """One line: its tasks, its licence, and the papers' tables that use it."""
    main_metric: str
    builtin_tools: Sequence[str] = ()
    """Built-in tools offered on top of the sample's own, such as web_search."""
    options: Mapping[str, str] = MappingProxyType({})
    """The keys of `--option KEY=VALUE` with a line on each, such as split, level, stage."""
    steps: int = Budget.max_steps
    """Default of `--steps`."""
    tokens: int = Budget.max_tokens
    """Default of `--tokens`."""

    @abstractmethod
    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """The samples in the folder `data`, in a fixed order. Reads the disk.

        Raises DataError when it is not there, or is not what it should be: it says where to get it.
        """

    def episode(self, sample: Sample, services: Services) -> Episode | None:
        """The sample's world, not yet reset; None where there is none. Raises InfrastructureError."""
        return None

    def tools(self, sample: Sample, services: Services) -> Sequence[Tool]:
        """Tools of the sample's own besides an episode's, such as a search in its paragraphs."""
        return ()

    def builtin(self, sample: Sample) -> Sequence[str]:
        """Names of the built-in tools that the sample offers."""
        return self.builtin_tools

    @abstractmethod
    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """How good the attempt is. Raises InfrastructureError or ModelError where it cannot tell."""

    def summary(self, scored: Sequence[tuple[Sample, Sequence[Score]]]) -> Mapping[str, float]:
        """Figures over all samples that are no mean of `values`, such as pass^k or F1; a sample's trials
        stand side by side. Of a sample only id and groups are there: the rest is not kept with results."""
        return {}

    def references(self, sample: Sample) -> Sequence[str]:
        """What a right result is, for those who learn from failed tries: by default a target that is text; ()
        where none is known."""
        target = sample.target
        texts = [target] if isinstance(target, str) else target if isinstance(target, list | tuple) else ()
        return tuple(texts) if all(isinstance(text, str) for text in texts) else ()

    def floor(self, sample: Sample) -> float | None:
        """What an agent that does nothing scores in the main metric; None where that is not known."""
        return 0.0


class Method(ABC):
    """An agent under evaluation."""

    name: str
    about: str
    """One line, with its source."""
    needs_training: bool = False
    asks_outcome: bool = False
    """Whether it uses `TrialContext.outcome`."""
    most_tries: int = 1
    """Default of `--tries` for a sample, in training too."""
    follows: str = ""
    """The method that runs first and whose thread of the same sample and trial this one continues."""

    async def train(self, trials: Sequence[TrialContext]) -> Mapping[str, Any]:
        """Learn from training samples before the evaluation (ExpeL); plain JSON for `learned`."""
        return {}

    @abstractmethod
    async def run(self, trial: TrialContext) -> Attempt:
        """Try the sample. Raises ModelError and InfrastructureError, not for what the task did wrong."""
