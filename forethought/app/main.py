"""`forethought`: the entry point. Every error leaves here, as one plain line on stderr and an exit code."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any, NoReturn


def run_cli(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Nothing is raised.

    What is slow to load is loaded here, where Ctrl-C is handled.
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
    from forethought.app.errors import INTERRUPTED, echo_error, enable_debug
    from forethought.app.files import with_all_files

    enable_debug(False)
    try:
        code = typer.main.get_command(app).main(
            with_rerun_method(with_all_files(arguments)), prog_name="forethought", standalone_mode=False
        )
        return code if isinstance(code, int) else 0
    except typer.Abort:
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:
        # Typer does not export the base of its parser's errors.
        return _wrong_use(error) if hasattr(error, "format_message") else echo_error(error)
    finally:
        if langsmith := sys.modules.get("forethought.telemetry.langsmith"):
            langsmith.flush()


def _wrong_use(error: Any) -> int:
    """Tell an error of the command line's parser."""
    from forethought.app.errors import WRONG_USE, echo
    from forethought.state.context import Context

    if type(error).__name__ == "NoArgsIsHelpError":
        print(error.format_message())
        return WRONG_USE
    command = error.ctx.command_path if getattr(error, "ctx", None) else "forethought"
    line = " ".join(error.format_message().split()).rstrip(".")
    name = str(getattr(error, "option_name", "")).lstrip("-").replace("-", "_")
    if name in Context.model_fields and command in ("forethought run", "forethought chat"):
        line = f"No such option: {error.option_name}; write --set {name}=VALUE"
    if command == "forethought run" and "extra argument" in line:
        line += ": put the TASK in quotes"
    echo(f"{line} (see `{command} --help`)")
    return WRONG_USE


def main() -> None:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal or pipe that cannot show a character gets a question mark, not a traceback.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    _exit(run_cli(sys.argv[1:]))


def _exit(code: int) -> NoReturn:
    """End the process without waiting for a tool that was cancelled and whose thread cannot be stopped."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        atexit._run_exitfuncs()  # among them those that send what is traced
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
