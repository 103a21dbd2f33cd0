"""A first look at a task's files, before the first plan and without a model.

Small files are shown whole; of others an outline, what bears on the task, and how to read on. The look is
made once a task and stands in the state: a checkpoint stores it once, a fork or another server's worker shows
the same text without reading anything again, and a provider's cache is served by the same words.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from forethought.nodes.support.excerpts import Text, excerpts
from forethought.nodes.support.passage_rank import selection
from forethought.nodes.support.signs import MARK, SCANNED_CHARACTERS, mark_of, marked, other_versions
from forethought.settings import Settings
from forethought.state.agent import FileRef
from forethought.state.look import FileLook, Look
from forethought.tools.base import ToolError
from forethought.tools.documents.document import Document, split
from forethought.tools.documents.outline import outline
from forethought.tools.documents.reader import load_document
from forethought.tools.files import FileStore

_log = logging.getLogger(__name__)
LONGEST_S = 45.0
"""For all files together. What is not read by then is left to `read_file`."""
_LATE = "takes long to read; read_file may have it."
LEAST_BYTES = 800
"""A file's share of the budget, at least: of more files than have room for that, the last are not named."""
_AT_ONCE = 2
"""As many as there are readers kept ready (`tools.documents.reader`)."""
_OUTLINES = 0.3
"""The share of all outlines in the budget."""
_CUT = 1 / 3
"""What of the budget is used where not all fits: what is cut will be read, and every prompt shows it."""


async def look_at(
    files: Sequence[FileRef],
    task: str,
    store: FileStore,
    settings: Settings,
    budget: int,
    part: int,
    *,
    signs: bool = True,
) -> Look:
    """The look at `files`.

    Args:
        files: All files of the thread.
        task: What is to be done: of a long file, the lines that bear on it are shown.
        store: Where the files are.
        settings: The limits of a reading.
        budget: Bytes of all texts together (`sizes.extent`), but for a few hundred a file that is cut.
        part: Characters of a part in which `read_file` shows a file.
        signs: Mark signs in the texts.
    """
    named = files[: budget // LEAST_BYTES]
    room = int(budget * _OUTLINES) // max(len(named), 1)
    gate = asyncio.Semaphore(_AT_ONCE)

    versions = other_versions([item["name"] for item in files]) if signs else {}

    async def see(item: FileRef) -> tuple[Text, int]:
        async with gate:
            return await _see(store, item, task, settings, part, room, versions if signs else None)

    readings = [asyncio.create_task(see(item)) for item in named]
    try:
        done = (await asyncio.wait(readings, timeout=LONGEST_S))[0] if readings else set()
    finally:
        for reading in readings:
            reading.cancel()
    seen = [
        reading.result() if reading in done else (Text("", before=f"{item['name']} {_LATE}"), 0)
        for item, reading in zip(named, readings, strict=True)
    ]
    return await asyncio.to_thread(_look, files, task, budget, seen)


def _look(files: Sequence[FileRef], task: str, budget: int, seen: Sequence[tuple[Text, int]]) -> Look:
    texts = tuple(text for text, _ in seen)
    shown = excerpts(texts, task, budget)
    if any(text.whole != part for text, part in zip(texts, shown, strict=True)):
        shown = excerpts(texts, task, int(budget * _CUT))
    looks = (
        _file_look(item["name"], text, part, signs)
        for item, (text, signs), part in zip(files, seen, shown, strict=False)
    )
    return Look(files=list(looks), unseen=len(files) - len(seen))


async def _see(
    store: FileStore,
    item: FileRef,
    task: str,
    settings: Settings,
    part: int,
    room: int,
    versions: Mapping[str, Sequence[str]] | None,
) -> tuple[Text, int]:
    """A file's text, or why there is none before it; and how many signs are marked in it."""
    name = item["name"]
    try:
        document = await load_document(store, item["hash"], name, settings)
        marks = versions is not None
        text, signs = await asyncio.to_thread(_text_and_signs, document, task, part, room, marks)
    except ToolError as error:
        return Text("", before=f"{error}. {error.hint}".strip()), 0
    except Exception as error:  # of a reader or an outline: a file that cannot be shown ends no run
        _log.warning("the first look at a file failed; read_file may still read it: %s", type(error).__name__)
        return Text("", before=f"{name} cannot be shown here; read_file may have it."), 0
    if others := (versions or {}).get(name):
        line = f"Other versions of this file: {', '.join(others)} {mark_of('version')}\n\n"
        return replace(text, before=line + text.before, briefly=line + text.briefly), signs + 1
    return text, signs


def _text_and_signs(document: Document, task: str, part: int, room: int, marks: bool) -> tuple[Text, int]:
    parts = split(document, part)
    where = f"in {len(parts)} parts" if len(parts) > 1 else "in one part"
    note = f"{document.note}\n\n" if document.note else ""
    whole, signs = marked(document) if marks else (document.text, 0)
    very_long = len(whole) > SCANNED_CHARACTERS
    room = room // 4 if very_long else room  # an outline of hundreds of parts tells little
    chosen, numbers = selection(whole, task, MARK) if very_long else (whole, ())
    text = Text(
        chosen,
        before=note,
        briefly=f"{note}Parts:\n{outline(parts, room, document.unit)}\n\nFrom its text:\n",
        way=f"{'search_files searches it, ' * very_long}read_file shows all of it, {where}.",
        first=MARK,
        numbers=numbers,
    )
    return text, signs


def _file_look(name: str, text: Text, shown: str, signs: int) -> FileLook:
    cut: Literal["whole", "part"] = "whole" if shown == text.whole and not text.numbers else "part"
    return FileLook(name=name, shown=cut if text.text else "nothing", text=shown.strip(), signs=signs)
