"""prospective_reflector: criticises a plan before anything of it is done (PreFlect 3.2.2, A.3, B.2).

A conversation of its own with the same backbone, of at most two turns: diagnosis, and only after an error,
revision. The first turn sees of every planning error the name, description and two failure examples; the
second all failures and successes of those that were found. A revised plan is diagnosed again, at most
`max_reflections` times; then the latest of the versions with the fewest errors goes on, marked unresolved.
The paper's loop has no bound.

That is effort paper. Else the diagnosis runs beside the readings that the plan begins with, so that it costs
little time, and carries the revised plan in the same reply (nodes/support/diagnosis.py). A revised plan is
diagnosed again only after an answer has failed its checks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import itemgetter
from typing import Any

from langgraph.runtime import Runtime

from forethought.knowledge.planning_errors import FOR_FOLDERS, PlanningError, load_planning_errors
from forethought.models.allowance import total
from forethought.models.types import Message, Usage, no_usage, reply_spec
from forethought.nodes.support.budget import allowance, exhausted, left_text
from forethought.nodes.support.diagnosis import diagnosis_problem, diagnosis_spec
from forethought.nodes.support.effort import (
    Moment,
    Rule,
    first_readings,
    open_subtasks,
    skip_update,
    skipping_rule,
)
from forethought.nodes.support.experience import advice_lines, own_errors
from forethought.nodes.support.plan_text import plan_text
from forethought.nodes.support.plans import (
    callable_tools,
    dropped_ids,
    join_plan,
    plan_problem,
    plan_update,
    still_wanted,
)
from forethought.nodes.support.prompt_text import Reader, result_items, steps_text, tool_record, trajectory
from forethought.nodes.support.services import AskResult, Services, Turn
from forethought.nodes.support.situation import memory, situation
from forethought.prompts.render import prompt_messages, render
from forethought.prompts.replies import PlanDiagnosis, PlanRevision
from forethought.state.agent import AgentState, Plan, PlanReview
from forethought.state.context import Context
from forethought.state.reducers import with_statuses


async def prospective_reflector(
    state: AgentState, runtime: Runtime[Context], *, services: Services
) -> dict[str, Any]:
    """Diagnose the plan in force and revise it as long as errors are found and reflections are left.

    A plan that begins with readings comes back while they are made.
    """
    turn, state = await services.turn(runtime), with_statuses(state)
    context, plan = turn.context, state.get("plan", {})
    if plan.get("reviewed") or not open_subtasks(plan):
        return {}
    moment = Moment(state, context, services.tools)
    wanted, file = context.wants("prospective_reflection"), services.settings.effort_file
    rule = skipping_rule("prospective_reflection", moment, file)
    diagnosed = wanted is not False and rule is None
    waits = diagnosed and not state.get("dispatch") and bool(first_readings(moment))
    reflection = Reflection(state, turn, plan, skipped=rule)
    if diagnosed and not waits:
        file = services.settings.planning_errors_file
        errors = await asyncio.to_thread(load_planning_errors, file) if context.planning_errors else ()
        if context.planning_errors and state.get("folders"):
            errors = (*errors, *await asyncio.to_thread(load_planning_errors, FOR_FOLDERS))
        errors = (*errors, *own_errors(state))
        await reflection.run(errors)
    # A person is not asked again about a plan that stands as they approved or wrote it.
    approval = plan.get("approval", "")
    if approval not in ("approved", "edited") or reflection.plan["version"] != plan["version"]:
        approval = "wanted" if context.approve_plan else ""
    return {
        **plan_update({**reflection.plan, "reviewed": not waits, "approval": approval}),
        **skip_update(reflection.skipped, state),
        "plan_reviews": reflection.reviews,
        "usage": {"reflector": reflection.usage},
        "progress": {**state["progress"], "version": max(state["progress"]["version"], reflection.version)},
    }


@dataclass
class Reflection:
    """The reflections on one plan, and what they have come to so far."""

    state: AgentState
    turn: Turn
    plan: Plan
    reviews: list[PlanReview] = field(default_factory=list)
    usage: Usage = field(default_factory=no_usage)
    candidates: list[tuple[int, Plan]] = field(default_factory=list)
    """Plans that were diagnosed, with how many errors were found in each."""
    skipped: Rule | None = None
    """Why the plan is not diagnosed, or not once more."""

    @property
    def in_one_turn(self) -> bool:
        """Whether the diagnosis carries the revised plan."""
        return self.turn.context.effort != "paper"

    @property
    def version(self) -> int:
        """The highest version among the plans."""
        return max([self.plan["version"], *(plan["version"] for _, plan in self.candidates)])

    @property
    def begun(self) -> set[str]:
        """Ids of the readings that are being made."""
        return {item["subtask"] for item in self.state.get("dispatch", [])} - self.results

    @property
    def results(self) -> set[str]:
        """Ids of the finished results."""
        return set(self.state.get("results", {}))

    @property
    def now(self) -> AgentState:
        """The state with the plan in hand and what the reflections have cost."""
        return {**self.state, "plan": self.plan, "usage": {**self.state.get("usage", {}), "now": self.usage}}

    async def run(self, errors: Sequence[PlanningError]) -> None:
        """Diagnose, revise, diagnose again; every diagnosis leaves a record, a skipped one too."""
        context = self.turn.context
        for attempt in range(context.max_reflections + 1):
            messages = reflector_messages(self.now, self.turn.services, context, errors)
            diagnosis = await self._diagnose(messages, errors)
            if diagnosis.reply is None:
                if self.candidates:  # a revision that nobody has examined: its plan before had errors
                    self._leave_unresolved(self.plan)
                return
            if not diagnosis.reply.errors:
                return
            self.candidates.append((len(diagnosis.reply.errors), self.plan))
            if self.in_one_turn:
                self._take_on(PlanRevision(subtasks=diagnosis.reply.subtasks))
                if attempt == context.max_reflections:  # this revision is not examined
                    self._leave_unresolved(self.plan)
                    return
                services = self.turn.services
                before = Moment(self.now, context, services.tools, before=self.candidates[-1][1])
                self.skipped = skipping_rule("prospective_reflection", before, services.settings.effort_file)
                if self.skipped:
                    return
            elif attempt == context.max_reflections or not await self._revise(messages, diagnosis, errors):
                break
        self._leave_unresolved(min(reversed(self.candidates), key=itemgetter(0))[1])

    def _leave_unresolved(self, plan: Plan) -> None:
        self.plan = {**plan, "unresolved": True}
        self.reviews[-1] |= {"unresolved": True, "runs": plan["version"]}

    async def _diagnose(
        self, messages: Sequence[Message], errors: Sequence[PlanningError]
    ) -> AskResult[PlanDiagnosis]:
        """Turn 1, recorded; or why there was none."""
        context, services, names = self.turn.context, self.turn.services, [error.name for error in errors]
        if spent := exhausted(self.now, context, steps=False):
            result = AskResult[PlanDiagnosis](None, no_usage(), problem=f"the budget of {spent} is spent")
        else:
            result = await self.turn.ask(
                "reflector",
                messages,
                diagnosis_spec(names, context, callable_tools(self.now, services, context)),
                allowance(self.now, context),
                check=partial(diagnosis_problem, plan=self.plan, results=self.results | self.begun)
                if self.in_one_turn
                else None,
                event={"turn": "diagnosis", "plan_version": self.plan["version"]},
            )
            if result.reply is None:
                result = replace(result, problem=f"no valid diagnosis: {result.problem}")
        self.reviews.append(_review(self.now, result.reply, result.problem))
        self.usage = total(self.usage, result.usage)
        return result

    async def _revise(
        self,
        messages: Sequence[Message],
        diagnosis: AskResult[PlanDiagnosis],
        errors: Sequence[PlanningError],
    ) -> bool:
        """Turn 2. The revised plan becomes the one in hand; False when no valid revision came."""
        if spent := exhausted(self.now, self.turn.context, steps=False):
            self.reviews[-1]["changes"] = f"not revised: the budget of {spent} is spent"
            return False
        types = {error.error_type for error in diagnosis.reply.errors} if diagnosis.reply else set()
        _, request = render(
            "reflector_revise",
            errors=[e.full() for e in errors if e.name in types],
            one_worker=self.turn.services.one_worker,
        )

        def check(reply: PlanRevision) -> str | None:
            return plan_problem(reply.subtasks, old=self.plan, results=self.state.get("results", {}))

        result = await self.turn.ask(
            "reflector",
            [*messages, Message("assistant", diagnosis.text), Message("user", request)],
            reply_spec(PlanRevision),
            allowance(self.now, self.turn.context),
            check=check,
            event={"turn": "revision", "plan_version": self.plan["version"]},
        )
        self.usage = total(self.usage, result.usage)
        if result.reply is None:
            self.reviews[-1]["changes"] = f"no valid revision: {result.problem}"
            return False
        self._take_on(result.reply)
        return True

    def _take_on(self, revision: PlanRevision) -> None:
        """The revised plan becomes the one in hand."""
        self.reviews[-1] = {**self.reviews[-1], "revised": True, "changes": revision.changes}
        used_ids = dropped_ids(self.state, *(plan for _, plan in self.candidates)) | self.begun
        kept = still_wanted(revision.subtasks, self.plan, self.begun)
        dropped = self.begun - kept
        old: Plan = {**self.plan, "subtasks": [s for s in self.plan["subtasks"] if s["id"] not in dropped]}
        subtasks = join_plan(revision.subtasks, old=old, results=self.results | kept, used_ids=used_ids)
        version = max(self.version, self.state["progress"]["version"]) + 1
        self.plan = {**self.plan, "version": version, "subtasks": subtasks}


def _review(state: AgentState, reply: PlanDiagnosis | None, skipped: str) -> PlanReview:
    return {
        "task": state["progress"]["task"],
        "round": state["progress"]["round"],
        "plan_version": state["plan"]["version"],
        "situation": reply.situation if reply else "",
        "tool_notes": reply.tool_notes if reply else "",
        "errors": [error.model_dump() for error in reply.errors] if reply else [],  # type: ignore[misc]
        "revised": False,
        "changes": "",
        "skipped": skipped,
        "unresolved": False,
        "runs": 0,
    }


def reflector_messages(
    state: AgentState, services: Services, context: Context, errors: Sequence[PlanningError]
) -> list[Message]:
    """Turn 1: the planning errors and tools are fixed; then situation, memory, past actions, plan."""
    steps, results = trajectory(state), state.get("results", {})
    reader = Reader(context.sizes, state["task"])
    return prompt_messages(
        "reflector",
        errors=[error.brief() for error in errors],
        full=context.effort == "paper",
        **situation(state, services, context, plans=True),
        **memory(state, context),
        advice=advice_lines(state),
        steps=steps_text(steps, results, reader),
        tool_record=tool_record(steps, context.sizes),
        results=result_items(results, reader),
        why=state["plan"].get("why", ""),
        plan=plan_text(state["plan"], only_open=True),
        left="" if services.one_worker else left_text(state, context),
    )
