"""What stages 1 and 2 will cost at most, told before a model is asked."""

from __future__ import annotations

from math import ceil, log2

from forethought.knowledge.error_taxonomy import Taxonomy
from forethought.nodes.debugger.messages import critical_messages, label_messages
from forethought.nodes.support.offline import Estimate, tokens_of_prompt
from forethought.prompts.debug_replies import MOST_SUSPECTS
from forethought.state.debugger import BASELINES, LABELLED_METHODS, DebuggerContext
from forethought.trajectories.types import Trajectory


def estimate(trajectory: Trajectory, context: DebuggerContext, taxonomy: Taxonomy) -> Estimate:
    """The calls of stages 1 and 2, of which each holds the run, and their tokens. What re-runs will cost
    nobody knows beforehand; baselines, which only re-run, have no such calls."""
    if context.rerun in BASELINES:
        return Estimate()
    count = len(trajectory.steps)
    about_steps = {"brute_force": count, "binary_search": ceil(log2(count + 1)), "counterfactual": count}
    calls = about_steps.get(context.method, 0)
    if context.fine_grained and context.method in LABELLED_METHODS:
        has_triage = context.method == "triage" and count > MOST_SUSPECTS
        calls += 1 + MOST_SUSPECTS if has_triage else count
    middle = trajectory.steps[count // 2].number
    about_step = tokens_of_prompt(label_messages(trajectory, middle, context, taxonomy))
    last = tokens_of_prompt(critical_messages(trajectory, {}, context, taxonomy))
    return Estimate().plus(about_step, calls).plus(last)
