"""Plays ALFWorld through our agent's graph, with a scripted model that says what ALFWorld's own expert would.

    pip install -e '.[alfworld]' pytest
    python benchmarks/alfworld_games.py --out games --games 30
    python benchmarks/alfworld_expert.py --data games

The model is a chat-completions server. It knows nothing but the prompts that it is sent: it reads there which
commands the agent has given so far, brings a game of its own to the same point, checks that the prompt shows
what that game showed, and replies with the expert's next command. A prompt that loses, repeats or reorders a
command, or a world that differs from the model's, ends in failure. Plans, criticism and answers are scripted.
Prints a line a game and a table by task type. The planner's policy knows where everything is and solves every
game in a few commands; the handcoded one searches, takes longer, and does not always get there, so it also
plays each game that was not solved alone. Exits with 1 where a game was not solved that the expert alone
solves.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from forethought.evals.benchmarks.alfworld import BENCHMARK, SPLITS
from forethought.evals.environments.alfworld.episode import MAX_STEPS
from forethought.evals.environments.alfworld.game import Expert, Game, Position
from forethought.evals.registry import method
from forethought.evals.toolset import ACT, OVER, make_toolset
from forethought.evals.types import Budget, DataError, Sample, Services, TrialContext
from forethought.models.ask import Models
from forethought.settings import Settings
from tests.support.agent import Script
from tests.support.exchange import Answer, SeenRequest
from tests.support.model_server import ModelServer
from tests.support.replies import call, finish, plan, sub

MODEL = "openai:scripted"
SUBTASK = "play"
BUDGET = Budget(max_steps=60, max_tokens=100_000_000)
"""More steps than the 50 commands of a game, so that the game's own limit ends it."""
_MOVE = re.compile(rf"^move: {ACT}\((\{{.*\}})\)$", re.MULTILINE)
_ANSWER_S = 120.0


@dataclass
class ScriptedExpert:
    """Replies for the tool agent, from a game of its own that follows the prompts."""

    game: Game
    loop: asyncio.AbstractEventLoop
    made: list[str] = field(default_factory=list)
    """The commands that led to the present state of `game`."""
    at: Position | None = None

    def __call__(self, seen: SeenRequest) -> Answer:
        """The expert's next command, or the end; called in the server's thread."""
        prompt = seen.messages[-1][1]
        if OVER in prompt:
            return finish("The goal is reached, or the game is over.")
        actions = [json.loads(found)["action"] for found in _MOVE.findall(prompt)]
        future = asyncio.run_coroutine_threadsafe(self._follow(actions), self.loop)
        position = future.result(_ANSWER_S)
        if actions and not _shows(prompt, position.observation):
            raise ValueError(f"the prompt does not show {position.observation!r}")
        if not position.plan:
            raise ValueError("the expert has no next command")
        return call(SUBTASK, tool=ACT, finishes=False, action=position.plan[0])

    async def _follow(self, actions: Sequence[str]) -> Position:
        if self.at is None or list(actions[: len(self.made)]) != self.made:
            self.made, self.at = [], await self.game.reset()
        for action in actions[len(self.made) :]:
            self.at = await self.game.step(action)
            self.made.append(action)
        return self.at


def _shows(prompt: str, observation: str) -> bool:
    return " ".join(observation.split()) in " ".join(prompt.split())


@dataclass(frozen=True)
class Outcome:
    """One game."""

    sample: Sample
    solved: bool
    commands: int
    calls: int
    """Replies of the scripted model in all roles."""
    seconds: float
    problem: str = ""
    lost: bool = False
    """Not solved, although the expert solves it without our agent."""


