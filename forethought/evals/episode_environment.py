"""The episode of an evaluation's sample as an environment in which its recorded run is made again.

A baseline's trajectory keeps a call as the text that `call_text` makes of it, and its last word as
`answer: TEXT`; our agent's writes tool({...}). Both are carried out here.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from forethought.evals import registry
from forethought.evals.actions import call_text
from forethought.evals.harness.budget import Meter, MeteredTransport
from forethought.evals.results import read_evaluation
from forethought.evals.toolset import ACT, observation_text
from forethought.evals.types import Episode, Services
from forethought.models import Models
from forethought.models.live import LiveTransport
from forethought.models.types import no_usage
from forethought.rollouts.environment import handed_in
from forethought.rollouts.types import EnvironmentReply
from forethought.settings import Settings
from forethought.tools.base import ToolError
from forethought.trajectories.own import call_of, move_of
from forethought.trajectories.types import Trajectory


class EpisodeEnvironment:
    """An episode, with the end that an agent's last word makes of it. `meter` counts its model calls."""

    def __init__(self, episode: Episode, task: str, meter: Meter | None = None) -> None:
        self.episode, self.name, self.meter = episode, episode.name, meter or Meter()
        self.task = f"{task.rstrip()}\n\nHow to act:\n{_how_to_act(episode)}"
        self._last = EnvironmentReply("")

    async def reset(self) -> EnvironmentReply:
        """The episode from its beginning."""
        return self._as_observation(await self.episode.reset())

    async def step(self, action: str) -> EnvironmentReply:
        """Carry out an action, or end the episode. A refusal of the world's is an observation."""
        if (answer := handed_in(action)) is not None:
            return self._as_observation(replace(await self.episode.finish(answer), done=True))
        if move_of(action)[0]:
            return replace(self._last, observation="")
        try:
            return self._as_observation(await self.episode.step(_plain(action)))
        except ToolError as error:
            return replace(self._last, observation=str(error))

    async def close(self) -> None:
        """Let go of what the episode holds."""
        await self.episode.close()

    def _as_observation(self, reply: EnvironmentReply) -> EnvironmentReply:
        """As a tool shows it in an evaluation: possible actions are in the text."""
        self._last = replace(reply, observation=observation_text(reply), admissible=())
        spent, self.meter.usage = self.meter.usage, no_usage()
        return replace(self._last, usage=spent)


def _how_to_act(episode: Episode) -> str:
    """The tools, or the form of an action, and how the run ends."""
    tools = [
        f"- {call_text(tool.name, {})}, arguments {json.dumps(dict(tool.parameters))}: {tool.description}"
        for tool in episode.tools
    ]
    how = "\n".join(["An action is a call as JSON, one of:", *tools]) if tools else episode.how_to_act
    return f"{how}\nThe action `answer: TEXT` ends the run with TEXT."


def _plain(action: str) -> str:
    """The episode's form of an action that our own agent's trajectory writes as tool({...})."""
    try:
        name, arguments = call_of(action)
    except ValueError:
        return action
    return str(arguments.get("action", "")) if name == ACT else call_text(name, arguments)


def episode_environment(folder: Path, trajectory: Trajectory, settings: Settings) -> EpisodeEnvironment:
    """The world of a trajectory that the evaluation in `folder` has kept, with its judge and user models.

    Reads the benchmark's data. Raises ValueError, one line, where the trajectory is not of this evaluation,
    and where its benchmark is no built-in one or has no world; ImportError, InfrastructureError.
    """
    run = read_evaluation(folder).run
    method = next((name for name in run.methods if trajectory.id.startswith(f"{name}--")), "")
    key = trajectory.id.removeprefix(f"{method}--").rpartition("--")[0]
    benchmark = registry.built_in_benchmark(run.benchmark)
    samples = benchmark.samples(settings.benchmarks_dir / benchmark.name, run.options)
    sample = next((sample for sample in samples if method and sample.id == key), None)
    if sample is None:
        raise ValueError(
            f"{trajectory.id} does not come from the evaluation in {folder}; name the evaluation "
            "that it comes from"
        )
    meter = Meter()
    models = Models(settings, MeteredTransport(LiveTransport(settings), (meter,)))
    services = Services(settings, models, run.judge_model or run.model, run.user_model or run.model)
    episode = benchmark.episode(sample, services)
    if episode is None:
        raise ValueError(f"{benchmark.name} has no environment for a re-run")
    return EpisodeEnvironment(episode, sample.task, meter)
