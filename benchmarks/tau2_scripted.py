"""Runs tau2's tasks end to end: our agent's own loop, its model and the customer's being scripted.

    git clone https://github.com/sierra-research/tau2-bench
    python benchmarks/tau2_scripted.py --repo tau2-bench [--domain retail] [--limit N]

The scripted model plans one subtask, greets the customer, makes the gold actions one by one and says what
has to be said: it shows that the loop, the tools, the customer and the reward work together, and says nothing
about any model. The scripted judge finds every assertion true. Prints how many tasks get the reward 1, and
which do not.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from forethought.evals.benchmarks.service import TAU2 as BENCHMARK
from forethought.evals.benchmarks.service import ServiceBenchmark
from forethought.evals.environments.process import WorkerProcess
from forethought.evals.registry import method
from forethought.evals.toolset import make_toolset
from forethought.evals.types import Attempt, Budget, DataError, Sample, Services, TrialContext
from forethought.models.ask import Models
from forethought.models.types import ModelReply, ModelRequest
from forethought.settings import Settings

GREETING = "I will look into it for you."
BUDGET = Budget(max_steps=80, max_tokens=10_000_000)
Json = dict[str, Any]


class Played:
    """The model of one sample: planner, reflector, tool agent, answer agent, customer and judge in one."""

    def __init__(self, actions: Sequence[Mapping[str, Any]], last_words: str) -> None:
        self.calls = [("respond", {"message": GREETING})]
        self.calls += [(action["name"], dict(action["arguments"])) for action in actions]
        self.last_words, self.made, self.asked = last_words, 0, list[str]()

    async def send(self, request: ModelRequest) -> ModelReply:
        """See Transport."""
        self.asked.append(request.reply)
        replies = {
            "Plan": self._plan,
            "PlanDiagnosis": lambda request: {
                "situation": "A customer waits.",
                "tool_notes": "",
                "errors": [],
            },
            "ToolChoice": self._move,
            "AnswerDraft": self._answer,
            "ForesightVerdict": lambda request: {"difference": "none", "deviation": "none"},
            "CustomerReply": self._customer,
            "AssertionVerdicts": self._judge,
        }
        reply = replies[request.reply](request)
        return ModelReply(json.dumps(reply), input_tokens=1, output_tokens=1, model="scripted")

    def _plan(self, request: ModelRequest) -> Json:
        subtask = {"id": "serve", "description": "Serve the customer.", "tool": None, "depends_on": []}
        rest = [] if self.made > len(self.calls) else [{**subtask, "expected": ""}]
        return {"subtasks": rest, "discard": [], "defects": []}

    def _move(self, request: ModelRequest) -> Json:
        self.made += 1
        told = {"thought": "Next.", "surprise": "none", "defects": []}
        if self.made > len(self.calls):
            return {**told, "action": "finish", "result": "The customer is served."}
        name, arguments = self.calls[self.made - 1]
        return {
            **told,
            "action": "call",
            "tool": name,
            "arguments": arguments,
            "finishes": False,
            "expected": "",
        }

    def _answer(self, request: ModelRequest) -> Json:
        return {"answer": self.last_words, "used_steps": [1], "defects": []}

    def _customer(self, request: ModelRequest) -> Json:
        said = request.messages[-1].text
        if self.last_words in said:
            return {"thought": "", "state": "done", "message": ""}
        return {
            "thought": "",
            "state": "continues",
            "message": "Yes, please do." if GREETING in said else "Hello.",
        }

    def _judge(self, request: ModelRequest) -> Json:
        count = request.messages[-1].text.count("<statement ")
        verdicts = [{"number": n, "reasoning": "", "holds": True} for n in range(1, count + 1)]
        return {"verdicts": verdicts}


async def played(
    benchmark: ServiceBenchmark, sample: Sample, lent: WorkerProcess | None, settings: Settings
) -> tuple[Attempt, Played]:
    """A run of our agent on `sample` with a model that knows the gold actions, and that model."""
    wanted = sample.target["evaluation_criteria"]
    told = " ".join(wanted.get("communicate_info") or [])
    model = Played(wanted["actions"] or [], f"All is settled as you asked. {told}".strip())
    models = Models(settings, model)
    services = Services(settings, models, judge_model="scripted", user_model="scripted")
    episode = benchmark.episode(sample, services, lent)
    try:
        attempt = await method("ours").run(
            TrialContext(
                sample=sample,
                tools=make_toolset(settings, BUDGET, episode),
                episode=episode,
                models=models,
                model="scripted",
                settings=settings,
                budget=BUDGET,
                checkpointer=InMemorySaver(),
                thread=sample.id,
                seed=0,
            )
        )
    finally:
        await episode.close()
    return attempt, model


async def main(repo: Path, domain: str, limit: int | None) -> int:
    """Run and print; 1 if a task did not get the reward 1."""
    samples = BENCHMARK.samples(repo, {"domain": domain})[:limit]
    settings, right, calls = Settings(base_url=None, model="scripted"), 0, 0
    with BENCHMARK.checkout(samples[0]) as lent:
        for sample in samples:
            attempt, model = await played(BENCHMARK, sample, lent, settings)
            right += attempt.reward == 1
            calls += len(model.asked)
            if attempt.reward != 1:
                print(f"{sample.id}: reward {attempt.reward}, {attempt.status}", flush=True)
    print(
        f"{domain}: {right} of {len(samples)} tasks end with the reward 1, after {calls} scripted model calls"
    )
    return 0 if right == len(samples) else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repo", type=Path, required=True, help="a checkout of sierra-research/tau2-bench")
    parser.add_argument("--domain", default="retail", choices=sorted(BENCHMARK.splits))
    parser.add_argument("--limit", type=int, default=None, help="maximum tasks")
    given = parser.parse_args()
    try:
        raise SystemExit(asyncio.run(main(given.repo, given.domain, given.limit)))
    except DataError as error:
        raise SystemExit(str(error)) from error
