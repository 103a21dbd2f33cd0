"""Log lines: plain text, or one JSON object a line (FORETHOUGHT_LOG_FORMAT=json); secrets are blotted out."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from forethought.secrecy import scrubber
from forethought.telemetry.where import here

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_TEXT = "%(levelname)s %(name)s: %(message)s"


class ScrubbedFormatter(logging.Formatter):
    """Plain lines without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        """See logging.Formatter."""
        return scrubber()(super().format(record))


class JsonFormatter(ScrubbedFormatter):
    """A line a record: time (UTC), level, logger, message, where it was, and an operation's fields."""

    def format(self, record: logging.LogRecord) -> str:
        """See logging.Formatter."""
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **here(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            told["traceback"] = self.formatException(record.exc_info)
        return scrubber()(json.dumps(told, ensure_ascii=False, default=str))


def configure(environment: Mapping[str, str]) -> None:
    """Have this process log as FORETHOUGHT_LOG_FORMAT and _LOG_LEVEL say, on stderr. For a command; a server
    has handlers of its own. What is no such value is left to the settings to refuse."""
    as_json = environment.get("FORETHOUGHT_LOG_FORMAT", "").lower() == "json"
    for handler in logging.getLogger().handlers:
        if type(handler) is logging.StreamHandler:  # the entry point's own, and nobody else's
            handler.setFormatter(JsonFormatter() if as_json else ScrubbedFormatter(_TEXT))
    level = environment.get("FORETHOUGHT_LOG_LEVEL", "").upper()
    logging.getLogger("forethought.run").setLevel(level if level in LEVELS else logging.NOTSET)
