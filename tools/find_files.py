"""The tool `find_files`: which files of the given folders there are, by name, kind or words."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from forethought.text import how_many
from forethought.tools.base import Observation, ToolEnv, ToolError, make_tool
from forethought.tools.folders.given import folder_origin
from forethought.tools.folders.listing import grouped, listed
from forethought.tools.folders.records import Entry

_MOST_HITS = 2_000
"""Passages from which files that speak of something are taken."""


async def find_files(
    env: ToolEnv, pattern: str | None = None, text: str | None = None, page: int = 1
) -> Observation:
    """List the given files by name, or those that speak of something.

    Says how many files match, their sizes and dates, and why one cannot be read. A long list comes in pages,
    the first with all names in groups such as `contract-1000 ... 1149.docx, 150 files`.

    Args:
        pattern: `*.docx`, `2025/*` or a part of the name; null for all files.
        text: Words that a file must speak of, best match first; null for no condition.
        page: Page of the list.
    """
    return await asyncio.to_thread(_find, env, pattern or "", (text or "").strip(), page)


def _find(env: ToolEnv, pattern: str, text: str, page: int) -> Observation:
    assert env.folders is not None, "a run with folders"
    entries = env.folders.entries(pattern)
    heading = (
        f"{how_many(len(entries), 'file')} match" if pattern else f"{how_many(len(entries), 'file')} given"
    )
    if text:
        names = [entry.name for entry in entries] if pattern else None
        order = list(dict.fromkeys(hit.name for hit in env.folders.search(text, _MOST_HITS, names, of_one=1)))
        by_name = {entry.name: entry for entry in entries}
        entries = [by_name[name] for name in order if name in by_name]
        heading = (
            f"{len(entries):,} of {how_many(len(by_name), 'file')} share words with it; best match first"
        )
    if not entries:
        hint = "Try a shorter part of the name, or find_files without a pattern."
        raise ToolError("no file matches", cause="not_found", hint=hint)
    unreadable = sum(bool(entry.reason) for entry in entries)
    heading += f"; {unreadable:,} cannot be read" if unreadable else ""
    lines, pages = _page(entries, page, env.sizes.passages)
    if pages > 1:
        heading += f"; page {page} of {pages}"
        if page == 1 and not text:
            lines = [*grouped(entries, env.sizes.passages // 4), "", *lines]
    return Observation(
        "\n".join([heading + ".", *lines]), origin=folder_origin(env.folders), partial=pages > 1
    )


def _page(entries: Sequence[Entry], page: int, room: int) -> tuple[list[str], int]:
    """The lines of a page, and how many pages there are."""
    pages: list[list[str]] = [[]]
    left = room * 2 // 3
    for entry in entries:
        line = listed(entry)
        if left < len(line) and pages[-1]:
            pages.append([])
            left = room * 2 // 3
        pages[-1].append(line)
        left -= len(line) + 1
    if not 1 <= page <= len(pages):
        raise ToolError(f"there is no page {page}", cause="arguments", hint=f"Pages are 1 to {len(pages)}.")
    return pages[page - 1], len(pages)


FIND_FILES = make_tool(find_files, timeout_s=60, needs="folder")
