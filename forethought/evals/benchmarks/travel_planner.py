"""TravelPlanner (Xie et al. 2024): trips of 3, 5 or 7 days under commonsense and hard constraints.

MIRROR's table 2 has its two-stage mode, SAMULE's table 1 sole-planning. Constraints and searches are those of
the user's checkout, by its own code (environments/checkouts/travel_planner.py).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter, ValidationError

from forethought.evals.benchmarks.reading import Source, choice, csv_of, find, python_dict, row_of
from forethought.evals.environments.checkouts.travel_planner import COMMONSENSE, HARD
from forethought.evals.environments.process import ask_checkout
from forethought.evals.prompts.judge_replies import TravelDay, TravelPlan
from forethought.evals.types import Attempt, Benchmark, Sample, Score, Services
from forethought.tools.base import Tool, make_tool

SOURCE = Source(
    "Clone github.com/OSU-NLP-Group/TravelPlanner, unzip the database that it links to into it, and add "
    "train.csv and validation.csv of huggingface.co/datasets/osunlp/TravelPlanner (gated)"
)
FILES = (
    "evaluation/commonsense_constraint.py",
    "evaluation/hard_constraint.py",
    "database/accommodations/clean_accommodations_2022.csv",
    "database/attractions/attractions.csv",
    "database/background/citySet_with_states.txt",
    "database/flights/clean_Flights_2022.csv",
    "database/googleDistanceMatrix/distance.csv",
    "database/restaurants/clean_restaurant_2022.csv",
    "tools/planner/env.py",
)
"""What the official evaluation and CostEnquiry need of the checkout."""
FORMAT = (
    "The answer is the plan as a JSON list of one object a day with the keys days (1, 2, ...), current_city, "
    "transportation, breakfast, attraction, lunch, dinner and accommodation, all texts but days. "
    "current_city is a city, or `from A to B` on a day of travel. transportation reads like "
    "`Flight Number: F0123456, from A to B, Departure Time: 05:38, Arrival Time: 07:46`, "
    "`Self-driving, from A to B, duration: 3 hours, distance: 300 km, cost: 15` or `Taxi, from A to B, ...`. "
    "Meals and accommodation read `Name, City`, attraction `Name, City;Name, City;` with a semicolon after "
    "each one. `-` stands where nothing is needed. Where the destination is a state, its cities are written "
    "with it, such as `Dayton(Ohio)`."
)
"""The form alone: the benchmark's rules forbid hints at what its constraints are."""
_SOLE = "Use only the information that is given; every name, number and time in the plan comes from it."
_TWO_STAGE = "Use only what the search tools find; every name, number and time in the plan comes from them."
_LIST = re.compile(r"\[.*\]", re.DOTALL)
_PLAN = TypeAdapter(list[TravelDay])
_UNDELIVERED: Mapping[str, Any] = {"commonsense": {}, "hard": {}}


class _Row(BaseModel):
    org: str
    dest: str
    days: int = Field(ge=1)
    visiting_city_number: int
    people_number: int = Field(ge=1)
    local_constraint: Annotated[dict[str, Any], BeforeValidator(python_dict)]
    budget: float
    query: str = Field(min_length=1)
    level: Literal["easy", "medium", "hard"]
    reference_information: str = Field(min_length=1)
    annotated_plan: str = ""
    """A plan made by a person; only the training split has them."""


_COLUMNS = tuple(name for name, field in _Row.model_fields.items() if field.is_required())


class TravelPlanner(Benchmark):
    """See the module."""

    name = "travelplanner"
    title = "TravelPlanner"
    about = (
        "Plans for trips of 3, 5 or 7 days under commonsense and hard constraints; data gated on Hugging "
        "Face; MIRROR table 2, SAMULE table 1"
    )
    main_metric = "final_pass"
    options: Mapping[str, str] = {
        "split": "validation (180 tasks, default) or train (45); only its leaderboard scores the test set",
        "stage": "sole-planning (default): all information is given; two-stage: search tools find it",
    }

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """See `Benchmark`."""
        split = choice(options, "split", ("validation", "train"))
        stage = choice(options, "stage", ("sole-planning", "two-stage"))
        for name in FILES:
            find(data, (name,), SOURCE)
        path = find(data, (f"{split}.csv",), SOURCE)
        rows = [row_of(_Row, row, place, SOURCE) for place, row in csv_of(path, _COLUMNS, SOURCE)]
        if not rows:
            raise SOURCE.fault(str(path), "the file has no tasks")
        common = {"checkout": str(data.resolve()), "stage": stage}
        return [_sample(f"{split}-{number}", row, common) for number, row in enumerate(rows, 1)]

    def tools(self, sample: Sample, services: Services) -> Sequence[Tool]:
        """CostEnquiry of the sole-planning mode, or the searches of the two-stage mode. Its notebook is not
        among them: agents keep what they saw."""
        checkout = sample.data["checkout"]
        return _searches(checkout) if sample.data["stage"] == "two-stage" else [_cost_enquiry(checkout)]

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """Each constraint, 0 or 1, and the macro and final passes; hard ones only where the query has any."""
        plan = read_plan(attempt.answer)
        by_model = plan is None and bool(attempt.answer.strip())
        if by_model:
            reply = await services.ask("judge", "travel_parse", TravelPlan, answer=attempt.answer)
            plan = reply.days
        verdicts = _UNDELIVERED
        if plan:
            days = [{"days": n, **day.model_dump(exclude_unset=True)} for n, day in enumerate(plan, 1)]
            verdicts = await asyncio.to_thread(
                ask_checkout,
                "travel_planner",
                sample.data["checkout"],
                "judge",
                query=sample.target,
                plan=days,
            )
        values = _values(sample.target, verdicts)
        lines = [_explanation(verdicts)]
        if by_model:
            lines.append("the plan was turned into JSON by the judge's model")
        return Score(values, "\n".join(lines), "passed" if values["final_pass"] else "")

    def references(self, sample: Sample) -> Sequence[str]:
        """The plan that a person annotated, where the split has one."""
        plan = sample.data.get("annotated_plan", "").strip()
        return (plan,) if plan else ()

    def summary(self, scored: Sequence[tuple[Sample, Sequence[Score]]]) -> Mapping[str, float]:
        """The micro pass rates: shares of all constraints of all plans (TravelPlanner 3.3)."""
        rates = {}
        for kind in ("commonsense", "hard"):
            single = [
                value
                for _, scores in scored
                for score in scores
                for name, value in score.values.items()
                if name.startswith(f"{kind}_") and name != f"{kind}_macro"
            ]
            if single:
                rates[f"{kind}_micro"] = sum(single) / len(single)
        return rates


