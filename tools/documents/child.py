"""What `tools.documents.apart` starts: reads one document or page after another, until its input ends.

A job is {job: "document", name} or {job: "page", url, media_type, charset, raw}, with the bytes; an answer is
{sections, unit, note}, {text}, or {unreadable: [what, hint, cause]}.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import Any

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

from forethought.tools.documents.apart import HEADER
from forethought.tools.documents.document import Unreadable

MEMORY = 4 << 30
"""Bytes of address space."""
_TIRED = 1 << 30
"""Bytes that a process may grow by before it is not used again."""
_TOO_BIG = ["needs too much memory to be read", "Ask the user for the part that matters.", "limit"]


def main() -> None:
    """Serve."""
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)  # what a parser prints is no answer
    _limit_memory()
    memory_at_start = _peak_memory()
    while len(head := source.read(HEADER.size)) == HEADER.size:
        lengths = HEADER.unpack(head)
        job, data = json.loads(source.read(lengths[0])), source.read(lengths[1])
        _limit_time(float(job["seconds"]))
        answer = _answer(job, data)
        del data
        tired = _peak_memory() - memory_at_start > _TIRED
        text = json.dumps({**answer, "last": "memory" in answer or tired}, ensure_ascii=False)
        payload = text.encode("utf-8", "replace")
        target.write(HEADER.pack(len(payload), 0) + payload)
        target.flush()


def _answer(job: dict[str, Any], data: bytes) -> dict[str, Any]:
    try:
        return _page(job, data) if job["job"] == "page" else _document(job, data)
    except Unreadable as error:
        return {"unreadable": [error.what, error.hint, error.cause]}
    except MemoryError:
        return {"unreadable": _TOO_BIG, "memory": True}


def _document(job: dict[str, Any], data: bytes) -> dict[str, Any]:
    from forethought.tools.documents.read import read_document

    document = read_document(data, job["name"])
    sections = [[section.text, section.place, section.heading] for section in document.sections]
    return {"sections": sections, "unit": document.unit, "note": document.note}


def _page(job: dict[str, Any], data: bytes) -> dict[str, Any]:
    from forethought.tools.web.text import text_of

    return {"text": text_of(job["url"], job["media_type"], job["charset"], data, job["raw"])}


def _limit_memory() -> None:
    if resource is not None:
        with suppress(ValueError, OSError):  # a system that does not have it, or a lower limit of its own
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _limit_time(seconds: float) -> None:
    """Computing time, for the case that nobody is left who could kill this process."""
    if resource is not None:
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        with suppress(ValueError, OSError):
            hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
            resource.setrlimit(resource.RLIMIT_CPU, (int(used + seconds) + 5, hard))


def _peak_memory() -> int:
    """Bytes. On Linux a process begins with the peak of the one that started it, which may be far larger."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit if resource is not None else 0
