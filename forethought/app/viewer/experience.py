"""What people and failures have taught, and what every plan and step is compared with. Read only."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from forethought.app.viewer.site import page, runs_of
from forethought.json_files import FileError
from forethought.knowledge.error_taxonomy import load_taxonomy
from forethought.knowledge.planning_errors import PACKAGED, load_planning_errors
from forethought.knowledge.provenance import provenance_path, read_provenance
from forethought.settings import read_settings


async def experience(request: Request) -> Response:
    """The advice of each collection, the planning errors, and the debugger's types of errors."""
    file = read_settings().planning_errors_file
    path = file or PACKAGED
    try:
        errors = await asyncio.to_thread(load_planning_errors, path)
        provenance = await asyncio.to_thread(read_provenance, provenance_path(path))
    except FileError as error:
        return page("error.html.j2", 500, title="Experience", text=str(error))
    collections = {
        name: sorted(found, key=lambda one: (not one.in_use, one.state, one.made, one.id))
        for name, found in (await runs_of(request).experience()).items()
    }
    modules = (await asyncio.to_thread(load_taxonomy)).modules
    return page(
        "experience.html.j2",
        collections=collections,
        errors=errors,
        file=file,
        provenance=provenance,
        modules=modules,
    )
