"""Serving recorded model replies instead of asking a model.

A request is found by what it says, not by its turn, so subtasks that run side by side find theirs in any
order. A request that was recorded several times gets its replies in order, and then the last one again.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from forethought.models.record import FORMAT, digest, logical
from forethought.models.types import ModelReply, ModelRequest, ReplayError
from forethought.redaction import redactor

_REPLY = TypeAdapter(ModelReply)


class ReplayTransport:
    """The calls recorded in `path`. `header` is the recording's first line. Raises ReplayError if it cannot
    be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self.header: dict[str, Any] = {}
        self._replies: dict[str, list[ModelReply]] = defaultdict(list)
        self._served: dict[str, int] = defaultdict(int)
        self._asked = 0
        self._scrub = redactor()
        try:
            text = self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise ReplayError(f"cannot read the recording {self.path}: {why}") from error
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                self._read(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                what = f"{type(error).__name__}: {error}" if isinstance(error, KeyError) else str(error)
                raise ReplayError(
                    f"recording {self.path}, line {number}: not a recorded call ({what})"
                ) from error
        if not self.header:
            raise ReplayError(f"recording {self.path} is empty")

    async def send(self, request: ModelRequest) -> ModelReply:
        """The recorded reply. Raises ReplayError when there is none."""
        self._asked += 1
        key = digest(logical(request, self._scrub))
        if not (recorded := self._replies.get(key)):
            what = f"call {self._asked} ({request.role}, {request.reply})"
            again = f" with {self.header['made_with']}" if "made_with" in self.header else ""
            raise ReplayError(
                f"the recording {self.path} has no reply to {what}; record the run again{again}"
            )
        at = min(self._served[key], len(recorded) - 1)
        self._served[key] += 1
        return recorded[at]

    def _read(self, line: dict[str, Any]) -> None:
        """Take in a line. Raises ValueError, KeyError, TypeError or AttributeError for what is none of ours.

        The lines of parts hold what was asked, which is known by its key.
        """
        if not self.header:
            if line.get("forethought_recording") != FORMAT:
                raise ValueError(f"the first line must say forethought_recording: {FORMAT}")
            self.header = line
        elif "part" not in line:
            reply = {**line["reply"], **line.get("usage", {}), "model": line.get("model", "")}
            self._replies[str(line["key"])].append(_REPLY.validate_python(reply))
