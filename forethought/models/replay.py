"""Serving recorded model replies instead of asking a model.

A request is found by what it says, not by its turn, so subtasks that run side by side find theirs in any
order. A request that was recorded several times gets its replies in order, and then the last one again.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from forethought.models.record import FORMAT, digest, logical
from forethought.models.types import ModelReply, ModelRequest, ReplayError
from forethought.redaction import redactor
from forethought.text import one_line

Json = dict[str, Any]
_REPLY = TypeAdapter(ModelReply)


@dataclass(frozen=True)
class Recorded:
    """A recorded call: what was asked, as text lines for comparison, and its reply."""

    number: int
    role: str
    reply_type: str
    lines: tuple[str, ...]
    reply: ModelReply


class ReplayTransport:
    """The calls recorded in `path`. `header` is the recording's first line. Raises ReplayError if it cannot
    be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self.header: Json = {}
        self._calls: dict[str, list[Recorded]] = defaultdict(list)
        self._served: dict[str, int] = defaultdict(int)
        self._asked = 0
        self._scrub = redactor()
        self._read()

    async def send(self, request: ModelRequest) -> ModelReply:
        """The recorded reply. Raises ReplayError, with the closest recorded call, when there is none."""
        self._asked += 1
        asked = logical(request, self._scrub)
        key = digest(asked)
        recorded = self._calls.get(key)
        if not recorded:
            raise self._mismatch(asked)
        at = min(self._served[key], len(recorded) - 1)
        self._served[key] += 1
        return recorded[at].reply

    def _read(self) -> None:
        try:
            text = self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise ReplayError(f"cannot read the recording {self.path}: {why}") from error
        parts: Json = {}
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                self._take(json.loads(line), parts)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                what = f"{type(error).__name__}: {error}" if isinstance(error, KeyError) else str(error)
                raise ReplayError(
                    f"recording {self.path}, line {number}: not a recorded call ({what})"
                ) from error
        if not self.header:
            raise ReplayError(f"recording {self.path} is empty")

    def _take(self, line: Json, parts: Json) -> None:
        if not self.header:
            if line.get("forethought_recording") != FORMAT:
                raise ValueError(f"the first line must say forethought_recording: {FORMAT}")
            self.header = line
        elif "part" in line:
            parts[line["part"]] = line["value"]
        else:
            number = sum(map(len, self._calls.values())) + 1
            self._calls[str(line["key"])].append(_recorded(line, parts, number))

    def _mismatch(self, asked: Json) -> ReplayError:
        what = f"call {self._asked} ({asked['role']}, {asked['reply_type']})"
        message = f"the recording {self.path} has no reply to {what}; record the run again"
        everything = [call for calls in self._calls.values() for call in calls]
        if not everything:
            return ReplayError(message, "it holds no calls")
        lines = _lines(asked)
        alike = [call for call in everything if call.reply_type == asked["reply_type"]] or everything
        closest = max(
            alike,
            key=lambda call: (
                call.role == asked["role"],
                SequenceMatcher(None, call.lines, lines, autojunk=False).ratio(),
            ),
        )
        return ReplayError(message, _difference(closest, lines))


def _recorded(line: Json, parts: Json, number: int) -> Recorded:
    def whole(value: Any) -> Any:
        return parts[value["part"]] if isinstance(value, dict) and set(value) == {"part"} else value

    asked = {
        **line,
        "messages": [{**message, "text": whole(message["text"])} for message in line["messages"]],
        "schema": whole(line.get("schema", {})),
        "functions": whole(line.get("functions", [])),
    }
    return Recorded(number, str(line["role"]), str(line["reply_type"]), _lines(asked), _reply(line))


def _reply(line: Json) -> ModelReply:
    """The reply of a line. Raises ValueError, KeyError or TypeError for anything else."""
    return _REPLY.validate_python({**line["reply"], **line.get("usage", {}), "model": line.get("model", "")})


def _lines(asked: Json) -> tuple[str, ...]:
    """A request as lines to compare."""
    found: list[str] = []
    for message in asked["messages"]:
        found += [f"[{message['role']}]", *message["text"].splitlines()]
        found += [f"[image] {image['mime']} {image['sha256']}" for image in message.get("images", ())]
    found.append("[schema] " + json.dumps(asked["schema"], sort_keys=True))
    found += ["[function] " + json.dumps(function, sort_keys=True) for function in asked["functions"]]
    return tuple(found)


def _difference(closest: Recorded, lines: tuple[str, ...]) -> str:
    """The first line at which the closest recorded call differs from the request."""
    pairs = zip_longest(closest.lines, lines, fillvalue="(nothing more)")
    at, (old, new) = next(
        ((number, pair) for number, pair in enumerate(pairs, start=1) if pair[0] != pair[1]), (0, ("", ""))
    )
    return (
        f"closest: recorded call {closest.number} ({closest.role}, {closest.reply_type}), "
        f"which differs at line {at}\n  recorded: {_around(old, new)}\n  request:  {_around(new, old)}"
    )


def _around(line: str, other: str) -> str:
    """The line from a little before where it leaves `other`, at most 160 characters."""
    same = next((at for at, (a, b) in enumerate(zip(line, other, strict=False)) if a != b), len(line))
    start = max(0, same - 60) if len(line) > 160 else 0
    return f"{'...' if start else ''}{one_line(line[start:], 160)}"