async def play(sample: Sample, expert: Expert, folder: Path) -> Outcome:
    """Play one game by the method `ours`."""
    started = time.monotonic()
    twin = Game(Path(sample.data["game"]), expert)
    policy = ScriptedExpert(twin, asyncio.get_running_loop())
    script = Script(plans=[plan(sub(SUBTASK))], moves={SUBTASK: policy})
    server = ModelServer(script)
    settings = Settings(data_dir=folder, base_url=server.url, model=MODEL, request_retries=0)
    models = Models(settings)
    services = Services(settings, models, judge_model=MODEL, user_model=MODEL)
    episode = BENCHMARK.episode(sample, services)
    try:
        tools = make_toolset(settings, BUDGET, episode)
        workshop = TrialContext(
            sample, tools, episode, models, MODEL, settings, BUDGET, InMemorySaver(), thread=sample.id, seed=0
        )
        attempt = await method("ours").run(workshop)
        score = await BENCHMARK.score(sample, attempt, services)
    finally:
        await episode.close()
        await twin.close()
        server.close()
    solved = score.values["success"] == 1.0
    seconds = time.monotonic() - started
    played = Outcome(sample, solved, len(policy.made) + solved, len(server.requests), seconds)
    if solved:
        return played
    return replace(played, problem=_problem(attempt), lost=await solves_alone(sample, expert))


async def solves_alone(sample: Sample, expert: Expert) -> bool:
    """Whether the expert wins the game within its limit when nobody stands between."""
    game = Game(Path(sample.data["game"]), expert)
    try:
        at = await game.reset()
        for _ in range(MAX_STEPS):
            if at.won or not at.plan:
                break
            at = await game.step(at.plan[0])
        return at.won
    finally:
        await game.close()


def _problem(attempt: Any) -> str:
    steps = attempt.trajectory.steps
    last = f"; last: {steps[-1].action} -> {steps[-1].observation[:200]}" if steps else ""
    return f"{attempt.status}{last}"


async def play_all(samples: Sequence[Sample], expert: Expert, jobs: int) -> list[Outcome]:
    """Play the games, `jobs` at a time, and tell each as it ends."""
    room = asyncio.Semaphore(jobs)

    async def one(sample: Sample) -> Outcome:
        async with room:
            with tempfile.TemporaryDirectory() as folder:
                outcome = await play(sample, expert, Path(folder))
        told = (
            f"solved in {outcome.commands} commands" if outcome.solved else f"NOT solved: {outcome.problem}"
        )
        told += "" if outcome.solved or outcome.lost else " (nor by the expert alone)"
        print(f"{sample.id}: {told}, {outcome.calls} model calls, {outcome.seconds:.1f} s", flush=True)
        return outcome

    return await asyncio.gather(*(one(sample) for sample in samples))


def table(outcomes: Sequence[Outcome]) -> str:
    """Solved games and commands by task type, in Markdown."""
    by_type: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_type[outcome.sample.groups["task_type"]].append(outcome)
    rows = [
        "| task type | games | solved | unsolved that the expert alone solves | commands, mean (longest) |"
    ]
    rows.append("|---|---|---|---|---|")
    for name, group in [*sorted(by_type.items()), ("all", list(outcomes))]:
        commands = [outcome.commands for outcome in group]
        mean = sum(commands) / len(commands)
        solved = sum(outcome.solved for outcome in group)
        lost = sum(outcome.lost for outcome in group)
        rows.append(f"| {name} | {len(group)} | {solved} | {lost} | {mean:.1f} ({max(commands)}) |")
    return "\n".join(rows)


def main() -> int:
    """Play, and print what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of games")
    parser.add_argument("--split", choices=SPLITS, default=SPLITS[0])
    parser.add_argument("--games", type=int, help="maximum games, taken from the task types in turn")
    parser.add_argument("--expert", choices=("planner", "handcoded"), default="planner")
    parser.add_argument("--jobs", type=int, default=2, help="games in parallel")
    given = parser.parse_args()
    try:
        samples = in_turn(BENCHMARK.samples(given.data, {"split": given.split}))[: given.games]
    except DataError as error:
        parser.error(str(error))
    outcomes = asyncio.run(play_all(samples, given.expert, given.jobs))
    print(f"\nExpert: {given.expert}. The model is scripted.\n\n{table(outcomes)}")
    return 1 if any(outcome.lost for outcome in outcomes) else 0


def in_turn(samples: Sequence[Sample]) -> list[Sample]:
    """The samples with their task types in turn, so that the first few are of all types."""
    seen: dict[str, int] = defaultdict(int)
    ranked = []
    for sample in samples:
        seen[sample.groups["task_type"]] += 1
        ranked.append((seen[sample.groups["task_type"]], sample.groups["task_type"], sample))
    return [sample for *_, sample in sorted(ranked, key=lambda item: item[:2])]


if __name__ == "__main__":
    sys.exit(main())
