"""What `tools.documents.reader` starts: it reads one file or page after another, until its input ends.

A job is a line {job: "document", name}, {job: "content", name}, {job: "members", name}, {job: "sql", query,
tables}, {job: "picture", page} or {job: "page", url, media_type, charset, raw}, each with {size, seconds,
memory}, and then `size` bytes. An answer is a line {sections, unit, note}, {text, tables}, {members} with
their bytes after it, {columns, rows, more, notes, schema},
{text}, {mime, data in base64, width, height, note}, or {unreadable: [what, hint, cause]}, with `last` where
the process is not to be used again. A process that runs out of memory gives none and ends.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import Any

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

from forethought.tools.documents.document import Unreadable

_TIRED = 256 << 20
"""Growth in bytes. A new process replaces one that has grown more: the next file needs the memory."""
_GRACE_S = 5


def main() -> None:
    """Serve."""
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)  # the answer must not contain the output of a parser
    memory_at_start = _peak_memory()
    for line in iter(source.readline, b""):
        job = json.loads(line)
        _limit(job["memory"], job["seconds"])
        answer = _answer(job, source.read(job["size"]))
        contents = answer.pop("contents", ())
        answer.setdefault("last", _peak_memory() - memory_at_start > _TIRED)
        target.write(json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        target.writelines(contents)
        target.flush()


def _limit(memory: int, seconds: float) -> None:
    """Limit the address space to `memory` bytes, and the processor's time to `seconds` and a little more."""
    if resource is None:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    wanted = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_CPU: int(used.ru_utime + used.ru_stime + seconds) + _GRACE_S,
    }
    for limit, value in wanted.items():
        with suppress(ValueError, OSError):  # a system that does not have it, or a lower limit of its own
            resource.setrlimit(limit, (value, resource.getrlimit(limit)[1]))


def _answer(job: dict[str, Any], data: bytes) -> dict[str, Any]:
    from forethought.tools.documents.content import read_content
    from forethought.tools.documents.formats import read_document, text_of

    try:
        if job["job"] == "page":
            return {"text": text_of(job["url"], job["media_type"], job["charset"], data, job["raw"])}
        if job["job"] == "members":
            return _members(data, job["name"])
        if job["job"] == "sql":
            from forethought.tools.tables.engine import answer

            return {**answer(job, data), "last": True}
        if job["job"] == "content":
            return asdict(read_content(data, job["name"]))
        if job["job"] == "picture":
            from forethought.tools.media.picture import prepare

            picture = asdict(prepare(data, job["page"]))
            return {**picture, "data": base64.b64encode(picture["data"]).decode()}
        document = read_document(data, job["name"])
    except Unreadable as error:
        return {"unreadable": [error.what, error.hint, error.cause]}
    sections = [[section.text, section.place, section.heading] for section in document.sections]
    return {"sections": sections, "unit": document.unit, "note": document.note}


def _members(data: bytes, name: str) -> dict[str, Any]:
    from forethought.tools.documents.formats import guarded
    from forethought.tools.documents.members import read_members

    found = guarded(partial(read_members, name=name), data, name)
    listed = [[each.name, len(each.data), each.reason, each.size, each.about] for each in found]
    return {"members": listed, "contents": [each.data for each in found]}


def _peak_memory() -> int:
    """Bytes. On Linux a process begins with the peak of the one that started it, which may be far larger."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit if resource is not None else 0
