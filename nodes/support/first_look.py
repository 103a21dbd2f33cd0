"""A first look at a task's files, before the first plan and without a model.

A small file is shown whole; of another an outline, the beginning and how to read on. The look is made once
for a thread's files and stands in the state: a checkpoint stores it once, a fork or another server's worker
shows the same text without reading anything again, and a provider's cache is served by the same prefix.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Sequence
from typing import Literal

from forethought.nodes.support.signs import chosen, document_signs, file_name_signs, task_signs
from forethought.state.agent import FileRef
from forethought.state.look import FileLook, Look, Sign
from forethought.text import one_line
from forethought.tools.base import ToolError
from forethought.tools.documents.document import Document, split, stretches
from forethought.tools.documents.outline import outline
from forethought.tools.documents.reader import load_document
from forethought.tools.files import FileStore

LONGEST_S = 45.0
"""For all files together. What is not read by then is left to `read_file`."""
LEAST_CHARACTERS = 300
"""A file's share of the budget, at least: of more files than have room for that, the last are not named."""
_AT_ONCE = 2
"""As many as there are readers kept ready (`tools.documents.reader`)."""
_OUTLINE_SHARE = 0.35
_LINE = 100


async def look_at(
    files: Sequence[FileRef], store: FileStore, budget: int, seconds: float = LONGEST_S
) -> Look:
    """The look at `files`, whose texts have at most `budget` characters together."""
    named = files[: budget // LEAST_CHARACTERS]
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(item: FileRef) -> _Seen:
        async with gate:
            return await asyncio.to_thread(_see, store, item)

    readings = [asyncio.create_task(one(item)) for item in named]
    done, late = await asyncio.wait(readings, timeout=seconds) if readings else (set(), set())
    for reading in late:
        reading.cancel()
    seen = [
        reading.result()
        if reading in done
        else _Seen(item["name"], "takes long to read; use read_file for it")
        for item, reading in zip(named, readings, strict=True)
    ]
    names = [item["name"] for item in files]
    return Look(
        key=look_key(files, budget),
        files=await asyncio.to_thread(_shown, seen, budget),
        unseen=len(files) - len(named),
        signs=[*file_name_signs(names), *(sign for item in seen for sign in item.signs)],
    )


def look_key(files: Sequence[FileRef], budget: int) -> str:
    """What a look at these files depends on."""
    content = json.dumps([[item["name"], item["hash"]] for item in files] + [[budget]])
    return hashlib.sha256(content.encode()).hexdigest()


def look_values(look: Look, task: str) -> dict[str, object]:
    """The look for a prompt: {files: [{name, shown, text, origin}], unseen, signs: lines or ''}."""
    signs: list[Sign] = [*task_signs(task), *chosen(look["signs"], task)]
    left_out = len(look["signs"]) - len(chosen(look["signs"], task))
    lines = [sign_line(number, sign) for number, sign in enumerate(signs, 1)]
    if left_out:
        lines.append(f"{left_out} more lines of the files look like signs.")
    return {"files": look["files"], "unseen": look["unseen"], "signs": "\n".join(lines)}


def sign_line(number: int, sign: Sign) -> str:
    """'S2 [exception] terms.pdf, page 3: "..."'."""
    more = f" (and {sign['more']} more)" if sign["more"] else ""
    return f'S{number} [{sign["kind"]}] {sign["place"]}: "{sign["text"]}"{more}'


class _Seen:
    """A file's text, or why there is none."""

    def __init__(self, name: str, problem: str = "", document: Document | None = None) -> None:
        self.name = name
        self.problem = one_line(f"{name} {problem}", LEAST_CHARACTERS) if problem else ""
        self.document = document
        self.text = "\n\n".join(filter(None, (document.note, document.text))) if document else self.problem
        self.signs = document_signs(name, document) if document else []


def _see(store: FileStore, item: FileRef) -> _Seen:
    try:
        return _Seen(item["name"], document=load_document(store, item["hash"], item["name"]))
    except ToolError as error:
        return _Seen(item["name"], f"{error}. {error.hint}".removeprefix(item["name"]).strip())


def _shown(seen: Sequence[_Seen], budget: int) -> list[FileLook]:
    shares = fair_shares([len(item.text) for item in seen], budget)
    looks = []
    for item, share in zip(seen, shares, strict=True):
        shown: Literal["whole", "part", "nothing"] = "nothing" if item.document is None else "whole"
        text = item.text
        if len(text) > share and item.document is not None:
            shown, text = "part", _part_view(item.document, len(text), share)
        looks.append(FileLook(name=item.name, shown=shown, text=text, origin=f"file:{item.name}"))
    return looks


def fair_shares(lengths: Sequence[int], budget: int) -> list[int]:
    """How much of each text is shown: the short ones whole, the others the same of what is left."""
    shares = [0] * len(lengths)
    for rank, i in enumerate(sorted(range(len(lengths)), key=lambda i: lengths[i])):
        shares[i] = min(lengths[i], budget // (len(lengths) - rank))
        budget -= shares[i]
    return shares


def _part_view(document: Document, length: int, limit: int) -> str:
    """The outline and the beginning of a document that has no room, in at most `limit` characters."""
    parts = split(document)
    count = f"{len(parts)} parts" if len(parts) > 1 else "one part"
    lead = f"Not shown whole: {length} characters, for read_file in {count}."
    pieces = [
        lead,
        one_line(document.note, _LINE),
        outline(parts, int(limit * _OUTLINE_SHARE), document.unit),
    ]
    rest = "[The file goes on: read_file with part=0000, of 0000 parts, shows what is missing.]"
    room = limit - sum(len(piece) + 2 for piece in pieces) - len(rest) - len("The beginning:\n\n") - 2
    number = 1
    if room >= _LINE:
        pieces.append("The beginning:")
    for number, part in enumerate(parts, 1):
        if room < _LINE:
            break
        pieces.append(part.text if len(part.text) <= room else next(stretches(part.text, room)).rstrip())
        room -= len(part.text) + 2
        if room < 0:
            break
    which = f"part={number}" if len(parts) > 1 else "this name"
    pieces.append(f"[The file goes on: read_file with {which} shows what is missing.]")
    return "\n\n".join(filter(None, pieces))
