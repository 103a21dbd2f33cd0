"""view: the run viewer over the local database, in the browser."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from forethought.app.command_flags import ModelOptions, argument, flag
from forethought.app.errors import ANSWERED, CliError, echo
from forethought.app.options import settings_from
from forethought.storage import address_of, open_threads


class ViewOptions(ModelOptions):
    """The flags of `view`."""

    offers = "tools"
    prints_json = False

    thread: str | None = argument("Open this thread; by default, the list of threads.", "THREAD", None)
    port: int = flag(help="Port of the viewer.", metavar="N", default=8123, min=1, max=65535)
    evaluations: list[Path] | None = flag(
        help="Show this evaluation too, a folder of `eval run`; may be repeated.", metavar="FOLDER"
    )


def view(options: ViewOptions) -> int:
    """Look at runs in the browser, and act on them."""
    import uvicorn

    from forethought.app.viewer.evaluations import named_folders
    from forethought.app.viewer.local import LocalRuns
    from forethought.app.viewer.site import ROOT, make_site

    settings = settings_from(options)

    @asynccontextmanager
    async def lifespan(app: object) -> AsyncIterator[None]:
        async with open_threads(address_of(settings), settings.key, create=True) as saver:
            site.state.runs = LocalRuns(saver, settings)
            yield

    site = make_site(None, lifespan=lifespan)
    try:
        listener = socket.create_server(("127.0.0.1", options.port))
    except OSError as error:
        raise CliError(
            f"--port {options.port}: {os.strerror(error.errno or 0)}; choose another port"
        ) from error
    site.state.evaluations = named_folders(options.evaluations or [])
    place = f"threads/{options.thread}" if options.thread else ""
    echo(f"http://127.0.0.1:{options.port}{ROOT}/{place} (Ctrl-C ends it)")
    uvicorn.Server(uvicorn.Config(site, log_level="warning")).run(sockets=[listener])
    return ANSWERED
