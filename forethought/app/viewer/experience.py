"""Advice of people and from failures, with its evidence, life and effect. Read only."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from forethought.app.experience_import import packaged
from forethought.app.viewer.site import page, runs_of
from forethought.json_files import FileError
from forethought.settings import read_settings


async def experience(request: Request) -> Response:
    """The advice of each collection, and the planning errors that every plan is checked against."""
    try:
        errors = await asyncio.to_thread(packaged, read_settings().planning_errors_file)
    except FileError as error:
        return page("error.html.j2", 500, title="Experience", text=str(error))
    collections = {
        f"Collection {name}": sorted(found, key=lambda one: (not one.in_use, one.state, one.made, one.id))
        for name, found in (await runs_of(request).experience()).items()
    }
    return page(
        "experience.html.j2", taught=bool(collections), collections={**collections, "Planning errors": errors}
    )
