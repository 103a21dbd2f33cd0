"""The tool `search_files`: passages of all given files that fit a query, or every match of a pattern."""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence

import regex

from forethought.text import cut, how_many
from forethought.tools.base import Observation, ToolEnv, ToolError, make_tool
from forethought.tools.folders.given import Folders, file_origins
from forethought.tools.folders.records import Entry, Hit

_HITS = 12
"""Passages of a page."""
_MATCHES = 60
"""Matches of a page."""
_LINE = 300
_COUNTED = 40
"""Files whose number of matches is shown."""
_REGEX_S = 30.0


async def search_files(
    env: ToolEnv,
    query: str,
    files: str | None = None,
    regex: bool = False,
    context: int = 0,
    page: int = 1,
) -> Observation:
    """Search the text of all given files at once, documents included.

    Without regex: the passages that fit the words best, each with its file and place; word forms, numbers and
    dates match in any spelling. With regex: every line that matches, with counts by file. The first line says
    how many files were searched and how many cannot be read.

    Args:
        query: Words that the text itself would use; or a regular expression (case is ignored).
        files: Search only files whose names match: `*.docx`, `2025/*`, or a part of the name; null for all.
        regex: Whether query is a regular expression.
        context: Passages, or with regex lines, to show before and after each hit.
        page: Page of the hits.
    """
    if not query.strip():
        raise ToolError("the query is empty", cause="arguments", hint="Name the words to look for.")
    return await asyncio.to_thread(_search, env, query, files or "", regex, min(max(context, 0), 20), page)


def _search(env: ToolEnv, query: str, pattern: str, regex: bool, context: int, page: int) -> Observation:
    assert env.folders is not None, "a run with files"
    total, unreadable = env.folders.counts()
    entries = env.folders.entries(pattern) if pattern or regex else None
    if entries is not None:
        if not entries:
            hint = "find_files lists the names; without files, all are searched."
            raise ToolError(f"no file matches {pattern}", cause="not_found", hint=hint)
        unreadable = sum(bool(entry.reason) for entry in entries)
    read = (total if entries is None else len(entries)) - unreadable
    searched = f"Searched {read:,} of {how_many(total, 'file')}, {unreadable:,} unreadable"
    if regex:
        return _matches(env, query, entries or (), context, page, searched)
    names = None if entries is None else [entry.name for entry in entries]
    return _passages(env, query, names, context, page, searched)


