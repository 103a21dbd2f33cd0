"""Plans and checks for one worker that another framework runs (PreFlect 4.4).

The prompts, the planning errors, the checks of replies and the rules for a new plan are the nodes' own. By
`Services.one_worker` the prompts say that one worker carries all of a plan out and sees all that it has done.
The record is plain JSON, which the other framework keeps with its own state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from typing_extensions import TypedDict

from forethought.integrations.worker_steps import Json, WorkerCall, steps_of
from forethought.knowledge.planning_errors import load_planning_errors
from forethought.models.allowance import total
from forethought.models.types import Message, Usage, reply_spec
from forethought.nodes.planner import new_plan, scored_plan
from forethought.nodes.prospective_reflector import Reflection
from forethought.nodes.replan_trigger import replan_due
from forethought.nodes.support.answer_reply import unmet_text
from forethought.nodes.support.budget import allowance, exhausted
from forethought.nodes.support.prompt_text import Reader, step_items
from forethought.nodes.support.services import Turn
from forethought.nodes.support.situation import situation
from forethought.prompts.render import prompt_messages, render
from forethought.prompts.replies import AnswerCheck
from forethought.prompts.replies import Plan as PlanReply
from forethought.state.agent import AgentState, Plan, PlanReview, Replan


class Record(TypedDict, total=False):
    """What was planned and checked for one task of the worker."""

    task: str
    task_id: str
    """Index of the message that set the task."""
    plan: Plan
    """Without subtasks: the task needs none. Absent: there is no plan; `problem` says why."""
    reviews: list[PlanReview]
    replans: list[Replan]
    planned_at: list[int]
    """Number of calls before each plan."""
    checks: list[Json]
    """Of an answer: {about, done, ok}."""
    rejection: dict[str, str]
    """The last answer, if it did not pass: {answer, unmet, work}."""
    usage: dict[str, Usage]
    """Usage by role."""
    problem: str
    """Why there is no plan, or no check."""


@dataclass(frozen=True)
class Work:
    """A task of the worker, what it has done of it, and what was planned."""

    turn: Turn
    task: str
    record: Record = field(default_factory=lambda: Record())
    calls: Sequence[WorkerCall] = ()
    instructions: str = ""
    """The worker's system prompt."""
    earlier: Sequence[Json] = ()
    """Earlier tasks of the conversation: {task, answer}."""

    @property
    def state(self) -> AgentState:
        """The task as the nodes read it."""
        planned_at, replans = self.record.get("planned_at", []), self.record.get("replans", [])
        steps, plan = steps_of(self.calls, planned_at), self.record.get("plan", Plan())
        return {
            "task": self.task,
            "guidance": [self.instructions] if self.instructions else [],
            "plan": plan,
            "trajectory": steps,
            "replans": replans,
            "usage": self.record.get("usage", {}),
            "progress": {
                "task": 1,
                "round": 1,
                "base_n": 0,
                "round_n": 0,
                "n": len(steps),
                "waves": steps[-1]["wave"] if steps else 0,
                "replans": len(replans),
                "planned_at": planned_at,
                "version": plan.get("version", 0),
                "earlier": list(self.earlier),
            },
        }

    async def planned(self) -> Work:
        """With the plan that is due: the first one, or a new one where progress stalls (PreFlect 3.3)."""
        state, context = self.state, self.turn.context
        replan = None
        if "planned_at" in self.record:
            replan = replan_due(state, state["plan"], context) if state["plan"].get("subtasks") else None
            if replan is None:
                return self
        if exhausted(state, context, steps=False):
            return self
        now = self.planning(replan)
        state = now.state
        revised = await scored_plan(state, self.turn)
        now = now._with_usage("planner", revised.usage)
        if revised.best is None:
            return now._with(problem=f"no valid plan: {revised.problem}")
        plan = new_plan(revised.best, state, state["progress"], revised.revisions, context)
        return await now.diagnosed(plan)

    @property
    def spent(self) -> Json:
        """What all of it has cost."""
        return {**total(*self.record.get("usage", {}).values())}

    def planning(self, replan: Replan | None = None) -> Work:
        """With a plan entered as made now, and why, where it is not the first one."""
        made = [*self.record.get("planned_at", []), len(self.calls)]
        return self._with(
            replans=[*self.record.get("replans", []), *([replan] if replan else [])], planned_at=made
        )

    async def diagnosed(self, plan: Plan) -> Work:
        """With `plan`, examined and revised (PreFlect 3.2.2)."""
        plan = {**plan, "guidance": []}  # the worker's instructions are not for those who see the record
        context, now = self.turn.context, self._with(plan=plan)
        if plan["subtasks"] and context.wants("prospective_reflection") is not False:
            path = self.turn.services.settings.planning_errors_file
            errors = await asyncio.to_thread(load_planning_errors, path) if context.planning_errors else ()
            reflection = Reflection(now.state, self.turn, plan)
            await reflection.run(errors)
            reviews = [*self.record.get("reviews", []), *reflection.reviews]
            now = now._with(plan={**reflection.plan, "reviewed": True}, reviews=reviews)
            now = now._with_usage("reflector", reflection.usage)
        self.turn.emit("plan", plan=now.record["plan"])
        return now

    async def checked(self, answer: str) -> Work:
        """With the check of the answer that the worker is about to give, the task's first one.

        `rejection` stands in the record only if it did not pass, and something can be done about that.
        """
        state, now = self.state, self._with(rejection=None)
        over = exhausted(state, self.turn.context, steps=False)
        if over or "checks" in self.record or not state["plan"].get("subtasks"):
            return now
        messages = check_messages(state, answer, self.turn)
        spec, allowed = reply_spec(AnswerCheck), allowance(state, self.turn.context)
        result = await self.turn.ask("answer", messages, spec, allowed, event={"turn": "check"})
        now = now._with_usage("answer", result.usage)
        if (reply := result.reply) is None:
            return now._with(checks=[], problem=f"no valid check: {result.problem}")
        now = now._with(checks=[check.model_dump() for check in reply.checks])
        unmet = unmet_text(reply)
        rejection = {"answer": answer, "unmet": unmet, "work": reply.work}
        return now._with(rejection=rejection) if unmet and reply.work else now

    def note(self) -> str:
        """What the worker is shown: the plan, and why its answer did not pass; '' without a plan."""
        plan, rejection = self.record.get("plan", Plan()), self.record.get("rejection", {})
        shown = render("worker_plan", plan=plan_lines(plan), rejection=rejection)[1]
        return shown if plan.get("subtasks") else ""

    def _with(self, **changes: Any) -> Work:
        record: Any = {key: value for key, value in {**self.record, **changes}.items() if value is not None}
        return replace(self, record=record)

    def _with_usage(self, role: str, usage: Usage) -> Work:
        before = self.record.get("usage", {})
        return self._with(usage={**before, role: total(before.get(role, {}), usage)})


