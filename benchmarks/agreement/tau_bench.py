"""Replays gold actions, recorded trajectories and silence through our episodes of tau-bench.

    git clone https://github.com/sierra-research/tau-bench
    python benchmarks/agreement/tau_bench.py --repo tau-bench

No model is asked: the customer says what the recording says, or that all is done. Prints what was compared
and every disagreement, and exits with 1 where one is not explained by the recording itself.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from forethought.evals.environments.checkouts.process import Checkout

from forethought.evals.actions import call_text
from forethought.evals.benchmarks.service import TAU_BENCH as BENCHMARK
from forethought.evals.environments.service_desk.desk import ServiceDesk
from forethought.evals.environments.service_desk.people import Customer, Said, Turn
from forethought.evals.types import DataError, Sample, Services
from forethought.models.ask import Models
from forethought.models.types import ConfigurationError, ModelReply, ModelRequest
from forethought.settings import Settings

RECORDED = "historical_trajectories/gpt-4o-airline.json"
FLOORS = {"retail": 7, "airline": 19}
"""Tasks that an agent solves by doing nothing."""
Json = dict[str, Any]


class NoModel:
    """Refuses every request."""

    async def send(self, request: ModelRequest) -> ModelReply:
        """See Transport."""
        raise ConfigurationError("a replay asks no model")


class Told(Customer):
    """Says what is written down, then that all is done."""

    lines: Sequence[Said] = ()

    async def reply(self, turns: Sequence[Turn]) -> Said:
        """See Customer."""
        at = sum(turn.speaker == "customer" for turn in turns)
        return self.lines[at] if at < len(self.lines) else Said("Thank you, that is all.", True)


def services() -> Services:
    """Services without a model."""
    settings = Settings(base_url=None)
    return Services(settings, Models(settings, NoModel()), "none", "none")


def desk(sample: Sample, lent: Checkout, lines: Sequence[Said] = (Said("Hello.", False),)) -> ServiceDesk:
    """The episode of `sample`, with a customer who says `lines`."""
    episode = BENCHMARK.episode(sample, services(), lent)
    customer = Told(episode.services, sample.data["scenario"])
    customer.lines = lines
    episode.customer = customer
    return episode


async def gold(sample: Sample, lent: Checkout) -> float:
    """The reward of the gold actions, and of a last message with the required outputs."""
    episode = desk(sample, lent)
    reply = await episode.reset()
    for action in sample.target["actions"]:
        if not reply.done and action["name"] != "respond":
            reply = await episode.step(call_text(action["name"], action["kwargs"]))
    return (await episode.finish(" ".join(sample.target["outputs"]))).reward


async def silence(sample: Sample, lent: Checkout) -> float:
    """The reward of doing and saying nothing."""
    episode = desk(sample, lent)
    await episode.reset()
    return (await episode.finish("")).reward


def calls(messages: Sequence[Json]) -> list[tuple[str, Json, str]]:
    """(name, arguments, what came back) of a recorded trajectory, `respond` among them."""
    found = []
    for at, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        after = messages[at + 1]["content"] if at + 1 < len(messages) else ""
        if message.get("tool_calls"):
            function = message["tool_calls"][0]["function"]
            found.append((function["name"], json.loads(function["arguments"]), after))
        else:
            found.append(("respond", {"message": message["content"]}, after))
    return found


async def replayed(entry: Json, sample: Sample, lent: Checkout) -> tuple[float, int, str]:
    """The reward of a recorded trajectory, how many tool results differ, and what explains a difference."""
    steps = calls(entry["traj"])
    spoken = [entry["traj"][1]["content"], *(after for name, _, after in steps if name == "respond")]
    lines = [Said(text.replace("###STOP###", "").strip(), "###STOP###" in text) for text in spoken]
    episode = desk(sample, lent, lines)
    reply, differ = await episode.reset(), 0
    for name, arguments, after in steps:
        if reply.done:
            return reply.reward, differ, "the replay ended before the recording did"
        reply = await episode.step(call_text(name, arguments))
        differ += name != "respond" and _value(reply.observation) != _value(after)
    why = ""
    if not reply.done:
        reply, why = await episode.finish(""), "the recording was cut off at its step limit, which scores 0"
    task = entry["info"]["task"]
    if (task["actions"], task["outputs"]) != (sample.target["actions"], sample.target["outputs"]):
        why = "the task's gold actions or outputs were changed since the recording" + (
            f"; {why}" if why else ""
        )
    return reply.reward, differ, why


def _value(text: str) -> Any:
    """What a tool result says, the order of its keys aside: our actions sort those of the arguments that it
    repeats. The data calls `state` now what it called `province` when the trajectories were recorded."""
    try:
        return json.loads(text.replace('"province"', '"state"'))
    except ValueError:
        return text


async def of_domain(repo: Path, domain: str, recorded: bool) -> bool:
    """Compare a domain; whether all agrees or is explained."""
    samples = BENCHMARK.samples(repo, {"domain": domain})
    with BENCHMARK.checkout(samples[0]) as lent:
        rewards = [await gold(sample, lent) for sample in samples]
        floors = [await silence(sample, lent) for sample in samples]
        missed = [sample.id for sample, reward in zip(samples, rewards, strict=True) if reward < 1]
        print(
            f"{domain}: gold actions score 1 in {len(samples) - len(missed)} of {len(samples)} tasks {missed}"
        )
        print(f"{domain}: doing nothing scores 1 in {sum(floors):g} of {len(samples)} tasks", flush=True)
        told = await recordings(repo, samples, lent) if recorded else True
    return not missed and sum(floors) == FLOORS[domain] and told


async def recordings(repo: Path, samples: Sequence[Sample], lent: Checkout) -> bool:
    """Replay the recorded trajectories; whether each gets its recorded reward, or why not is known."""
    entries = json.loads((repo / RECORDED).read_text("utf-8"))
    agreed = results = differing = 0
    unexplained = []
    for entry in entries:
        reward, differ, why = await replayed(entry, samples[entry["task_id"]], lent)
        results += sum(name != "respond" for name, _, _ in calls(entry["traj"]))
        differing += differ
        agreed += reward == entry["reward"]
        if reward != entry["reward"]:
            told = f"task {entry['task_id']} trial {entry['trial']}"
            print(f"  {told}: recorded {entry['reward']:g}, replayed {reward:g}: {why or 'UNEXPLAINED'}")
            unexplained += [] if why else [told]
    print(f"recorded trajectories: {agreed} of {len(entries)} get their recorded reward")
    print(f"recorded tool results: {results - differing} of {results} come out the same")
    return not unexplained


async def main(repo: Path, domains: Sequence[str]) -> int:
    """Compare, and print."""
    fine = [
        await of_domain(repo, name, name == "airline" and (repo / RECORDED).is_file()) for name in domains
    ]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repo", type=Path, required=True, help="a checkout of sierra-research/tau-bench")
    parser.add_argument("--domain", action="append", choices=sorted(FLOORS), help="only this one")
    given = parser.parse_args()
    try:
        raise SystemExit(asyncio.run(main(given.repo, given.domain or list(FLOORS))))
    except DataError as error:
        raise SystemExit(str(error)) from error
