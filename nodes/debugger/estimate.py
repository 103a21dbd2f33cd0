"""What stages 1 and 2 will cost at most, told before a model is asked."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2

from forethought.knowledge.error_taxonomy import Taxonomy
from forethought.nodes.debugger.messages import critical_messages, label_messages
from forethought.nodes.support.offline import Estimate, tokens_of_prompt
from forethought.prompts.debug_replies import MOST_SUSPECTS
from forethought.state.debugger import BASELINES, LABELLED_METHODS, DebuggerContext
from forethought.trajectories.types import Trajectory


def estimate(trajectory: Trajectory, context: DebuggerContext, taxonomy: Taxonomy) -> Estimate:
    """The calls of stages 1 and 2, of which each holds the run, and their tokens; and the re-runs to come.
    Baselines only re-run."""
    reruns = _reruns(trajectory, context)
    if context.rerun in BASELINES:
        return Estimate(besides=reruns)
    count = len(trajectory.steps)
    about_steps = {"brute_force": count, "binary_search": ceil(log2(count + 1)), "counterfactual": count}
    calls = about_steps.get(context.method, 0)
    if context.fine_grained and context.method in LABELLED_METHODS:
        has_triage = context.method == "triage" and count > MOST_SUSPECTS
        calls += 1 + MOST_SUSPECTS if has_triage else count
    middle = trajectory.steps[count // 2].number
    about_step = tokens_of_prompt(label_messages(trajectory, middle, context, taxonomy))
    last = tokens_of_prompt(critical_messages(trajectory, {}, context, taxonomy))
    return Estimate(besides=reruns).plus(about_step, calls).plus(last)


def estimate_of_runs(
    trajectories: Sequence[Trajectory], context: DebuggerContext, taxonomy: Taxonomy
) -> Estimate:
    """What debugging each of these costs, together."""
    each = [estimate(trajectory, context, taxonomy) for trajectory in trajectories]
    besides = {one.besides: None for one in each if one.besides}
    return Estimate(
        calls=sum(one.calls for one in each),
        input_tokens=sum(one.input_tokens for one in each),
        besides=f"for each run {' or '.join(besides)}" if besides else "",
    )


def _reruns(trajectory: Trajectory, context: DebuggerContext) -> str:
    """How many re-runs there may be, in words."""
    if context.rerun in BASELINES and context.max_tokens is not None:
        return f"re-runs until one succeeds or {context.max_tokens:,} tokens are spent"
    trials = len(trajectory.steps) * context.trials if context.method == "counterfactual" else 0
    corrected = 0 if context.rerun == "off" else context.max_reruns
    controls = ", and controls" if trials else ""
    return f"at most {trials + corrected} re-runs{controls}" if trials + corrected else ""
