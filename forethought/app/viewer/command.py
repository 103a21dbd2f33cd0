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

    thread: str | None = argument("Open this thread; by default, the list of threads.", "THREAD", None)
    host: str = flag(
        help="Address to listen on. Any other than this machine's own needs an access token.",
        metavar="ADDRESS",
        default="127.0.0.1",
    )
    port: int | None = flag(
        help="Port to listen on; by default 8123, or a free one.", metavar="N", min=1, max=65535
    )
    no_browser: bool = flag(help="Do not open the browser.", default=False)
    evaluations: list[Path] | None = flag(
        help="Show this evaluation too, a folder of `eval run`; may be repeated.", metavar="FOLDER"
    )


def view(options: ViewOptions) -> int:
    """Look at runs in the browser, and act on them."""
    from forethought.app.viewer.serve import serve

    with open_runner(as_json=False) as runner, suppress(KeyboardInterrupt):
        runner.run(serve(options, runner.shutdown))
    return ANSWERED
