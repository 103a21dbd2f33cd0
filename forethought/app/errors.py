"""What goes to stderr: a line and an exit code for each exception.

Exit codes: 0 answered, or stopped by SIGTERM; 1 failed; 2 wrong use; 3 an answer that did not pass; 4 waits
for a person; 130 interrupted by Ctrl-C.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pydantic import ValidationError

from forethought.app.text import one_line
from forethought.redaction import redact_error, redactor
from forethought.storage.errors import StorageError, database_of, is_postgres, postgres_line
from forethought.text import escape_hidden

ANSWERED, FAILED, WRONG_USE, NOT_PASSED, WAITS, INTERRUPTED = 0, 1, 2, 3, 4, 130
DRAINED = 0
"""Stopped by SIGTERM as it should: the thread can be resumed."""
_EXIT_CODES = {
    "FilesError": WRONG_USE,
    "TaskError": WRONG_USE,
    "McpSetupError": WRONG_USE,
    "DataError": WRONG_USE,
    "FileError": WRONG_USE,
    "TrainingError": WRONG_USE,
    "InfrastructureError": FAILED,
    "ConfigurationError": WRONG_USE,
    "ModelError": FAILED,
}
"""This project's exceptions by name, so that their modules need not be imported."""
_LOG = logging.getLogger("forethought")


class CliError(Exception):
    """What a person can mend: a line that says how, and the exit code."""

    def __init__(self, line: str, code: int = WRONG_USE) -> None:
        super().__init__(line)
        self.line, self.code = line, code


@contextmanager
def input_errors() -> Iterator[None]:
    """Make one line of what input raises that cannot be used: a ValueError."""
    try:
        yield
    except ValidationError as error:
        from forethought.settings import reason_of

        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise CliError(one_line(f"{place}: {reason_of(first)}".removeprefix(": "))) from error
    except ValueError as error:
        raise CliError(one_line(error, 1000)) from error


@dataclass(frozen=True)
class Failure:
    """A failed command, as it is shown. `internal`: by a mistake of ours, whose traceback is worth having."""

    line: str
    code: int
    internal: bool = False


def explain(error: BaseException) -> Failure:
    """The line and the exit code for an exception, whatever it is."""
    if isinstance(error, CliError):
        return Failure(error.line, error.code)
    if isinstance(error, sqlite3.Error):
        return Failure(_database_line(error), FAILED)
    if isinstance(error, StorageError):
        return Failure(one_line(error, 1000), WRONG_USE if error.wrong_use else FAILED)
    if is_postgres(error):
        return Failure(one_line(postgres_line(error), 1000), FAILED)
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return Failure(f"{where}{error.strerror or one_line(error)}", FAILED)
    for kind in type(error).__mro__:
        if kind.__module__.startswith("forethought.") and kind.__name__ in _EXIT_CODES:
            return Failure(one_line(error, 1000), _EXIT_CODES[kind.__name__])
    what = f"{type(error).__name__}: {one_line(error, 300)}".rstrip(": ")
    return Failure(
        f"internal error: {what}; please report it; --debug shows the traceback", FAILED, internal=True
    )


def _database_line(error: sqlite3.Error) -> str:
    advice = {
        "disk is full": "free some space; progress is saved",
        "locked": "another program is using it; try again",
        "malformed": "the file is damaged; name another one with --db or FORETHOUGHT_DB",
        "": "choose another place with --db or FORETHOUGHT_DB",
    }
    hint = next(hint for part, hint in advice.items() if part in str(error))
    return f"the thread database {one_line(database_of(error), 300)}".rstrip() + f": {error}: {hint}"


def echo(line: str) -> None:
    """Print one plain line on stderr, redacted; what would begin another, or hide something, is escaped."""
    print(f"forethought: {escape_hidden(redactor()(line))}", file=sys.stderr, flush=True)


def echo_error(error: BaseException, tell: Callable[[str], None] = echo) -> int:
    """Tell what went wrong, with --debug the traceback too. Returns the exit code."""
    failure = explain(error)
    tell(failure.line)
    if _LOG.isEnabledFor(logging.DEBUG):
        redact_error(error, redactor())
        _LOG.error("traceback", exc_info=error)
    return failure.code


def enable_debug(wanted: bool) -> None:
    """Log tracebacks if `wanted`, or if FORETHOUGHT_DEBUG asks for it."""
    from_environment = os.environ.get("FORETHOUGHT_DEBUG", "").lower() not in {"", "0", "false", "no", "off"}
    _LOG.setLevel(logging.DEBUG if wanted or from_environment else logging.WARNING)
