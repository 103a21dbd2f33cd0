"""`forethought`: the entry point. Every error leaves here, as one plain line on stderr and an exit code."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

import typer

from forethought.app.commands import app
from forethought.app.debug_command import with_rerun_method
from forethought.app.errors import FAILED, INTERRUPTED, WRONG_USE
from forethought.app.tell import tell, tell_error, want_debug

_CLICK_ERROR: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
"""The base of the parser's errors, which Typer does not export."""


def run_cli(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Nothing is raised."""
    want_debug(False)
    try:
        code = typer.main.get_command(app).main(
            with_rerun_method(arguments), prog_name="forethought", standalone_mode=False
        )
        return code if isinstance(code, int) else 0
    except _CLICK_ERROR as error:
        return _wrong_use(error)
    except (typer.Abort, KeyboardInterrupt):
        tell("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has left (`| head`); without this, closing stdout at exit would complain again.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        return tell_error(error)


def main() -> None:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal or pipe that cannot show a character gets a question mark, not a traceback.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    sys.exit(run_cli(sys.argv[1:]))


def _wrong_use(error: Any) -> int:
    """An error of the command line's own parser."""
    if error.__class__.__name__ == "NoArgsIsHelpError":
        print(error.format_message())
        return WRONG_USE
    context = getattr(error, "ctx", None)
    place = f"{context.command_path} --help" if context else "forethought --help"
    tell(f"{error.format_message().rstrip('.')} (see `{place}`)")
    return WRONG_USE


if __name__ == "__main__":
    main()
