"""Prospective reflection for smolagents, the host that the paper took first (PreFlect 4.1, A.1).

    agent = CodeAgent(tools, model, **PlanReflection().hooks)

smolagents plans by its own prompts. Each of its plans is diagnosed and revised before the first action under
it; and where progress stalls, the next step begins with a new plan.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from forethought import own_loop
from forethought.extras import install_command
from forethought.integrations.adviser import Adviser
from forethought.integrations.work import Record, Work, plan_lines, written_plan
from forethought.integrations.worker_steps import Json, WorkerCall
from forethought.models.errors import describe
from forethought.models.methods import in_prompt
from forethought.models.types import ModelReply, ModelRequest, TransportError
from forethought.nodes.replan_trigger import replan_due
from forethought.settings import Settings

try:
    from smolagents import ActionStep, PlanningStep, TaskStep, TokenUsage
except ImportError as error:
    raise ImportError(f"smolagents is not installed: {install_command('smolagents')}") from error

PLAN_HEADING = "## 2. Plan"
"""The heading between facts and plan in smolagents' prompts."""


@dataclass(frozen=True)
class _Transport:
    """Carries requests to a model of smolagents."""

    model: Any

    async def send(self, request: ModelRequest) -> ModelReply:
        messages = [
            {"role": message.role, "content": [{"type": "text", "text": message.text}]}
            for message in in_prompt(request)
        ]
        try:
            said = await asyncio.to_thread(self.model.generate, messages)
        except Exception as error:
            raise TransportError(f"the agent's model: {describe(error)}") from error
        used = said.token_usage or TokenUsage(0, 0)
        tokens = {"input_tokens": used.input_tokens, "output_tokens": used.output_tokens}
        return ModelReply(text=said.content or "", model=request.model, **tokens)


class PlanReflection:
    """Examines the plans of one agent; `record` tells of its last task.

    Args:
        planning_interval: Actions after which a new plan is due anyway (PreFlect A.1).
        settings: Redaction and the file of planning errors; by default the environment's.
        switches: Fields of `forethought.Context`, such as max_replans=0 or effort="paper".
    """

    def __init__(self, planning_interval: int = 6, settings: Settings | None = None, **switches: Any) -> None:
        self.planning_interval, self.adviser = planning_interval, Adviser(None, settings, **switches)
        self.record = Record()

    @property
    def hooks(self) -> Json:
        """The arguments of an agent by which it plans and has its plans examined."""
        callbacks = {PlanningStep: self.examine, ActionStep: self.watch}
        return {"planning_interval": self.planning_interval, "step_callbacks": callbacks}

    def examine(self, step: PlanningStep, agent: Any) -> None:
        """Diagnose the plan of `step` and put the revised one in its place; what it cost is added to it."""
        agent.planning_interval = self.planning_interval
        work, text = self._work(agent).planning(), str(step.model_output_message.content)
        now = own_loop.run(work.diagnosed(written_plan([text.strip() or "(no plan)"], work)))
        self.record = now.record
        if now.record["plan"]["version"] > work.record.get("plan", {}).get("version", 0) + 1:
            facts, heading, _ = text.partition(PLAN_HEADING)
            revised = f"{facts if heading else ''}{PLAN_HEADING}\n{plan_lines(now.record['plan'])}"
            step.plan = step.plan.replace(text, revised)
            step.model_output_message.content = revised
        own = step.token_usage or TokenUsage(0, 0)
        spent = {name: now.spent[name] - work.spent[name] for name in ("input_tokens", "output_tokens")}
        step.token_usage = TokenUsage(*(getattr(own, name) + tokens for name, tokens in spent.items()))

    def watch(self, step: ActionStep, agent: Any) -> None:
        """Have the next step begin with a new plan where progress stalls."""
        work = self._work(agent, step)
        if "plan" not in work.record or step.is_final_answer:
            return
        if replan := replan_due(work.state, work.record["plan"], work.turn.context):
            self.record = {**work.record, "replans": [*work.record.get("replans", []), replan]}
            # It plans where the interval divides the number of actions made.
            agent.planning_interval = agent.step_number

    def _work(self, agent: Any, now: ActionStep | None = None) -> Work:
        """The task as it stands, with the step that is not in the agent's memory yet."""
        steps = [*agent.memory.steps, *([now] if now else [])]
        start = max(at for at, step in enumerate(steps) if isinstance(step, TaskStep))
        if start == len(steps) - 1:  # it begins, perhaps in the same words as the last one
            self.record = Record(task=steps[start].task)
        turn = self.adviser.turn(_tools(agent), transport=_Transport(agent.model))
        actions = [step for step in steps[start:] if isinstance(step, ActionStep)]
        calls = [call for wave, step in enumerate(actions, 1) for call in _calls(wave, step)]
        return Work(turn, steps[start].task, self.record, calls, agent.instructions or "")


def _calls(wave: int, step: ActionStep) -> list[WorkerCall]:
    """The calls of a step; one without a name where what the model wrote was none."""
    made = [(call.name, call.arguments) for call in step.tool_calls or []] or [("", step.model_output)]
    came = "\n".join(str(part) for part in (step.observations, step.error) if part)
    return [
        WorkerCall(wave, name, given if isinstance(given, dict) else {"input": given}, came, bool(step.error))
        for name, given in made
    ]


def _tools(agent: Any) -> list[Json]:
    """The agent's tools and team members, and its interpreter."""
    told = [*agent.tools.values(), *agent.managed_agents.values()]
    tools = [(each.name, each.description, each.inputs) for each in told]
    if hasattr(agent, "python_executor"):
        about = "Python code, which calls the other tools as functions and computes."
        tools.append(("python_interpreter", about, {"input": {"type": "string"}}))
    return [{"name": n, "description": said, "parameters": {"properties": given}} for n, said, given in tools]
