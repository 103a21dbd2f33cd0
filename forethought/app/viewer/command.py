"""view: the run viewer over the local database, in the browser."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from forethought.app.command_flags import ModelOptions, argument, flag
from forethought.app.errors import ANSWERED
from forethought.app.runner import open_runner


class ViewOptions(ModelOptions):
    """The flags of `view`."""

    offers = "tools"
    prints_json = False

    thread: str | None = argument("Thread to open.", "THREAD", None)
    host: str = flag(
        help="Address to listen on. Others need an access token.",
        metavar="ADDRESS",
        default="127.0.0.1",
    )
    port: int | None = flag(help="Port.", metavar="N", min=1, max=65535, show_default="8123, or a free one")
    no_browser: bool = flag(help="Do not open the browser.", default=False)
    evaluations: list[Path] | None = flag(
        help="Evaluation folder to show too (repeatable).", metavar="FOLDER"
    )


def view(options: ViewOptions) -> int:
    """Inspect and control runs in the browser."""
    from forethought.app.viewer.serve import serve

    with open_runner(as_json=False) as runner, suppress(KeyboardInterrupt):
        runner.run(serve(options, runner.shutdown))
    return ANSWERED
