"""Inter-task error reflection: static reflections on the types of error that other tasks' failures showed
(baseline of SAMULE 4.2, from the macro level of its 3.2.1).

Training: Reflexion's trials, then our synthesizer's taxonomy, labels and reflection on each error type.
Evaluation: ReAct, shown the reflections. Nothing is fitted to the task at hand, which is what SAMULE's
retrospective model adds.

Departure: the trials are reflected upon without references, as Reflexion's are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from forethought.evals.baselines.learning import TrainingTrial, synthesis, trials_of, unlimited
from forethought.evals.baselines.react import React
from forethought.evals.types import TrialContext
from forethought.graph.synthesizer import build_synthesizer
from forethought.trajectories.types import Loaded, Reference

MOST_TYPES = 8
"""Maximum error types whose reflections a prompt shows: the most frequent ones."""


class InterTask(React):
    """ReAct with reflections on the errors of other tasks."""

    name = "inter-task"
    about = "inter-task error reflection: reflections on error types of training samples (SAMULE 4.2)"
    needs_training = True

    def notes(self, context: TrialContext) -> dict[str, Any]:
        """The reflections, by error type."""
        return {"errors": list(context.learned.get("errors", []))[:MOST_TYPES]}

    async def train(self, contexts: Sequence[TrialContext]) -> Mapping[str, Any]:
        """Reflections on error types. Raises ModelError, and InfrastructureError when no sample could be
        tried."""
        trials, problems = await trials_of(contexts)
        state = await _synthesized(trials, contexts)
        return {
            "errors": learned_errors(state),
            "trials": len(trials),
            "solved": sum(trial.solved for trial in trials),
            "problems": [*problems, *state.get("problems", {}).values(), *state.get("notes", [])],
        }


def learned_errors(state: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The reflections on error types in a synthesizer's state, the most frequent type first."""
    labels = state.get("labels", {})
    errors = [
        {"name": name, "text": made["reflection"], "trials": _trials_that_show(labels, name)}
        for name, made in state.get("error_reflections", {}).items()
    ]
    return sorted(errors, key=lambda item: (-item["trials"], item["name"]))


async def _synthesized(
    trials: Sequence[TrainingTrial], contexts: Sequence[TrialContext]
) -> Mapping[str, Any]:
    """The synthesizer's state after its macro level; the merge, for training a model, is left out."""
    graph = build_synthesizer(contexts[0].settings, InMemorySaver(), unlimited(contexts[0]))
    config: RunnableConfig = {"configurable": {"thread_id": "inter-task"}}
    payload: Any = {"trajectories": [_loaded(trial).model_dump(mode="json") for trial in trials]}
    await graph.ainvoke(payload, config, context=synthesis(contexts[0]), interrupt_before=["merge_wave"])
    return dict((await graph.aget_state(config)).values)


def _loaded(trial: TrainingTrial) -> Loaded:
    return Loaded(
        trajectory=trial.trajectory, reference=Reference(outcome="success" if trial.solved else "failure")
    )


def _trials_that_show(labels: Mapping[str, Any], name: str) -> int:
    """How many trials have a step with the error type."""
    shown = {
        label["trial"]
        for label in labels.values()
        if any(finding["error_type"] == name for found in label["steps"].values() for finding in found)
    }
    return len(shown)
