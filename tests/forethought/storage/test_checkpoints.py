"""Checkpoints as the databases keep them: whole, in order, encrypted where there is a key."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import psycopg
import pytest

from forethought.settings import Settings
from forethought.storage import Address, StorageError, address_of, open_threads
from tests.forethought.storage.conftest import KEY, echo_graph, run

SECRET = "the Ruritanian succession"
HEAD: Any = {"configurable": {"thread_id": "a", "checkpoint_ns": ""}}


async def test_a_task_that_was_broken_off_leaves_no_half_of_its_writes(address: Address) -> None:
    """LangGraph saves what a cancelled node had written, and would take it for done without its edge."""
    config: Any = {"configurable": {"thread_id": "t1", "checkpoint_ns": "", "checkpoint_id": "1"}}
    half = [("proposals", {"a": 1}), ("__error__", asyncio.CancelledError())]
    async with open_threads(address) as saver:
        await saver.aput_writes(config, half, "half")
        await saver.aput_writes(config, [("proposals", {"b": 1}), ("usage", {})], "whole")
        table = saver.contents[-1][0]
        rows = await saver.rows(f"SELECT task_id, channel FROM {table} ORDER BY task_id, channel")
    assert rows == [("half", "__error__"), ("whole", "proposals"), ("whole", "usage")]


async def test_threads_are_listed_the_newest_first(address: Address) -> None:
    async with open_threads(address) as saver:
        for thread_id in ("old", "debug:old:1", "distill:x", "new"):
            await run(saver, thread_id)
        assert await saver.newest(10) == ["new", "distill:x", "debug:old:1", "old"]
        assert await saver.newest(1) == ["new"]
        assert await saver.newest(10, ("debug:", "distill:")) == ["new", "old"]
        assert await saver.with_prefix("debug:old:") == ["debug:old:1"]
        tree = await saver.tree("old")
        assert [parent in tree for parent in tree.values()].count(False) == 1


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
async def test_texts_with_any_character_come_back(address: Address, key: bytes | None) -> None:
    text = "NUL \0, \u2028, 𝕏 and \ufffe"
    async with open_threads(address, key) as saver:
        await run(saver, "a", text)
        found = await saver.aget_tuple(HEAD)
    assert found is not None
    assert found.checkpoint["channel_values"]["task"] == text


def content_of(address: Address) -> bytes:
    """All that the database keeps."""
    if address.path is not None:
        return b"".join(
            path.read_bytes() for path in sorted(address.path.parent.glob("t*")) if path.is_file()
        )
    found = b""
    with psycopg.connect(str(address.conninfo)) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        for (table,) in tables.fetchall():
            for row in connection.execute(f"SELECT * FROM {table}"):
                found += b" ".join(part if isinstance(part, bytes) else repr(part).encode() for part in row)
    return found


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
async def test_with_a_key_the_checkpoints_show_nothing(address: Address, key: bytes | None) -> None:
    async with open_threads(address, key) as saver:
        await run(saver, "a", SECRET)
        await echo_graph(saver).aupdate_state(HEAD, {"guidance": [SECRET]}, as_node="note")
        found = await saver.aget_tuple(HEAD)
    assert found is not None
    assert found.checkpoint["channel_values"]["guidance"] == [SECRET]
    assert (SECRET.encode() in content_of(address)) is (key is None)


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
async def test_a_checkpoint_that_cannot_be_read_is_told_with_its_thread(
    address: Address, key: bytes | None
) -> None:
    async with open_threads(address, key) as saver:
        await run(saver, "a")
        for table, column in saver.contents:
            await saver.rows(f"UPDATE {table} SET {column} = ?", (b"\xc1 not msgpack",))
        with pytest.raises(StorageError, match="thread a: its checkpoint cannot be read: "):
            await saver.aget_tuple(HEAD)


async def test_a_checkpoint_that_became_a_number_is_damaged(tmp_path: Path) -> None:
    async with open_threads(address_of(Settings(db=str(tmp_path / "t.sqlite")))) as saver:
        await run(saver, "a")
        await saver.rows("UPDATE checkpoints SET checkpoint = ?", (b"\x05 and more",))
        with pytest.raises(StorageError, match="thread a: its checkpoint cannot be read: it is damaged"):
            await saver.aget_tuple(HEAD)
