"""Keeps inspect to the evaluation's folder: its data, its logging and its display."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from inspect_ai.util._display import init_display_type


@contextmanager
def inspect_kept_to(folder: Path) -> Iterator[None]:
    """While it lasts, what inspect would write into the user's data folder (traces, notes to viewers) goes to
    `folder`/.inspect, it shows nothing, and the loggers stay as they were."""
    variables = {
        "XDG_DATA_HOME": str(folder.resolve() / ".inspect"),
        "INSPECT_DISPLAY": "none",
        "INSPECT_TRACE_FILE": str(folder.resolve() / ".inspect" / "trace.log"),
    }
    before = {name: os.environ.get(name) for name in variables}
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    (folder / ".inspect").mkdir(parents=True, exist_ok=True)
    os.environ.update(variables)
    init_display_type("none")  # inspect reads its variable once in a process, which may have been before
    try:
        yield
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
