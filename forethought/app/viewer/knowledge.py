"""What the agent has learned: planning errors, the error taxonomy, lessons. Read only."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from forethought.app.viewer.site import page, runs_of
from forethought.json_files import FileError
from forethought.knowledge.error_taxonomy import load_taxonomy
from forethought.knowledge.planning_errors import PACKAGED, load_planning_errors
from forethought.knowledge.provenance import provenance_path, read_provenance
from forethought.lessons.record import now_utc
from forethought.settings import read_settings


async def planning_errors(request: Request) -> Response:
    """The planning errors that every plan is checked against, and where they were seen."""
    file = read_settings().planning_errors_file
    path = file or PACKAGED
    try:
        errors = await asyncio.to_thread(load_planning_errors, path)
        provenance = await asyncio.to_thread(read_provenance, provenance_path(path))
    except FileError as error:
        return page("error.html.j2", 500, title="Planning errors", text=str(error))
    return page("knowledge/planning_errors.html.j2", errors=errors, file=file, provenance=provenance)


async def taxonomy(request: Request) -> Response:
    """The types of errors that the debugger labels steps with, module by module."""
    return page("knowledge/taxonomy.html.j2", modules=(await asyncio.to_thread(load_taxonomy)).modules)


async def lessons(request: Request) -> Response:
    """The lessons of each collection, the strongest first, those in quarantine last."""
    now = now_utc()
    collections = {
        name: [
            (lesson, round(lesson.strength(now), 2))
            for lesson in sorted(found, key=lambda one: (one.quarantined, -one.strength(now), one.id))
        ]
        for name, found in (await runs_of(request).lessons()).items()
    }
    return page("knowledge/lessons.html.j2", collections=collections)
