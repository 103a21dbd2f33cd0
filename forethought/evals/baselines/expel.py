"""ExpeL: experience from training samples, drawn into insights, and recalled with similar solved tasks (Zhao
et al. 2023, AAAI 2024; baseline of SAMULE 4.2).

Training: Reflexion's trials with their outcomes; insights from pairs of a failed and a successful trial of
one task, then from successes of several tasks, by ADD, EDIT, AGREE and REMOVE. Evaluation: ReAct, shown all
insights and the most similar solved tasks.

Departures: similar tasks are found by their words (BM25), not by embeddings; operations are a structured
reply, checked against the list before they are applied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from forethought.evals.baselines.insights import (
    MOST,
    MOST_OPERATIONS,
    Insight,
    apply_operations,
    operations_problem,
)
from forethought.evals.baselines.learning import TrainingTrial, trials_of, unlimited
from forethought.evals.baselines.react import React
from forethought.evals.prompts import render
from forethought.evals.prompts.baseline_replies import InsightOperations
from forethought.evals.types import TrialContext
from forethought.experience.ranking import rank
from forethought.models.ask import Models
from forethought.models.types import Message, ReplyError, reply_spec

EXAMPLES = 2
"""Maximum solved tasks in a prompt."""
SUCCESSES = 4
"""Successful trials of different tasks from which insights are drawn together."""


class Expel(React):
    """ReAct with what was learned from training samples."""

    name = "expel"
    about = "ExpeL: insights and similar solved tasks from training samples (Zhao et al. 2023)"
    needs_training = True

    def notes(self, context: TrialContext) -> dict[str, Any]:
        """The insights, the most important first, and the most similar solved tasks."""
        learned = context.learned
        insights = sorted(learned.get("insights", []), key=lambda item: -item["importance"])
        examples = [item for item in learned.get("examples", []) if item["sample"] != context.sample.id]
        return {
            "insights": [item["text"] for item in insights],
            "examples": [
                f"Task: {item['task']}\n\n{item['text']}" for item in similar(context.sample.task, examples)
            ],
        }

    async def train(self, contexts: Sequence[TrialContext]) -> Mapping[str, Any]:
        """Insights and examples. Raises ModelError, InfrastructureError when no sample could be tried."""
        trials, problems = await trials_of(contexts)
        models = Models(contexts[0].settings, unlimited(contexts[0]))
        extraction = Extraction(models, contexts[0].model, problems)
        await extraction.run(trials)
        solved = {trial.sample: trial for trial in trials if trial.solved}
        return {
            "insights": [dict(insight) for insight in extraction.insights],
            "examples": [
                {"sample": trial.sample, "task": trial.task, "text": trial.text} for trial in solved.values()
            ],
            "trials": len(trials),
            "solved": sum(trial.solved for trial in trials),
            "problems": problems,
        }


def similar(task: str, examples: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The examples whose tasks share most words with `task`; where none do, the first ones."""
    ranked = [examples[at] for at, _ in rank(task, [item["task"] for item in examples])]
    rest = [item for item in examples if item not in ranked]
    return [*ranked, *rest][:EXAMPLES]


@dataclass
class Extraction:
    """Insights as they are drawn from trials, one call after the other."""

    models: Models
    model: str
    problems: list[str]
    insights: list[Insight] = field(default_factory=list)

    async def run(self, trials: Sequence[TrainingTrial]) -> None:
        """Draw insights from all pairs, then from the successes."""
        for failed, solved in pairs(trials):
            await self._draw([failed, solved], paired=True)
        for chunk in chunks(trials):
            await self._draw(chunk, paired=False)

    async def _draw(self, trials: Sequence[TrainingTrial], *, paired: bool) -> None:
        system, user = render(
            "insights",
            paired=paired,
            most=MOST_OPERATIONS,
            full=len(self.insights) >= MOST,
            trials=[
                {
                    "text": f"Task: {trial.task}\n\n{trial.text}",
                    "outcome": "success" if trial.solved else "failure",
                }
                for trial in trials
            ],
            insights=[insight["text"] for insight in self.insights],
        )
        try:
            result = await self.models.ask(
                role="baseline",
                model=self.model,
                messages=[Message("system", system), Message("user", user)],
                reply=reply_spec(InsightOperations),
                check=lambda reply: operations_problem(reply.operations, self.insights),
            )
        except ReplyError as error:
            self.problems.append(f"insights from {', '.join(t.sample for t in trials)}: {error}")
            return
        self.insights = apply_operations(self.insights, result.reply.operations)


def pairs(trials: Sequence[TrainingTrial]) -> list[tuple[TrainingTrial, TrainingTrial]]:
    """Each failed trial with each successful one of its sample."""
    by_sample: dict[str, list[TrainingTrial]] = {}
    for trial in trials:
        by_sample.setdefault(trial.sample, []).append(trial)
    return [
        pair
        for made in by_sample.values()
        for pair in product([t for t in made if not t.solved], [t for t in made if t.solved])
    ]


def chunks(trials: Sequence[TrainingTrial]) -> list[list[TrainingTrial]]:
    """The successes, one a sample, a few at a time; a single one has nothing in common with another."""
    solved = list({trial.sample: trial for trial in trials if trial.solved}.values())
    cut = [solved[at : at + SUCCESSES] for at in range(0, len(solved), SUCCESSES)]
    return [chunk for chunk in cut if len(chunk) > 1]
