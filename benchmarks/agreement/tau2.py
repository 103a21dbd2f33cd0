"""tau2's tasks through our episodes, and beside them through the checkout's environment and evaluators.

The checkout is sierra-research/tau2-bench. Each task is played with all gold actions and everything said that
must be said, without the last action that changes something, and with nothing done. The other side is written
against the checkout alone: its `Environment` is driven by hand, and its evaluators are multiplied over the
task's reward basis. Assertions that need a judge are taken as true on both sides.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.agreement.comparison import Comparison, services_with
from benchmarks.agreement.tau_bench import ScriptedCustomer
from forethought.evals.actions import call_text
from forethought.evals.benchmarks.service import TAU2
from forethought.evals.environments.process import WorkerProcess
from forethought.evals.types import Sample
from forethought.models.types import ModelReply, ModelRequest

Json = dict[str, Any]
Play = tuple[int, list[tuple[str, Json]], str]
"""A task's place, the calls to make, the last words."""
WAYS = ("gold", "without the last change", "nothing")
OFFICIAL = """
import json, sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from forethought.evals.environments.worker import stand_in

checkout, domain = sys.argv[1:]
package = sys.modules["tau2"] = ModuleType("tau2")
package.__path__ = [str(Path(checkout) / "src" / "tau2")]
stand_in(absent=("addict", "deepdiff", "litellm", "pandas", "toml"), quiet=("dotenv", "loguru"))
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


class _Agreeing:
    """A judge that finds every assertion true."""

    async def send(self, request: ModelRequest) -> ModelReply:
        """See Transport."""
        count = request.messages[-1].text.count("<statement ")
        verdicts = [{"number": n, "reasoning": "", "holds": True} for n in range(1, count + 1)]
        return ModelReply(json.dumps({"verdicts": verdicts}), model="scripted")


def _plays(sample: Sample, changing: set[str]) -> list[Play]:
    """What is played, in the order of WAYS."""
    wanted, number = sample.target["evaluation_criteria"], sample.data["number"]
    calls = [(action["name"], action["arguments"]) for action in wanted["actions"] or []]
    words = " ".join(["Done.", *(wanted["communicate_info"] or [])])
    last = max((at for at, (name, _) in enumerate(calls) if name in changing), default=len(calls))
    return [(number, calls, words), (number, calls[:last] + calls[last + 1 :], words), (number, [], "")]


async def _ours(sample: Sample, play: Play, lent: WorkerProcess) -> list[Any]:
    """The reward of our episode, and what its tools answered."""
    episode = TAU2.episode(sample, services_with(_Agreeing()), lent)
    episode.customer = ScriptedCustomer(episode.services, "")
    _, calls, words = play
    await episode.reset()
    results = [(await episode.step(call_text(name, arguments))).observation for name, arguments in calls]
    return [(await episode.finish(words)).reward, results]


def _official(repo: Path, domain: str, plays: Sequence[Play]) -> list[list[Any]]:
    """What the checkout makes of the same plays."""
    done = subprocess.run(
        [sys.executable, "-c", OFFICIAL, str(repo), domain],
        input="\n".join(json.dumps(play) for play in plays),
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


async def _compare(repo: Path, domain: str) -> list[Comparison]:
    samples = TAU2.samples(repo, {"domain": domain})
    with TAU2.checkout(samples[0]) as lent:
        changing = {tool["name"] for tool in lent.ask("describe")["tools"] if tool["changes_world"]}
        plays = [
            (way, sample, play)
            for sample in samples
            for way, play in zip(WAYS, _plays(sample, changing), strict=True)
        ]
        ours = [await _ours(sample, play, lent) for _, sample, play in plays]
    theirs = _official(repo, domain, [play for *_, play in plays])
    found = {way: Comparison(f"tau2 {domain}, {way}: reward and tool results") for way in WAYS}
    gold = Comparison(f"tau2 {domain}, gold: the reward is 1")
    for (way, sample, _), mine, other in zip(plays, ours, theirs, strict=True):
        found[way].add(other, mine, sample.id)
        if way == "gold":
            gold.add(1, mine[0], sample.id)
    return [*found.values(), gold]


def compare(tau2_bench: Path) -> Iterable[Comparison]:
    """Both domains."""
    return [one for domain in TAU2.splits for one in asyncio.run(_compare(tau2_bench, domain))]
