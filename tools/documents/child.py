"""What `tools.documents.reader` starts: reads one document or page after another, until its input ends.

A job is a line {job: "document", name, size}, {job: "content", name, size} or {job: "page", url, media_type,
charset, raw, size}, followed by as many bytes; an answer is a line {sections, unit, note}, {text, tables},
{text}, or {unreadable: [what, hint, cause]}, with `last` where the process is not to be used again.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict
from typing import Any

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

from forethought.tools.documents.document import PART_HINT, Unreadable

MEMORY = 4 << 30
"""Bytes of address space."""
_TIRED = 1 << 30
"""Bytes that a process may grow by before it is not used again."""


def main() -> None:
    """Serve."""
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)  # what a parser prints is no answer
    if resource is not None:
        with suppress(ValueError, OSError):  # a system that does not have it, or a lower limit of its own
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    memory_at_start = _peak_memory()
    for line in iter(source.readline, b""):
        job = json.loads(line)
        answer = _answer(job, source.read(job["size"]))
        answer.setdefault("last", _peak_memory() - memory_at_start > _TIRED)
        target.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        target.flush()


def _answer(job: dict[str, Any], data: bytes) -> dict[str, Any]:
    from forethought.tools.documents.content import read_content
    from forethought.tools.documents.formats import read_document, text_of

    try:
        if job["job"] == "page":
            return {"text": text_of(job["url"], job["media_type"], job["charset"], data, job["raw"])}
        if job["job"] == "content":
            return asdict(read_content(data, job["name"]))
        document = read_document(data, job["name"])
    except Unreadable as error:
        return {"unreadable": [error.what, error.hint, error.cause]}
    except MemoryError:
        return {"unreadable": ["needs too much memory to be read", PART_HINT, "limit"], "last": True}
    sections = [[section.text, section.place, section.heading] for section in document.sections]
    return {"sections": sections, "unit": document.unit, "note": document.note}


def _peak_memory() -> int:
    """Bytes. On Linux a process begins with the peak of the one that started it, which may be far larger."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit if resource is not None else 0
