"""The skips of an evaluation: the moments at which rules of effort=auto left a mechanism out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from forethought.evals.harness.plan import shuffled
from forethought.evals.methods.ours import Ours
from forethought.evals.methods.registry import METHODS
from forethought.evals.results import Evaluation, Result
from forethought.evals.types import Sample
from forethought.graph.agent import build_agent
from forethought.nodes.support.effort import MEASURES, Rule
from forethought.settings import Settings
from forethought.state.reducers import with_statuses


@dataclass(frozen=True)
class SkippedAt:
    """A moment at which a rule left a mechanism out."""

    id: str
    """Its name as a sample of the audit."""
    task: str
    """The evaluation's sample."""
    method: Ours
    thread: str
    checkpoint: str
    """The last one before the skip."""
    rule: Rule
    measured: Mapping[str, float]
    """The values that the rule's limits were compared with."""


async def find_skips(
    evaluation: Evaluation, saver: BaseCheckpointSaver[Any], settings: Settings, rules: Sequence[Rule]
) -> list[SkippedAt]:
    """The moments in the threads of our agent at which one of `rules` left its mechanism out."""
    graph = build_agent(settings=settings.model_copy(update={"tools": None}), checkpointer=saver)
    known, found = {rule.id: rule for rule in rules}, []
    for result in evaluation.results:
        method = METHODS.get(result.method)
        if isinstance(method, Ours) and result.tried:
            config = {"configurable": {"thread_id": result.thread}}
            history = [snapshot async for snapshot in graph.aget_state_history(config)]  # type: ignore[arg-type]
            found += list(_in_thread(history, result, method, known))
    return found


def _in_thread(
    history: Sequence[Any], result: Result, method: Ours, known: Mapping[str, Rule]
) -> Iterator[SkippedAt]:
    for after, before in pairwise(history):
        earlier = len(before.values.get("skipped") or [])
        skips = (after.values.get("skipped") or [])[earlier:]
        for mechanism in {skip["mechanism"] for skip in skips}:
            # Subtasks side by side are forced together, so that one rule has to answer for all of them.
            names = {skip.get("rule", "") for skip in skips if skip["mechanism"] == mechanism}
            rule = known.get(names.pop()) if len(names) == 1 else None
            if rule is not None:
                yield SkippedAt(
                    id=f"{result.sample}.{result.method}.{result.trial}.{rule.id}.{earlier}",
                    task=result.sample,
                    method=method,
                    thread=result.thread,
                    checkpoint=str(before.config["configurable"]["checkpoint_id"]),
                    rule=rule,
                    measured={name: MEASURES[name](with_statuses(before.values)) for name in rule.limits},
                )


def as_samples(skips: Sequence[SkippedAt], samples: Sequence[Sample], most: int, seed: int) -> list[Sample]:
    """At most `most` skips of each rule as samples, drawn by `seed`. A higher limit adds some."""
    by_id, by_rule = {sample.id: sample for sample in samples}, dict[str, list[Sample]]()
    for skip in skips:
        if skip.task in by_id:
            sample = replace(by_id[skip.task], id=skip.id, groups=by_id[skip.task].groups | {"rule": skip.rule.id})
            by_rule.setdefault(skip.rule.id, []).append(sample)
    return [sample for made in by_rule.values() for sample in shuffled(made, seed)[:most]]
