"""The tools of the two-stage mode (TravelPlanner, table 1).

Each search has a number, by which it is written into the notebook: agents that search side by side could not
say "the last one".
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from forethought.evals.benchmarks.travel_planner.reference import table_text
from forethought.evals.benchmarks.travel_planner.sandbox import Row, Sandbox
from forethought.evals.benchmarks.travel_planner.text import without_state
from forethought.tools.base import Tool, ToolError, make_tool


@dataclass
class Notebook:
    """What was found, and what of it was written down; one for each attempt."""

    searches: list[str] = field(default_factory=list)
    entries: list[tuple[str, str]] = field(default_factory=list)

    def found(self, title: str, rows: Sequence[Row] | str, nothing: str) -> str:
        """The result of a search as the agent sees it. Raises ToolError where there is none."""
        if not rows:
            raise ToolError(nothing, cause="not_found")
        text = f"{title}\n{table_text(rows)}"
        self.searches.append(text)
        return f"[search {len(self.searches)}] {text}"


def search_tools(sandbox: Sandbox) -> list[Tool]:
    """The tools over `sandbox`, with an empty notebook."""
    notebook = Notebook()
    return [*_place_tools(sandbox, notebook), *_travel_tools(sandbox, notebook), *_notebook_tools(notebook)]


def _place_tools(sandbox: Sandbox, notebook: Notebook) -> list[Tool]:
    async def accommodation_search(city: str) -> str:
        """Find places to stay in a city, with price a night, room type, rules, minimum nights and maximum
        occupancy.

        Args:
            city: The city's name.
        """
        rows = await asyncio.to_thread(sandbox.accommodations, without_state(city).strip())
        return notebook.found(f"Accommodations in {city}", rows, f"there is no accommodation in {city}")

    async def restaurant_search(city: str) -> str:
        """Find restaurants in a city, with the average cost of a meal, cuisines and rating.

        Args:
            city: The city's name.
        """
        rows = await asyncio.to_thread(sandbox.restaurants, without_state(city).strip())
        return notebook.found(f"Restaurants in {city}", rows, f"there is no restaurant in {city}")

    async def attraction_search(city: str) -> str:
        """Find attractions in a city.

        Args:
            city: The city's name.
        """
        rows = await asyncio.to_thread(sandbox.attractions, without_state(city).strip())
        return notebook.found(f"Attractions in {city}", rows, f"there is no attraction in {city}")

    async def city_search(state: str) -> str:
        """List the cities of a state.

        Args:
            state: The state's name.
        """
        cities = await asyncio.to_thread(sandbox.cities, state.strip())
        return notebook.found(f"Cities in {state}", "\n".join(cities), f"there is no state {state}")

    return [
        make_tool(one) for one in (accommodation_search, restaurant_search, attraction_search, city_search)
    ]


def _travel_tools(sandbox: Sandbox, notebook: Notebook) -> list[Tool]:
    async def flight_search(origin: str, destination: str, date: str) -> str:
        """Find flights between two cities on a day, with price for one person and times.

        Args:
            origin: The city of departure.
            destination: The city of arrival.
            date: The day as YYYY-MM-DD.
        """
        ends = (without_state(origin).strip(), without_state(destination).strip())
        rows = await asyncio.to_thread(sandbox.flights, *ends)
        title = f"Flight from {origin} to {destination} on {date}"
        nothing = f"there is no flight from {origin} to {destination} on {date}"
        return notebook.found(title, [row for row in rows if row["FlightDate"] == date.strip()], nothing)

    async def distance_matrix(origin: str, destination: str, mode: Literal["self-driving", "taxi"]) -> str:
        """Say how long and far it is by road between two cities, and what one car costs.

        Args:
            origin: The city of departure.
            destination: The city of arrival.
            mode: self-driving (a car takes 5 people) or taxi (4).
        """
        ends = (without_state(origin).strip(), without_state(destination).strip())
        road = await asyncio.to_thread(sandbox.drive, *ends)
        cost = road.cost(mode) if road else None
        nothing = f"there is no {mode} from {origin} to {destination}"
        if road is None or cost is None:
            raise ToolError(nothing, cause="not_found")
        line = f"duration: {road.duration}, distance: {road.distance}, cost: {cost}"
        return notebook.found(f"{mode} from {origin} to {destination}", line, nothing)

    return [make_tool(flight_search), make_tool(distance_matrix)]


def _notebook_tools(notebook: Notebook) -> list[Tool]:
    async def notebook_write(search: int, description: str) -> str:
        """Write the whole result of a search into the notebook.

        Args:
            search: The number that stands before the result, such as 3 for [search 3].
            description: A few words on what it holds.
        """
        if not 1 <= search <= len(notebook.searches):
            raise ToolError(
                f"there is no search {search}", cause="arguments", hint="take the number of a result"
            )
        notebook.entries.append((description, notebook.searches[search - 1]))
        return f"written as entry {len(notebook.entries)}"

    async def notebook_read(entry: int | None = None) -> str:
        """Read the notebook.

        Args:
            entry: Only this entry, or null for all.
        """
        chosen = list(enumerate(notebook.entries, 1))
        if entry is not None:
            chosen = [item for item in chosen if item[0] == entry]
        if not chosen:
            raise ToolError("there is no such entry" if entry else "the notebook is empty", cause="not_found")
        return "\n\n".join(f"[entry {number}] {title}\n{text}" for number, (title, text) in chosen)

    return [make_tool(notebook_write, outside=True), make_tool(notebook_read)]