def _passages(
    env: ToolEnv, query: str, names: Sequence[str] | None, context: int, page: int, searched: str
) -> Observation:
    assert env.folders is not None, "a run with files"
    last = _HITS * max(page, 1)
    hits = env.folders.search(query, last + 1, names)
    shown = hits[last - _HITS : last]
    if not shown:
        if hits:
            raise ToolError(f"there is no page {page}", cause="not_found", hint="Ask for an earlier page.")
        hint = "Try other words that the text itself may use, or regex=true."
        raise ToolError(f"{searched}: nothing fits", cause="not_found", hint=hint)
    more = f"; ask for page={page + 1} for more" if len(hits) > last else ""
    lines = [f"{searched}. Passages {last - _HITS + 1} to {last - _HITS + len(shown)}, best first{more}."]
    room, is_cut = env.sizes.passages - 200 * len(shown), False
    for hit in shown:
        whole = _around(env.folders, hit, context)
        text = cut(whole, max(room // len(shown), 200), tail=0)
        is_cut = is_cut or text != whole
        heading = f" [{hit.heading}]" if hit.heading else ""
        lines.append(f"\n## {hit.name}, {hit.place}{heading}\n{text}")
    return Observation("\n".join(lines), origin=file_origins(hit.name for hit in shown), partial=is_cut)


def _around(folders: Folders, hit: Hit, context: int) -> str:
    """The passage with its neighbours."""
    if not context:
        return hit.text
    text, cuts = folders.text(hit.name), folders.passages(hit.name)
    at = next((n for n, each in enumerate(cuts) if each.start == hit.start), 0)
    near = cuts[max(at - context, 0) : at + context + 1]
    return text[near[0].start : near[-1].stop].strip() if near else hit.text


def _matches(
    env: ToolEnv, query: str, entries: Sequence[Entry], context: int, page: int, searched: str
) -> Observation:
    assert env.folders is not None, "a run with files"
    try:
        wanted = regex.compile(query, regex.IGNORECASE | regex.MULTILINE)
    except regex.error as error:
        hint = "Write a Python regular expression."
        raise ToolError(f"{query} is no regular expression: {error}", cause="arguments", hint=hint) from error
    counts, lines = Counter[str](), list[tuple[str, str]]()
    ends = time.monotonic() + _REGEX_S
    try:
        for entry in entries:
            if entry.reason:
                continue
            if time.monotonic() > ends:
                raise TimeoutError
            for line in _lines(env.folders.text(entry.name), wanted, context, ends):
                counts[entry.name] += 1
                if (page - 1) * _MATCHES <= counts.total() - 1 < page * _MATCHES:
                    lines.append((entry.name, line))
    except TimeoutError as error:
        hint = "Narrow it with files, or use a simpler pattern."
        raise ToolError("the search takes too long", cause="limit", hint=hint) from error
    if not lines:
        if pages := -(-counts.total() // _MATCHES):
            raise ToolError(f"there is no page {page}", cause="arguments", hint=f"Pages are 1 to {pages}.")
        hint = "Try other spellings, or words without regex."
        raise ToolError(f"{searched}: no line matches", cause="not_found", hint=hint)
    return _shown(env, counts, lines, page, searched)


def _shown(
    env: ToolEnv, counts: Counter[str], lines: Sequence[tuple[str, str]], page: int, searched: str
) -> Observation:
    total = counts.total()
    more = f" Matches {(page - 1) * _MATCHES + 1} to {(page - 1) * _MATCHES + len(lines)} follow"
    more += f"; ask for page={page + 1} for more." if total > page * _MATCHES else "."
    text = f"{searched}. {total:,} matching lines in {how_many(len(counts), 'file')}.{more}"
    by_file = [f"{name}: {count}" for name, count in counts.most_common(_COUNTED)]
    rest = f", and {len(counts) - _COUNTED:,} more files" if len(counts) > _COUNTED else ""
    text += f"\nCounts: {', '.join(by_file)}{rest}"
    room, before = env.sizes.passages - len(text), ""
    for name, line in lines:
        piece = f"\n{line}" if name == before else f"\n\n## {name}\n{line}"
        room -= len(piece)
        if room < 0:
            text += "\n[The rest of this page is cut: narrow the pattern or files.]"
            break
        text, before = text + piece, name
    partial = total > len(lines) or room < 0
    return Observation(text, origin=file_origins(name for name, _ in lines), partial=partial)


def _lines(text: str, wanted: regex.Pattern[str], context: int, ends: float) -> Iterator[str]:
    """The lines of each match, numbered, with those around; a line with several matches comes once."""
    starts: list[int] = []
    last = -1
    for match in wanted.finditer(text, timeout=max(ends - time.monotonic(), 0.01), concurrent=True):
        if not starts:
            starts = [0, *(gap.end() for gap in regex.finditer("\n", text))]
        first, end = (
            bisect_right(starts, match.start()),
            bisect_right(starts, max(match.end() - 1, match.start())),
        )
        if first <= last:
            continue
        last = end
        near = range(max(first - context, 1), min(end + context, len(starts)) + 1)
        yield "\n".join(f"{n}: {_line(text, starts, n)}" for n in near)


def _line(text: str, starts: Sequence[int], number: int) -> str:
    stop = starts[number] - 1 if number < len(starts) else len(text)
    return cut(text[starts[number - 1] : stop], _LINE, tail=0).replace("\n", " ")


SEARCH_FILES = make_tool(search_files, timeout_s=90, needs="long file")
