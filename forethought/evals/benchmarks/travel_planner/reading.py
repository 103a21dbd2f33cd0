"""An answer in prose turned into the plan's form by a model, as the official post-processing does."""

from __future__ import annotations

from forethought.evals.benchmarks.travel_planner.plan import Plan
from forethought.evals.prompts import render
from forethought.evals.prompts.judge_replies import TravelPlan
from forethought.evals.types import Services
from forethought.models.types import Message, Usage, reply_spec


async def read_plan(answer: str, services: Services) -> tuple[Plan, Usage]:
    """The plan that `answer` describes ([] if none), and what reading it cost. Raises ModelError."""
    system, user = render("travel_parse", answer=answer)
    asked = await services.models.ask(
        role="judge",
        model=services.judge_model,
        messages=[Message("system", system), Message("user", user)],
        reply=reply_spec(TravelPlan),
    )
    days = [{"days": str(number), **day.model_dump()} for number, day in enumerate(asked.reply.days, 1)]
    return days, asked.usage
