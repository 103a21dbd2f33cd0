"""label_step: which error each module of one step made, if any (AgentDebug 3.2, stage 1).

One call a step for all its modules, where the paper's prompt asks once a module: the modules are judged
against each other's outputs anyway, and the run is sent once instead of five times. A system error that a
rule finds is taken from the rule.
"""

from __future__ import annotations

from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from forethought.knowledge.error_taxonomy import Taxonomy
from forethought.models.types import ReplyError, reply_spec
from forethought.nodes.debugger.checks import NOT_FIRST, canonical, is_no_error, quote_problem
from forethought.nodes.debugger.messages import label_messages
from forethought.nodes.debugger.services import DebugServices
from forethought.nodes.support.reading import read_state
from forethought.prompts.debug_replies import NO_ERROR, StepLabels
from forethought.state.debugger import DebuggerContext, DebuggerState, Label, LabelDispatch
from forethought.trajectories.rules import SystemLabel, system_label
from forethought.trajectories.types import MODULES, Trajectory, TrajectoryStep

READS = ("subject",)
_SPEC = reply_spec(StepLabels)


async def label_step(
    dispatch: LabelDispatch,
    runtime: Runtime[DebuggerContext],
    config: RunnableConfig,
    *,
    services: DebugServices,
) -> dict[str, Any]:
    """The labels of one step; where no valid ones came, why. Raises the other ModelErrors."""
    context = services.context(runtime)
    state = cast(DebuggerState, read_state(config, READS, copied=False))
    trajectory = Trajectory.model_validate(state["subject"])
    step = trajectory.step(dispatch["step"])
    ruled = system_label(trajectory, step)
    first = step is trajectory.steps[0]
    runtime.stream_writer({"event": "thinking", "role": "label", "step": step.number})
    try:
        asked = await services.models.ask(
            role="label",
            model=context.model,
            messages=label_messages(trajectory, step.number, context, services.taxonomy),
            reply=_SPEC,
            check=lambda reply: labels_problem(reply, trajectory, step, services.taxonomy, ruled),
        )
    except ReplyError as error:
        update: dict[str, Any] = {"label_problems": {str(step.number): error.problem or str(error)}}
        if ruled:
            update |= {"labels": {str(step.number): {"system": _of_rule(ruled)}}}
        return {**update, "usage": {"label": error.usage}}
    labels = _labels(asked.reply, services.taxonomy, ruled, first=first)
    return {"labels": {str(step.number): labels}, "usage": {"label": asked.usage}}


def labels_problem(
    reply: StepLabels,
    trajectory: Trajectory,
    step: TrajectoryStep,
    taxonomy: Taxonomy,
    ruled: SystemLabel | None,
) -> str | None:
    """What is wrong with the labels, module by module; what a rule decides is not asked of the model."""
    skipped = {"system"} if ruled else set()
    if step is trajectory.steps[0]:
        skipped |= set(NOT_FIRST)
    problems = []
    for module in MODULES:
        label = getattr(reply, module)
        if module in skipped or is_no_error(label.error_type):
            continue
        problem = taxonomy.problem(module, label.error_type) or quote_problem(
            label.evidence, trajectory, [step.number]
        )
        if problem:
            problems.append(f"{module}: {problem}")
    return "; ".join(problems) or None


def _labels(
    reply: StepLabels, taxonomy: Taxonomy, ruled: SystemLabel | None, *, first: bool
) -> dict[str, Label]:
    labels: dict[str, Label] = {}
    for module in MODULES:
        given = getattr(reply, module)
        error_type = canonical(taxonomy, module, given.error_type)
        evidence = given.evidence if error_type != NO_ERROR else ""
        labels[module] = Label(
            error_type=error_type, evidence=evidence, reasoning=given.reasoning, by="model"
        )
    if first:
        reason = "the run's first step has nothing to remember and nothing to reflect on"
        none = Label(error_type=NO_ERROR, evidence="", reasoning=reason, by="rule")
        labels |= dict.fromkeys(NOT_FIRST, none)
    if ruled:
        labels["system"] = _of_rule(ruled)
    return labels


def _of_rule(ruled: SystemLabel) -> Label:
    return Label(error_type=ruled.error_type, evidence=ruled.evidence, reasoning=ruled.reasoning, by="rule")