def read_plan(answer: str) -> list[TravelDay] | None:
    """The days of the JSON list in an answer; None where it has none, and a model has to read it."""
    match = _LIST.search(answer)
    try:
        return _PLAN.validate_json(match[0]) if match else None
    except ValidationError:
        return None


def _sample(id: str, row: _Row, common: Mapping[str, str]) -> Sample:
    sole = common["stage"] == "sole-planning"
    information = f"{_SOLE}\n\n# Given information\n{row.reference_information}" if sole else _TWO_STAGE
    return Sample(
        id=id,
        task=f"{row.query}\n\n{information}",
        answer_format=FORMAT,
        target=row.model_dump(exclude={"query", "reference_information", "annotated_plan"}),
        groups={"level": row.level, "days": str(row.days)},
        data={**common, "annotated_plan": row.annotated_plan},
    )


def _values(query: Mapping[str, Any], verdicts: Mapping[str, Any]) -> dict[str, float]:
    """The metrics of one plan. A hard constraint that the query does not have is left out; one that was not
    judged is not met, and no macro pass is counted then, as in the official evaluation."""
    hard = ["budget", *(name for name, (key, _) in HARD.items() if query["local_constraint"].get(key))]
    met = {
        f"{kind}_{name}": float(verdicts[kind].get(name, (False, ""))[0])
        for kind, names in (("commonsense", COMMONSENSE), ("hard", hard))
        for name in names
    }
    macro = {
        f"{kind}_macro": float(bool(verdicts["hard"]) and all(met for met, _ in verdicts[kind].values()))
        for kind in ("commonsense", "hard")
    }
    final = float(all(macro.values()))
    return {"delivery": float(bool(verdicts["commonsense"])), **macro, "final_pass": final, **met}


def _explanation(verdicts: Mapping[str, Any]) -> str:
    """The constraints that are not met, and why."""
    if not verdicts["commonsense"]:
        return "no plan was delivered"
    unmet = [
        f"{kind} {name}: {reason}"
        for kind, constraints in verdicts.items()
        for name, (met, reason) in constraints.items()
        if not met
    ]
    if not verdicts["hard"]:
        unmet.append("all hard constraints, since the plan is incomplete or names what does not exist")
    return f"not met: {'; '.join(unmet)}" if unmet else "all constraints are met"


def _cost_enquiry(checkout: str) -> Tool:
    def cost_enquiry(
        people_number: int,
        day: int,
        current_city: str,
        transportation: str = "-",
        breakfast: str = "-",
        attraction: str = "-",
        lunch: str = "-",
        dinner: str = "-",
        accommodation: str = "-",
    ) -> str:
        """Calculate what one day of a plan costs, for all people together. Only what matches the given
        information is calculated. Write each field as in the answer; `-` where nothing is needed."""
        plan = {
            "people_number": people_number,
            "day": day,
            "current_city": current_city,
            "transportation": transportation,
            "breakfast": breakfast,
            "attraction": attraction,
            "lunch": lunch,
            "dinner": dinner,
            "accommodation": accommodation,
        }
        text: str = ask_checkout("travel_planner", checkout, "cost", day=plan)
        return text

    return make_tool(cost_enquiry, timeout_s=120)  # the first call waits for the database


def _searches(checkout: str) -> list[Tool]:
    def search(tool: str, **arguments: str) -> str:
        text: str = ask_checkout("travel_planner", checkout, "search", tool=tool, arguments=arguments)
        return text

    def accommodation_search(city: str) -> str:
        """Find places to stay in a city, with price a night, room type, rules, minimum nights and maximum
        occupancy."""
        return search("accommodation_search", city=city)

    def restaurant_search(city: str) -> str:
        """Find restaurants in a city, with the average cost of a meal, cuisines and rating."""
        return search("restaurant_search", city=city)

    def attraction_search(city: str) -> str:
        """Find attractions in a city."""
        return search("attraction_search", city=city)

    def city_search(state: str) -> str:
        """List the cities of a state."""
        return search("city_search", state=state)

    def flight_search(origin: str, destination: str, date: str) -> str:
        """Find flights between two cities on a day (YYYY-MM-DD), with price for one person and times."""
        return search("flight_search", origin=origin, destination=destination, departure_date=date)

    def distance_matrix(origin: str, destination: str, mode: Literal["self-driving", "taxi"]) -> str:
        """Say how long and far it is by road between two cities, and what one car (5 people) or taxi (4)
        costs."""
        return search("distance_matrix", origin=origin, destination=destination, mode=mode)

    return [
        make_tool(function, timeout_s=120)  # the first one waits for the database
        for function in (
            accommodation_search,
            restaurant_search,
            attraction_search,
            city_search,
            flight_search,
            distance_matrix,
        )
    ]


BENCHMARK = TravelPlanner()
