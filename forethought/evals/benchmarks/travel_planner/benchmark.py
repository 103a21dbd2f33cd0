"""TravelPlanner (Xie et al., 2024): its samples, tools and score."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from forethought.evals.benchmarks.travel_planner.data import CHOICES, read_samples
from forethought.evals.benchmarks.travel_planner.database import database
from forethought.evals.benchmarks.travel_planner.plan import parse_plan
from forethought.evals.benchmarks.travel_planner.query import query_of
from forethought.evals.benchmarks.travel_planner.reference import ReferenceSandbox
from forethought.evals.benchmarks.travel_planner.sandbox import Sandbox
from forethought.evals.benchmarks.travel_planner.scoring import explanation, judge, micro_rates, values_of
from forethought.evals.benchmarks.travel_planner.search_tools import search_tools
from forethought.evals.prompts.judge_replies import TravelPlan
from forethought.evals.types import (
    Attempt,
    Benchmark,
    DataError,
    InfrastructureError,
    Sample,
    Score,
    Services,
)
from forethought.tools.base import Tool

_ABOUT = {
    "split": "which tasks (validation has 180, train 45; the test set is scored by its leaderboard only)",
    "stage": "whether all information is given, or has to be found with search tools",
    "sandbox": "what a plan is held against: auto takes the database where it is complete",
}


class TravelPlanner(Benchmark):
    """See `forethought.evals.types.Benchmark`."""

    name = "travelplanner"
    title = "TravelPlanner"
    about = (
        "Plans for trips of 3, 5 or 7 days under commonsense and hard constraints; data gated on Hugging "
        "Face; MIRROR table 2, SAMULE table 1"
    )
    main_metric = "final_pass"
    options: Mapping[str, str] = {
        name: f"{_ABOUT[name]}: {' or '.join(allowed)} (default {allowed[0]})"
        for name, allowed in CHOICES.items()
    }

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """See `Benchmark`."""
        return read_samples(data, options)

    def tools(self, sample: Sample, services: Services) -> Sequence[Tool]:
        """The search tools of two-stage planning."""
        return search_tools(_sandbox(sample)) if sample.data["stage"] == "two-stage" else []

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """Each constraint, 0 or 1, and the macro and final passes; hard ones only where the query has any."""
        query = query_of(sample.target)
        plan = parse_plan(attempt.answer)
        by_model = not plan and bool(attempt.answer.strip())
        if by_model:
            reply = await services.ask("judge", "travel_parse", TravelPlan, answer=attempt.answer)
            plan = [{"days": str(number), **day.model_dump()} for number, day in enumerate(reply.days, 1)]
        sandbox = _sandbox(sample)
        try:
            judged = await asyncio.to_thread(judge, query, plan, sandbox)
        except DataError as error:
            raise InfrastructureError(str(error)) from error
        lines = [explanation(judged), f"held against {sandbox.name}"]
        if by_model:
            lines.append("the plan was turned into JSON by the judge's model")
        values = values_of(query, judged)
        return Score(values, "\n".join(lines), "passed" if values["final_pass"] else "")

    def summary(self, scored: Sequence[tuple[Sample, Sequence[Score]]]) -> Mapping[str, float]:
        """The micro pass rates: shares of all constraints of all plans."""
        return micro_rates([score.values for _, scores in scored for score in scores])


def _sandbox(sample: Sample) -> Sandbox:
    if sample.data["database"]:
        return database(Path(sample.data["database"]))
    return ReferenceSandbox(sample.data["reference"], sample.target["org"], sample.target["dest"])


BENCHMARK = TravelPlanner()
