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
from dataclasses import dataclass
from typing import Any

from forethought.nodes.support.signs import chosen, document_signs, file_name_signs, task_signs
from forethought.state.agent import FileRef
from forethought.state.look import FileLook, Look, Sign
from forethought.text import one_line
from forethought.tools.base import ToolError
from forethought.tools.documents.document import Document, Part, split
from forethought.tools.documents.outline import outline
from forethought.tools.documents.reader import load_document
from forethought.tools.files import FileStore

LONGEST_S = 45.0
"""For all files together. What is not read by then is left to `read_file`."""
LEAST_CHARACTERS = 400
"""A file's share of the budget, at least: of more files than have room for that, the last are not named."""
_AT_ONCE = 2
"""As many as there are readers kept ready (`tools.documents.reader`)."""
_OUTLINE_SHARE = 0.35


@dataclass(frozen=True)
class _Seen:
    name: str
    document: Document | None = None
    problem: str = ""
    """Why there is no text."""
    signs: Sequence[Sign] = ()

    @property
    def text(self) -> str:
        """As `read_file` shows it."""
        if self.document is None:
            return one_line(self.problem, LEAST_CHARACTERS)
        return "\n\n".join(filter(None, (self.document.note, self.document.text)))


async def look_at(
    files: Sequence[FileRef], store: FileStore, budget: int, seconds: float = LONGEST_S
) -> Look:
    """The look at `files`, whose texts have at most `budget` characters together."""
    named = files[: budget // LEAST_CHARACTERS]
    gate = asyncio.Semaphore(_AT_ONCE)

    async def see(item: FileRef) -> _Seen:
        async with gate:
            return await asyncio.to_thread(_see, store, item)

    readings = [asyncio.create_task(see(item)) for item in named]
    if readings:
        await asyncio.wait(readings, timeout=seconds)
    seen = []
    for item, reading in zip(named, readings, strict=True):
        late = _Seen(item["name"], problem=f"{item['name']} takes long to read; read_file may have it")
        seen.append(late if reading.cancel() else reading.result())
    signs = [
        *file_name_signs([item["name"] for item in files]),
        *(sign for item in seen for sign in item.signs),
    ]
    shown = await asyncio.to_thread(_shown, seen, budget)
    return Look(key=look_key(files, budget), files=shown, unseen=len(files) - len(named), signs=signs)


def look_key(files: Sequence[FileRef], budget: int) -> str:
    """What a look at these files depends on."""
    content = json.dumps([budget, [[item["name"], item["hash"]] for item in files]])
    return hashlib.sha256(content.encode()).hexdigest()


def look_values(look: Look, task: str) -> dict[str, Any]:
    """The look for a prompt: {files: [{name, shown, text, origin}], unseen, signs: a line a sign}."""
    of_files = chosen(look["signs"], task)
    signs = [*task_signs(task), *of_files]
    lines = [sign_line(number, sign) for number, sign in enumerate(signs, 1)]
    if more := len(look["signs"]) - len(of_files):
        lines.append(f"(and {more} more in the files)")
    return {"files": look["files"], "unseen": look["unseen"], "signs": "\n".join(lines)}


def sign_line(number: int, sign: Sign) -> str:
    """'S2 exception, terms.pdf, page 3: "..." (and 2 more like it)'."""
    more = f" (and {sign['more']} more like it)" if sign["more"] else ""
    return f'S{number} {sign["kind"]}, {sign["place"]}: "{sign["text"]}"{more}'


def _see(store: FileStore, item: FileRef) -> _Seen:
    name = item["name"]
    try:
        document = load_document(store, item["hash"], name)
    except ToolError as error:
        return _Seen(name, problem=f"{error}. {error.hint}".strip())
    return _Seen(name, document, signs=document_signs(name, document))


def _shown(seen: Sequence[_Seen], budget: int) -> list[FileLook]:
    texts = [item.text for item in seen]
    looks = []
    for item, text, share in zip(
        seen, texts, fair_shares([len(text) for text in texts], budget), strict=True
    ):
        look = FileLook(name=item.name, shown="nothing", text=text, origin=f"file:{item.name}")
        if item.document is not None:
            look["shown"] = "whole"
            if share < len(text):
                look |= {"shown": "part", "text": _part_view(item.document, len(text), share)}
        looks.append(look)
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
    lead = f"{length} characters, for read_file in {count}. {one_line(document.note, 80)}".strip()
    contents = outline(parts, int(limit * _OUTLINE_SHARE), document.unit)
    ending = f"[Not shown to the end. To go on: read_file, part={len(parts)}]"
    room = limit - sum(len(piece) + 2 for piece in (lead, contents, ending))
    head, number = _beginning(parts, room)
    ending = f"[Not shown to the end. To go on: read_file, part={number}]"
    return "\n\n".join(filter(None, (lead, contents, head, ending)))


def _beginning(parts: Sequence[Part], room: int) -> tuple[str, int]:
    """At most `room` characters of the parts, and the first part that is not whole in them."""
    head = ""
    for number, part in enumerate(parts, 1):
        left = max(0, room - len(head) - 2)
        if len(part.text) > left:
            # At a line's end, so that no row of a table is cut, unless the lines are long.
            cuts = (part.text.rfind(*cut) for cut in (("\n", left * 3 // 4, left), (" ", left // 2, left)))
            end = next((cut for cut in cuts if cut > 0), left)
            return (head + part.text[:end]).strip("\n"), number
        head += part.text + "\n\n"
    return head.strip("\n"), len(parts)
