"""label_wave and label_step: which error each module of each step made (AgentDebug 3.2, stage 1).

First the first step alone, whose prompt the provider keeps, then up to `max_parallel` side by side, which
share all of that prompt but its last lines. One call a step for all its modules, where the paper's prompt
asks once a module: the modules are judged against each other's outputs anyway, and the run is sent once
instead of five times. A system error that a rule finds is taken from the rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.runtime import Runtime

from forethought.knowledge.error_taxonomy import Taxonomy
from forethought.models.allowance import charged_tokens, total
from forethought.models.types import no_usage
from forethought.nodes.debugger.critical import NOT_FIRST, canonical, is_no_error, quote_problem
from forethought.nodes.debugger.messages import label_messages
from forethought.nodes.debugger.services import DebugServices
from forethought.nodes.support.offline import exhausted, problem_key
from forethought.prompts.debug_replies import NO_ERROR, StepLabels
from forethought.state.debugger import DebuggerContext, DebuggerState, Label
from forethought.state.offline import Job
from forethought.trajectories.types import MODULES, Trajectory, TrajectoryStep

_RESERVE = 100_000
"""Tokens that stage 1 leaves for stage 2, at most a quarter of the budget: a long prompt and its reply."""


async def label_wave(
    state: DebuggerState, runtime: Runtime[DebuggerContext], *, services: DebugServices
) -> dict[str, Any]:
    """The numbers of the next steps; none once all are labelled or the budget is spent, which is said."""
    context = services.context(runtime)
    done = {*state.get("labels", {}), *state.get("label_problems", {})}
    suspects = [str(suspect["step"]) for suspect in state.get("suspects", [])]
    numbers = suspects or [str(step["number"]) for step in state["subject"]["steps"]]
    left = [number for number in numbers if number not in done]
    labelled = len(numbers) - len(left)
    width = _wave_width(state, context, labelled)
    if width or not left:
        return {"wave": [Job(node="label_step", key=key) for key in left[: width if labelled else 1]]}
    why = (
        exhausted(state, context)
        or f"the budget of {context.max_tokens} tokens is nearly spent; raise --max-tokens"
    )
    return {
        "wave": [],
        "label_problems": dict.fromkeys(left, why),
        "notes": [f"{len(left)} of {len(numbers)} steps were not labelled: {why}"],
    }


def _wave_width(state: DebuggerState, context: DebuggerContext, labelled: int) -> int:
    """How many steps the next wave may label: never more than the tokens that are left allow."""
    reserve = min(_RESERVE, (context.max_tokens or 0) // 4)
    if exhausted(state, context, reserve=reserve):
        return 0
    if context.max_tokens is None or not labelled:
        return context.max_parallel
    usage = state.get("usage", {})
    each = max(charged_tokens(usage.get("label", no_usage())) // labelled, 1)
    left = context.max_tokens - charged_tokens(total(*usage.values())) - reserve
    return min(context.max_parallel, left // each)


async def label_step(
    job: Job, runtime: Runtime[DebuggerContext], *, services: DebugServices
) -> dict[str, Any]:
    """The labels of one step; where no valid ones came, why. Raises the other ModelErrors."""
    context, key = services.context(runtime), job["key"]
    trajectory = Trajectory.model_validate(services.read("subject")["subject"])
    step = trajectory.step(int(key))
    by_rule = _labels_by_rule(trajectory, step)
    reply, update = await services.ask(
        runtime,
        job,
        "label",
        label_messages(trajectory, step.number, context, services.taxonomy),
        StepLabels,
        lambda reply: _labels_problem(reply, trajectory, services.taxonomy, by_rule),
    )
    if reply is None:
        labels = {module: label for module, label in by_rule.items() if module == "system"}
        problems = {key: update.pop("problems")[problem_key(job)]}
        return {**update, "label_problems": problems, "labels": {key: labels or None}}
    labels = {module: _label(reply, services.taxonomy, module) for module in MODULES} | by_rule
    return {**update, "labels": {key: labels}}


def _labels_by_rule(trajectory: Trajectory, step: TrajectoryStep) -> dict[str, Label]:
    """The labels that need no model."""
    labels: dict[str, Label] = {}
    if step is trajectory.steps[0]:
        reason = "the run's first step has nothing to remember and nothing to reflect on"
        label = Label(error_type=NO_ERROR, evidence="", reasoning=reason, by="rule")
        labels = dict.fromkeys(NOT_FIRST, label)
    if found := system_label(trajectory, step):
        labels["system"] = found
    return labels


def system_label(trajectory: Trajectory, step: TrajectoryStep) -> Label | None:
    """The system error that the source of the run records (Table 2); what only words say, the model judges.

    A halted run's last step is its step limit, whatever else it met: that is what ended it.
    """
    if trajectory.halted and step.number == trajectory.steps[-1].number:
        reason = f"The run was halted by its limit after step {step.number}."
        return Label(error_type="step_limit", evidence="", reasoning=reason, by="rule")
    if step.failure:
        evidence = step.observation.strip()[:200].split("\n", 1)[0].strip()
        reason = "The source records this failure of the step."
        return Label(error_type=step.failure, evidence=evidence, reasoning=reason, by="rule")
    return None


def _labels_problem(
    reply: StepLabels, trajectory: Trajectory, taxonomy: Taxonomy, by_rule: Mapping[str, Label]
) -> str | None:
    """What is wrong with the labels, module by module; what a rule decides is not asked of the model."""
    problems = []
    for module in MODULES:
        label = getattr(reply, module)
        if module in by_rule or is_no_error(label.error_type):
            continue
        problem = taxonomy.problem(module, label.error_type) or quote_problem(label.evidence, trajectory)
        if problem:
            problems.append(f"{module}: {problem}")
    return "; ".join(problems) or None


def _label(reply: StepLabels, taxonomy: Taxonomy, module: str) -> Label:
    label = getattr(reply, module)
    error_type = canonical(taxonomy, module, label.error_type)
    evidence = label.evidence if error_type != NO_ERROR else ""
    return Label(error_type=error_type, evidence=evidence, reasoning=label.reasoning, by="model")
