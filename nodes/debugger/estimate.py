"""What stages 1 and 2 will cost at most, told before a model is asked."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2

from forethought.knowledge.error_taxonomy import Taxonomy
from forethought.nodes.debugger.messages import critical_messages, label_messages
from forethought.nodes.support.offline import tokens_of_prompt
from forethought.prompts.debug_replies import MOST_SUSPECTS
from forethought.state.debugger import BASELINES, LABELLED_METHODS, DebuggerContext
from forethought.text import how_many
from forethought.trajectories.types import Trajectory


def estimate(
    trajectories: Sequence[Trajectory], context: DebuggerContext, taxonomy: Taxonomy
) -> tuple[list[int], str]:
    """The tokens of the prompts of stages 1 and 2, of which each holds its run; and the re-runs to come.
    Baselines only re-run."""
    prompts: list[int] = []
    for trajectory in trajectories if context.rerun not in BASELINES else ():
        count = len(trajectory.steps)
        about_steps = {"brute_force": count, "binary_search": ceil(log2(count + 1)), "counterfactual": count}
        calls = about_steps.get(context.method, 0)
        if context.fine_grained and context.method in LABELLED_METHODS:
            has_triage = context.method == "triage" and count > MOST_SUSPECTS
            calls += 1 + MOST_SUSPECTS if has_triage else count
        middle = trajectory.steps[count // 2].number
        prompts += [tokens_of_prompt(label_messages(trajectory, middle, context, taxonomy))] * calls
        prompts.append(tokens_of_prompt(critical_messages(trajectory, {}, context, taxonomy)))
    reruns = dict.fromkeys(filter(None, (_reruns(trajectory, context) for trajectory in trajectories)))
    of_each = "for each run " if reruns and len(trajectories) > 1 else ""
    return prompts, of_each + " or ".join(reruns)


def _reruns(trajectory: Trajectory, context: DebuggerContext) -> str:
    """How many re-runs there may be, in words."""
    if context.rerun in BASELINES and context.max_tokens is not None:
        return f"re-runs until one succeeds or {context.max_tokens:,} tokens are spent"
    trials = len(trajectory.steps) * context.trials if context.method == "counterfactual" else 0
    corrected = 0 if context.rerun == "off" else context.max_reruns
    controls = " plus controls" if trials else ""
    return f"at most {how_many(trials + corrected, 're-run')}{controls}" if trials + corrected else ""
