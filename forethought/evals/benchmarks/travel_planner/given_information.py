"""Sole-planning with the information behind a tool, for tasks that would be too long otherwise: all of it is
there, and the task names every table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from forethought.evals.benchmarks.travel_planner.reference import table_text
from forethought.tools.base import Tool, ToolError, make_tool


def given_information_tool(reference: Mapping[str, Any]) -> Tool:
    """The tool over the reference information of one task."""
    by_title = {title.casefold(): (title, content) for title, content in reference.items()}

    async def given_information(titles: list[str]) -> str:
        """Read tables of the given information.

        Args:
            titles: Titles of tables, as the task lists them.
        """
        unknown = [title for title in titles if title.strip().casefold() not in by_title]
        if unknown or not titles:
            named = f"there is no table {unknown[0]!r}" if unknown else "no title is given"
            raise ToolError(named, cause="not_found", hint="the task lists the titles")
        chosen = [by_title[title.strip().casefold()] for title in titles]
        return "\n\n".join(f"## {title}\n{table_text(content)}" for title, content in chosen)

    return make_tool(given_information)
