"""`forethought`: the entry point. Every error leaves here, as one plain line on stderr and an exit code."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

from forethought.starting import expect_sigterm


def run_cli(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Nothing is raised.

    What is slow to load is loaded here, where Ctrl-C is answered for.
    """
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader has left (`| head`); without this, closing stdout at exit would complain again.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _run(arguments: Sequence[str]) -> int:
    import typer

    from forethought.app.commands import app
    from forethought.app.debug.command import with_rerun_method
    from forethought.app.errors import INTERRUPTED
    from forethought.app.tell import tell_error, want_debug

    want_debug(False)
    try:
        code = typer.main.get_command(app).main(
            with_rerun_method(arguments), prog_name="forethought", standalone_mode=False
        )
        return code if isinstance(code, int) else 0
    except typer.Abort:
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:
        return _wrong_use(error, arguments) if _of_the_parser(error) else tell_error(error)
    finally:
        if langsmith := sys.modules.get("forethought.telemetry.langsmith"):
            langsmith.flush()


def main() -> None:
    """The console script."""
    expect_sigterm()
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        # A terminal or pipe that cannot show a character gets a question mark, not a traceback.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    code = run_cli(sys.argv[1:])
    from forethought.app.leaving import leave

    leave(code)


def _open_streams() -> None:
    """A stream that was closed before the start (`>&-`) is None: nothing comes from it, and none sees it."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, open to the end


def _of_the_parser(error: Exception) -> bool:
    """Whether the command line itself was wrong; Typer does not export the base of these errors."""
    return any(kind.__name__ == "ClickException" for kind in type(error).__mro__)


def _wrong_use(error: Any, arguments: Sequence[str]) -> int:
    """An error of the command line's own parser."""
    from forethought.app.commands import app
    from forethought.app.errors import WRONG_USE
    from forethought.app.tell import tell

    if error.__class__.__name__ == "NoArgsIsHelpError":
        print(error.format_message())
        return WRONG_USE
    context = getattr(error, "ctx", None)
    known = {command.callback.__name__ for command in app.registered_commands if command.callback}
    named = f"forethought {arguments[0]}" if arguments and arguments[0] in known else "forethought"
    place = f"{context.command_path if context else named} --help"
    line = error.format_message().rstrip(".")
    if named == "forethought run" and "extra argument" in line:
        line += ": put the TASK in quotes"
    tell(f"{line} (see `{place}`)")
    return WRONG_USE


if __name__ == "__main__":
    main()
