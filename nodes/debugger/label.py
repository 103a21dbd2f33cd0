"""label_wave and label_step: which error each module of each step made (AgentDebug 3.2, stage 1).

First the first step alone, whose prompt the provider keeps, then up to `max_parallel` side by side, which
share all of that prompt but its last lines. One call a step for all its modules, where the paper's prompt
asks once a module: the modules are judged against each other's outputs anyway, and the run is sent once
instead of five times. A system error that a rule finds is taken from the rule.
"""

from __future__ import annotations

from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from forethought.knowledge.error_taxonomy import Taxonomy
from forethought.models.allowance import tokens_of, total
from forethought.models.tokens import estimate_tokens
from forethought.models.types import ReplyError, no_usage
from forethought.nodes.debugger.critical import NOT_FIRST, canonical, is_no_error, quote_problem
from forethought.nodes.debugger.messages import label_messages
from forethought.nodes.debugger.services import DebugServices
from forethought.nodes.support.offline import exhausted
from forethought.nodes.support.state_reader import read_state
from forethought.prompts.debug_replies import NO_ERROR, StepLabels
from forethought.state.debugger import DebuggerContext, DebuggerState, Label, LabelDispatch
from forethought.trajectories.rules import SystemLabel, system_label
from forethought.trajectories.show import PROMPT_CHARS
from forethought.trajectories.types import MODULES, Trajectory, TrajectoryStep

READS = ("subject",)
_FIXED_TOKENS = 6_000
"""A prompt's rules and taxonomy, and a thinking model's reply, roughly."""


async def label_wave(
    state: DebuggerState, runtime: Runtime[DebuggerContext], *, services: DebugServices
) -> dict[str, Any]:
    """The numbers of the next steps; none once all are labelled or the budget is spent, which is said."""
    context = services.context(runtime)
    trajectory = Trajectory.model_validate(state["subject"])
    done = {*state.get("labels", {}), *state.get("label_problems", {})}
    open_steps = [step.number for step in trajectory.steps if str(step.number) not in done]
    if not open_steps:
        return {"wave": []}
    reserve = reserve_tokens(trajectory, context)
    if width := _wave_width(state, context, len(done), reserve):
        return {"wave": open_steps[:width] if done else open_steps[:1]}
    why = exhausted(state, context, reserve=reserve)
    why = why or f"the budget of {context.max_tokens} tokens leaves no room for a further step"
    return {
        "wave": [],
        "label_problems": {str(number): f"not labelled: {why}" for number in open_steps},
        "notes": [f"{len(open_steps)} of {len(trajectory.steps)} steps were not labelled: {why}"],
    }


def reserve_tokens(trajectory: Trajectory, context: DebuggerContext) -> int:
    """Tokens that stage 1 leaves for stage 2: one prompt with the run in it, and its reply. No more than a
    quarter of the budget."""
    limit = context.max_observation_chars
    shown = "".join(text[:limit] for step in trajectory.steps for text in step.texts().values())
    wanted = _FIXED_TOKENS + estimate_tokens(shown[:PROMPT_CHARS])
    return wanted if context.max_tokens is None else min(wanted, context.max_tokens // 4)


def _wave_width(state: DebuggerState, context: DebuggerContext, labelled: int, reserve: int) -> int:
    """How many steps the next wave may label: never more than the tokens that are left allow."""
    if exhausted(state, context, reserve=reserve):
        return 0
    if context.max_tokens is None or not labelled:
        return context.max_parallel
    usage = state.get("usage", {})
    each = max(tokens_of(usage.get("label", no_usage())) // labelled, 1)
    left = context.max_tokens - tokens_of(total(*usage.values())) - reserve
    return max(min(context.max_parallel, left // each), 0)


async def label_step(
    dispatch: LabelDispatch,
    runtime: Runtime[DebuggerContext],
    config: RunnableConfig,
    *,
    services: DebugServices,
) -> dict[str, Any]:
    """The labels of one step; where no valid ones came, why. Raises the other ModelErrors."""
    context = services.context(runtime)
    state = cast(DebuggerState, read_state(config, READS))
    trajectory = Trajectory.model_validate(state["subject"])
    step = trajectory.step(dispatch["step"])
    by_rule = _labels_by_rule(trajectory, step)
    runtime.stream_writer({"event": "thinking", "role": "label", "step": step.number})
    try:
        asked = await services.ask(
            context,
            "label",
            label_messages(trajectory, step.number, context, services.taxonomy),
            StepLabels,
            lambda reply: _labels_problem(reply, trajectory, step, services.taxonomy, by_rule),
        )
    except ReplyError as error:
        update: dict[str, Any] = {"label_problems": {str(step.number): error.problem or str(error)}}
        if "system" in by_rule:
            update |= {"labels": {str(step.number): {"system": by_rule["system"]}}}
        return {**update, "usage": {"label": error.usage}}
    labels = {module: _label(asked.reply, services.taxonomy, module) for module in MODULES} | by_rule
    return {"labels": {str(step.number): labels}, "usage": {"label": asked.usage}}


def _labels_by_rule(trajectory: Trajectory, step: TrajectoryStep) -> dict[str, Label]:
    """The labels that need no model."""
    labels: dict[str, Label] = {}
    if step is trajectory.steps[0]:
        reason = "the run's first step has nothing to remember and nothing to reflect on"
        labels = dict.fromkeys(
            NOT_FIRST, Label(error_type=NO_ERROR, evidence="", reasoning=reason, by="rule")
        )
    found: SystemLabel | None = system_label(trajectory, step)
    if found:
        labels["system"] = Label(
            error_type=found.error_type, evidence=found.evidence, reasoning=found.reasoning, by="rule"
        )
    return labels


def _labels_problem(
    reply: StepLabels,
    trajectory: Trajectory,
    step: TrajectoryStep,
    taxonomy: Taxonomy,
    by_rule: dict[str, Label],
) -> str | None:
    """What is wrong with the labels, module by module; what a rule decides is not asked of the model."""
    problems = []
    for module in MODULES:
        label = getattr(reply, module)
        if module in by_rule or is_no_error(label.error_type):
            continue
        problem = taxonomy.problem(module, label.error_type) or quote_problem(
            label.evidence, trajectory, [step.number]
        )
        if problem:
            problems.append(f"{module}: {problem}")
    return "; ".join(problems) or None


def _label(reply: StepLabels, taxonomy: Taxonomy, module: str) -> Label:
    label = getattr(reply, module)
    error_type = canonical(taxonomy, module, label.error_type)
    evidence = label.evidence if error_type != NO_ERROR else ""
    return Label(error_type=error_type, evidence=evidence, reasoning=label.reasoning, by="model")
