"""tau-bench: gold actions, silence and recorded trajectories through our episodes, without any model.

The checkout is sierra-research/tau-bench. The customer says what the recording says, or that all is done.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.agreement.comparison import Comparison, services_with
from forethought.evals.actions import call_text
from forethought.evals.benchmarks.service import TAU_BENCH
from forethought.evals.environments.process import WorkerProcess
from forethought.evals.environments.service_desk.desk import ServiceDesk
from forethought.evals.environments.service_desk.people import Customer, CustomerMessage, Turn
from forethought.evals.types import Sample

Json = dict[str, Any]
RECORDED = "historical_trajectories/gpt-4o-airline.json"
HELLO = (CustomerMessage("Hello.", False),)


class ScriptedCustomer(Customer):
    """Says what is written down, then that all is done."""

    lines: Sequence[CustomerMessage] = HELLO

    async def reply(self, turns: Sequence[Turn]) -> CustomerMessage:
        """See Customer."""
        at = sum(turn.speaker == "customer" for turn in turns)
        return self.lines[at] if at < len(self.lines) else CustomerMessage("Thank you, that is all.", True)


def _desk(sample: Sample, lent: WorkerProcess, lines: Sequence[CustomerMessage] = HELLO) -> ServiceDesk:
    """The episode of `sample`, with a customer who says `lines`."""
    episode = TAU_BENCH.episode(sample, services_with(), lent)
    episode.customer = customer = ScriptedCustomer(episode.services, "")
    customer.lines = lines
    return episode


async def _played(sample: Sample, lent: WorkerProcess, actions: Sequence[Json], words: str) -> float:
    """The reward of the actions and a last message."""
    episode = _desk(sample, lent)
    reply = await episode.reset()
    for action in actions:
        if not reply.done and action["name"] != "respond":
            reply = await episode.step(call_text(action["name"], action["kwargs"]))
    return (await episode.finish(words)).reward


def _calls(messages: Sequence[Json]) -> list[tuple[str, Json, str]]:
    """(name, arguments, what came back) of a recorded trajectory, `respond` among them."""
    found = []
    for message, after in zip(messages, [*messages[1:], {"content": ""}], strict=True):
        if message["role"] == "assistant" and message.get("tool_calls"):
            function = message["tool_calls"][0]["function"]
            found.append((function["name"], json.loads(function["arguments"]), after["content"]))
        elif message["role"] == "assistant":
            found.append(("respond", {"message": message["content"]}, after["content"]))
    return found


async def _replayed(
    entry: Json, sample: Sample, lent: WorkerProcess, results: Comparison
) -> tuple[float, str]:
    """The reward of a recorded trajectory, and what explains another one than recorded."""
    steps = _calls(entry["traj"])
    spoken = [entry["traj"][1]["content"], *(after for name, _, after in steps if name == "respond")]
    lines = [CustomerMessage(text.replace("###STOP###", "").strip(), "###STOP###" in text) for text in spoken]
    episode = _desk(sample, lent, lines)
    reply = await episode.reset()
    for name, arguments, after in steps:
        if reply.done:
            return reply.reward, "unexplained"
        reply = await episode.step(call_text(name, arguments))
        if name != "respond":
            results.add(_value(after), _value(reply.observation), f"task {entry['task_id']} {name}")
    if reply.done:
        return reply.reward, "unexplained"
    reply = await episode.finish("")
    return reply.reward, "the recording was cut off at its step limit, which scores 0"


def _value(text: str) -> Any:
    """What a tool result says, the order of its keys aside: our actions sort those of the arguments that it
    repeats. The data calls `state` now what it called `province` when the trajectories were recorded."""
    try:
        return json.loads(text.replace('"province"', '"state"'))
    except ValueError:
        return text


async def _compare(repo: Path, domain: str) -> list[Comparison]:
    samples = TAU_BENCH.samples(repo, {"domain": domain})
    gold, silence = (
        Comparison(f"{domain}, gold actions: 1"),
        Comparison(f"{domain}, doing nothing: the floor"),
    )
    rewards, results = Comparison("recorded trajectories: rewards"), Comparison("their tool results")
    with TAU_BENCH.checkout(samples[0]) as lent:
        for sample in samples:
            words = " ".join(sample.target["outputs"])
            gold.add(1, await _played(sample, lent, sample.target["actions"], words), sample.id)
            floor = lent.ask("floor", task=sample.data["number"])
            silence.add(floor, await _played(sample, lent, (), ""), sample.id)
        if domain != "airline":
            return [gold, silence]
        for entry in json.loads((repo / RECORDED).read_text("utf-8")):
            reward, why = await _replayed(entry, samples[entry["task_id"]], lent, results)
            rewards.add(entry["reward"], reward, f"task {entry['task_id']} trial {entry['trial']}", why)
    return [gold, silence, rewards, results]


def compare(tau_bench: Path) -> Iterable[Comparison]:
    """Both domains."""
    return [one for domain in TAU_BENCH.splits for one in asyncio.run(_compare(tau_bench, domain))]