def written_plan(parts: Sequence[str], work: Work) -> Plan:
    """A plan that somebody else wrote, for `work`: a subtask for each part, after the one before it."""
    state, ids = work.state, [f"part_{number}" for number in range(1, len(parts) + 1)]
    reply = PlanReply.model_validate(
        {
            "subtasks": [
                {"id": key, "description": part, "depends_on": before}
                for key, part, before in zip(ids, parts, [[], *([key] for key in ids)], strict=False)
            ],
            "defects": [],
        }
    )
    return new_plan(reply, state, state["progress"], 0, work.turn.context)


def plan_lines(plan: Plan) -> str:
    """The plan as its worker reads it, numbered."""
    lines = [f"Known: {'; '.join(plan['known'])}"] if plan.get("known") else []
    for number, subtask in enumerate(plan.get("subtasks", []), 1):
        lines.append(f"{number}. {subtask['description']}")
        lines += [f"   Expected: {subtask['expected']}"] if subtask["expected"] else []
    return "\n".join(lines)


def check_messages(state: AgentState, answer: str, turn: Turn) -> list[Message]:
    """The prompt of a check."""
    sizes = turn.context.sizes
    return prompt_messages(
        "answer_check",
        **situation(state, turn.services, turn.context),
        plan=plan_lines(state["plan"]),
        steps=step_items(state["trajectory"], Reader(sizes, state["task"]), sizes.answer),
        answer=answer,
    )
