"""Log lines: plain text, or one JSON object a line (FORETHOUGHT_LOG_FORMAT=json); secrets are redacted."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from forethought.redaction import redact_json, redactor
from forethought.telemetry.operations import here
from forethought.text import escape_hidden

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_TEXT = "%(levelname)s %(name)s: %(message)s"


class ScrubbedFormatter(logging.Formatter):
    """Plain lines without secrets. What a message, or an error in a traceback, says cannot begin a line that
    looks like another record's, nor steer a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """See logging.Formatter."""
        record.exc_text = None  # as another handler's formatter may have left it
        return super().format(record)

    def formatMessage(self, record: logging.LogRecord) -> str:
        """See logging.Formatter."""
        return escape_hidden(redactor()(super().formatMessage(record)))

    def formatException(self, ei: Any) -> str:
        """See logging.Formatter."""
        lines = redactor()(super().formatException(ei)).split("\n")
        return "\n".join(f"    {escape_hidden(line)}" for line in lines)


class JsonFormatter(logging.Formatter):
    """A line a record: time (UTC), level, logger, message, where it was, and an operation's fields."""

    def format(self, record: logging.LogRecord) -> str:
        """See logging.Formatter."""
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **here(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        # Before they are written: a secret's text may stand across a line's own characters.
        return escape_hidden(json.dumps(redact_json(fields, redactor()), ensure_ascii=False, allow_nan=False))


def configure(environment: Mapping[str, str]) -> None:
    """Have this process log as FORETHOUGHT_LOG_FORMAT and _LOG_LEVEL say, on stderr. For a command; a server
    has handlers of its own. What is no such value is left to the settings to refuse."""
    as_json = environment.get("FORETHOUGHT_LOG_FORMAT", "").lower() == "json"
    for handler in logging.getLogger().handlers:
        if type(handler) is logging.StreamHandler:  # the entry point's own, and nobody else's
            handler.setFormatter(JsonFormatter() if as_json else ScrubbedFormatter(_TEXT))
    level = environment.get("FORETHOUGHT_LOG_LEVEL", "").upper()
    logging.getLogger("forethought.run").setLevel(level if level in LEVELS else logging.NOTSET)
