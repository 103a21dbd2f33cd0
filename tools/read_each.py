"""The tool `read_each`: one question to many files, with a typed row and a proof from each."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from forethought.sizes import BYTES_PER_TOKEN
from forethought.text import how_many, one_line
from forethought.tools.base import Observation, ToolEnv, ToolError, make_tool
from forethought.tools.each.fields import FieldSpec, Row
from forethought.tools.each.reading import PACK_CHARACTERS, PACK_FILES, Reading
from forethought.tools.each.store import ReadingStore
from forethought.tools.each.summary import summary, table_of
from forethought.tools.folders.given import file_origins, matches
from forethought.tools.folders.records import Entry
from forethought.tools.given_files import find_name
from forethought.tools.members import holders

_PROMPT_TOKENS, _VALUE_TOKENS = 600, 60
"""Of a call without its files, and of the reply for one field of a file."""
_YES, _NO = "read them", "do not"
MOST_FIELDS = 12
_ARCHIVES = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz")


async def read_each(
    env: ToolEnv, files: str | list[str], question: str, fields: list[FieldSpec], table: str = "readings"
) -> Observation:
    """Ask one question of each of many files: a row per file in the new `table`, for sql and tables[table] in
    python, with the columns file, status and the fields.

    A model reads each file, so use it for judgments that no search or formula can make, such as whether a
    complaint blames the courier. Small files share a call: 300 short letters take about 30 model calls. No
    file is paid for twice for the same question. Each value comes with a quote that was checked against the
    file: ask for no quotes. Shows counts, sums, the rows with yes, doubtful and unreadable files.

    Args:
        files: A pattern, such as complaints/*.eml, or a list of names.
        question: What to find out about each file.
        fields: The columns: name, type, and description ('' if the name says it).
        table: Name of the table; another one for each call.
    """
    if not re.fullmatch(r"[A-Za-z]\w{0,39}", table):
        raise ToolError(
            f"{table!r} is no name of a table", cause="arguments", hint="Use letters, such as readings."
        )
    if not 0 < len(fields) <= MOST_FIELDS or len({spec.name for spec in fields}) < len(fields):
        raise ToolError(f"give 1 to {MOST_FIELDS} fields with different names", cause="arguments")
    assert env.read is not None, "a run has a model"
    assert env.store is not None, "a run with files has a storage"
    names, unreadable = await asyncio.to_thread(_chosen, env, files)
    with closing(ReadingStore(env.store)) as store:
        reading = Reading(question.strip(), fields, env, env.read, store)
        await _permission(env, await asyncio.to_thread(reading.unread, names), reading)
        try:
            await reading.run(names)
        finally:
            store.tell(env.read.call, None)
        rows = sorted([*reading.rows.values(), *unreadable], key=lambda row: row.name)
        parts = [question, [spec.model_dump() for spec in fields], [[row.name, row.status] for row in rows]]
        key = f"rows_{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:8]}"
        await asyncio.to_thread(store.keep_table, key, table_of(fields, rows))
    origin = f"{file_origins(row.name for row in rows)}, model"  # read now, or by an earlier call
    text = summary(reading, rows, f"{table} ({key})", env.sizes.part)
    if any(row.status in ("ok", "doubtful") for row in rows):
        return Observation(text, origin=origin)
    return Observation(text, ok=False, cause="limit" if reading.over else "tool", origin=origin)


def _chosen(env: ToolEnv, files: str | Sequence[str]) -> tuple[list[str], list[Row]]:
    """The files that are meant, and rows of those that have no text."""
    if isinstance(files, str) and files not in env.files:
        names = [name for name in env.files if matches(name, files)]
        opened = {holder for name in names for holder in holders(name) if holder.lower().endswith(_ARCHIVES)}
        names = [name for name in names if name not in opened]  # its members are read
    else:
        asked = [files] if isinstance(files, str) else list(dict.fromkeys(files))
        names = [name if name in env.files else find_name(name, env.files) for name in asked]
    meant = set(names)
    without = {
        name: Row(name, "unreadable", entry.reason)
        for name, entry in _indexed(env).items()
        if entry.reason and (name in meant or (isinstance(files, str) and matches(name, files)))
    }
    if not names and not without:
        hint = "Use a pattern such as *.eml or letters/*, or names of given files."
        raise ToolError(f"no given file matches {files!r}", cause="not_found", hint=hint)
    return [name for name in dict.fromkeys(names) if name not in without], list(without.values())


def estimate(count: int, characters: int, fields: int) -> tuple[int, int, int]:
    """About how many calls, input tokens and output tokens it takes to read files of so many characters."""
    calls = max(-(-count // PACK_FILES), -(-characters // PACK_CHARACTERS), 1)
    return calls, calls * _PROMPT_TOKENS + characters // BYTES_PER_TOKEN, count * fields * _VALUE_TOKENS


async def _permission(env: ToolEnv, names: Sequence[str], reading: Reading) -> None:
    """Ask the person about a large reading of new files. Has no effect before: the node runs again with the
    reply."""
    assert env.read is not None
    size = await asyncio.to_thread(_characters, env, names)
    calls, tokens, replies = estimate(len(names), size, len(reading.fields))
    if max(len(names), calls) <= env.read.most_files:
        return
    dollars = env.read.price(tokens, replies)
    cost = f"{how_many(calls, 'model call')}, {how_many(tokens + replies, 'token')}"
    cost += f", ${dollars:.2f}" if dollars is not None else ""
    told = f'To answer "{one_line(reading.question, 160)}", read_each would read'
    told += f" {how_many(len(names), 'file')}: about {cost}."
    limit = f"more than max_read_each_files ({env.read.most_files:,}) allows"
    if env.ask is None:
        raise ToolError(
            f"{told} That is {limit}.", cause="limit", hint="Narrow the files, or call it outside of code."
        )
    if (
        not env.ask(f"{told} That is {limit}. Read them?", [_YES, _NO])
        .strip()
        .lower()
        .startswith(("read", "yes"))
    ):
        raise ToolError(
            "the person does not want so many files to be read", cause="rejected", hint="Narrow the files."
        )


def _indexed(env: ToolEnv) -> dict[str, Entry]:
    """The files of the run's folders by name, also those that have no content."""
    folders = env.folders.each if env.folders else []
    return {folder.prefix + entry.name: entry for folder in folders for entry in folder.index.entries()}


def _characters(env: ToolEnv, names: Sequence[str]) -> int:
    """About how much text the files have."""
    known = {name: entry.characters for name, entry in _indexed(env).items()}
    assert env.store is not None
    size = 0
    for name in names:
        path: Path = env.store.path(env.files[name]) if name not in known else Path()
        size += known[name] if name in known else path.stat().st_size if path.exists() else 0
    return size


READ_EACH = make_tool(read_each, timeout_s=0, needs="many files")
