"""The reply of the reader of travel plans. Field names are a contract, as in `replies`."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from forethought.prompts.replies import Reply, _no_null


def _nothing(value: object) -> object:
    return "-" if value is None else value


Planned = Annotated[str, BeforeValidator(_nothing)]


class TravelDay(Reply):
    """One day of a plan, as the evaluation of TravelPlanner reads it."""

    current_city: str = Field(description="The city, or 'from A to B' on a day of travel.")
    transportation: Planned = "-"
    breakfast: Planned = "-"
    attraction: Planned = "-"
    lunch: Planned = "-"
    dinner: Planned = "-"
    accommodation: Planned = "-"


class TravelPlan(Reply):
    """A plan day by day."""

    days: Annotated[list[TravelDay], BeforeValidator(_no_null)] = Field(
        default_factory=list, description="In order; empty if the text holds no plan."
    )
