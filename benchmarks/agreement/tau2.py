"""Plays tau2's tasks through our episodes, and beside them through the checkout's environment and evaluators.

    git clone https://github.com/sierra-research/tau2-bench
    python benchmarks/agreement/tau2.py --repo tau2-bench [--domain retail]

Each task is played three times: with all gold actions and everything said that must be said, without the
last action that changes something, and with nothing done. The other side is written against the checkout
alone: its `Environment` is driven by hand, and its `EnvironmentEvaluator`, `ActionEvaluator` and
`CommunicateEvaluator` are multiplied over the task's reward basis. Assertions that need a judge are taken as
true on both sides. Exits with 1 where the two disagree, or where gold actions do not score 1.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from forethought.evals.environments.checkouts.process import Checkout

from forethought.evals.actions import call_text
from forethought.evals.benchmarks.service import TAU2 as BENCHMARK
from forethought.evals.environments.service_desk.people import Customer, Said, Turn
from forethought.evals.types import DataError, Sample, Services
from forethought.models.ask import Models
from forethought.models.types import ModelReply, ModelRequest
from forethought.settings import Settings

Json = dict[str, Any]
Play = tuple[int, list[tuple[str, Json]], str]
"""A task's place, the calls to make, the last words."""
WAYS = ("gold", "without the last change", "nothing")

OFFICIAL = """
import json, sys, types
from pathlib import Path
from forethought.evals.environments.checkouts.worker import stand_in

checkout, domain = sys.argv[1:]
package = types.ModuleType("tau2")
package.__path__ = [str(Path(checkout) / "src" / "tau2")]
sys.modules["tau2"] = package
stand_in(absent=("addict", "deepdiff", "litellm", "pandas", "toml"), quiet=("dotenv", "loguru"))
from importlib import import_module
environment = import_module(f"tau2.domains.{domain}.environment")
from tau2.data_model.message import AssistantMessage, ToolCall, UserMessage
from tau2.evaluator.evaluator_action import ActionEvaluator
from tau2.evaluator.evaluator_communicate import CommunicateEvaluator
from tau2.evaluator.evaluator_env import EnvironmentEvaluator

tasks = environment.get_tasks("base")
for line in sys.stdin:
    number, calls, words = json.loads(line)
    task, env = tasks[number], environment.get_environment()
    messages, results = [UserMessage(role="user", content="Hello.")], []
    for at, (name, arguments) in enumerate(calls):
        call = ToolCall(id=str(at), name=name, arguments=arguments)
        answer = env.get_response(call)
        messages += [AssistantMessage(role="assistant", tool_calls=[call]), answer]
        results.append(answer.content)
    if words:
        messages.append(AssistantMessage(role="assistant", content=words))
    parts = {
        "DB": EnvironmentEvaluator.calculate_reward(environment.get_environment, task, messages),
        "COMMUNICATE": CommunicateEvaluator.calculate_reward(task, messages),
        "ACTION": ActionEvaluator.calculate_reward(task, messages),
    }
    reward = 1.0
    for basis in task.evaluation_criteria.reward_basis:
        reward *= parts[basis.value].reward if basis.value in parts else 1.0
    print(json.dumps([reward, results]), flush=True)
"""


class Agreeing:
    """A judge that finds every assertion true."""

    async def send(self, request: ModelRequest) -> ModelReply:
        """See Transport."""
        count = request.messages[-1].text.count("<statement ")
        verdicts = [{"number": n, "reasoning": "", "holds": True} for n in range(1, count + 1)]
        return ModelReply(json.dumps({"verdicts": verdicts}), model="scripted")


class Content(Customer):
    """Says hello, and then that all is done."""

    async def reply(self, turns: Sequence[Turn]) -> Said:
        """See Customer."""
        return Said("Hello.", False) if len(turns) == 1 else Said("Thank you.", True)


def plays(samples: Sequence[Sample], lent: Checkout) -> list[tuple[str, Sample, Play]]:
    """All that is played, in its way."""
    changing = {tool["name"] for tool in lent.ask("describe")["tools"] if tool["changes_world"]}
    found = []
    for sample in samples:
        wanted = sample.target["evaluation_criteria"]
        calls = [(action["name"], action["arguments"]) for action in wanted["actions"] or []]
        words = " ".join(["Done.", *(wanted["communicate_info"] or [])])
        last = max((at for at, (name, _) in enumerate(calls) if name in changing), default=len(calls))
        number = sample.data["number"]
        ways = ((number, calls, words), (number, calls[:last] + calls[last + 1 :], words), (number, [], ""))
        found += [(way, sample, play) for way, play in zip(WAYS, ways, strict=True)]
    return found


async def ours(sample: Sample, play: Play, lent: Checkout, services: Services) -> tuple[float, list[str]]:
    """The reward of our episode, and what its tools answered."""
    episode = BENCHMARK.episode(sample, services, lent)
    episode.customer = Content(services, "")
    _, calls, words = play
    await episode.reset()
    results = [(await episode.step(call_text(name, arguments))).observation for name, arguments in calls]
    return (await episode.finish(words)).reward, results


def official(repo: Path, domain: str, played: Sequence[Play]) -> list[tuple[float, list[str]]]:
    """What the checkout makes of the same plays."""
    done = subprocess.run(
        [sys.executable, "-c", OFFICIAL, str(repo.resolve()), domain],
        input="\n".join(json.dumps(play) for play in played),
        capture_output=True,
        text=True,
        check=True,
    )
    return [(reward, results) for reward, results in map(json.loads, done.stdout.splitlines())]


async def compare(repo: Path, domain: str) -> bool:
    """Play a domain on both sides; whether they agree and gold actions score 1."""
    settings = Settings(base_url=None)
    services = Services(settings, Models(settings, Agreeing()), "scripted", "scripted")
    samples = BENCHMARK.samples(repo, {"domain": domain})
    with BENCHMARK.checkout(samples[0]) as lent:
        todo = plays(samples, lent)
        got = [await ours(sample, play, lent, services) for _, sample, play in todo]
    theirs = official(repo, domain, [play for *_, play in todo])
    fine = len(theirs) == len(got)
    for wanted in WAYS:
        rows = [
            (sample.id, mine, other)
            for (way, sample, _), mine, other in zip(todo, got, theirs, strict=True)
            if way == wanted
        ]
        same = [name for name, mine, other in rows if mine == other]
        print(
            f"{domain}, {wanted}: {len(same)} of {len(rows)} agree in reward and every tool result; "
            f"reward 1 in {sum(mine[0] for _, mine, _ in rows):g} of ours, "
            f"{sum(other[0] for *_, other in rows):g} of theirs",
            flush=True,
        )
        apart = [(name, mine[0], other[0]) for name, mine, other in rows if mine != other]
        for name, mine_reward, other_reward in apart:
            print(f"  {name}: ours {mine_reward:g}, theirs {other_reward:g}")
        fine = fine and not apart and (wanted != "gold" or all(mine[0] == 1 for _, mine, _ in rows))
    return fine


async def main(repo: Path, domains: Sequence[str]) -> int:
    """Compare, and print."""
    return 0 if all([await compare(repo, domain) for domain in domains]) else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repo", type=Path, required=True, help="a checkout of sierra-research/tau2-bench")
    parser.add_argument("--domain", action="append", choices=sorted(BENCHMARK.splits), help="only this one")
    given = parser.parse_args()
    try:
        raise SystemExit(asyncio.run(main(given.repo, given.domain or list(BENCHMARK.splits))))
    except DataError as error:
        raise SystemExit(str(error)) from error
