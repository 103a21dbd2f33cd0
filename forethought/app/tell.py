"""Plain lines on stderr: errors and hints, whatever stdout is used for."""

from __future__ import annotations

import logging
import os
import sys

from forethought.app.errors import explain
from forethought.app.text import clean
from forethought.redaction import redact_error, redactor

_LOG = logging.getLogger("forethought")


def tell(line: str) -> None:
    """One plain line on stderr."""
    print(f"forethought: {redactor()(clean(line))}", file=sys.stderr, flush=True)


def tell_error(error: BaseException) -> int:
    """Tell what went wrong and return the exit code; the traceback is logged only where it is asked for."""
    failure = explain(error)
    tell(failure.line)
    for line in str(getattr(error, "detail", "") or "").splitlines():
        tell(line)
    if _LOG.isEnabledFor(logging.DEBUG):
        redact_error(error, redactor())
        _LOG.error("traceback", exc_info=error)
    return failure.code


def want_debug(wanted: bool) -> None:
    """Whether tracebacks are logged: by --debug or by FORETHOUGHT_DEBUG."""
    told = os.environ.get("FORETHOUGHT_DEBUG", "").lower() not in {"", "0", "false", "no", "off"}
    _LOG.setLevel(logging.DEBUG if wanted or told else logging.WARNING)
