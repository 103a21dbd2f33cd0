"""Checkpoints as the databases keep them: whole, in order, sealed, and refused where they are forged."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import psycopg
import pytest

from forethought.app.errors import explain
from forethought.settings import Settings
from forethought.storage import Address, StorageError, address_of, open_lessons, open_threads
from forethought.storage.address import file_address
from forethought.storage.saver import ThreadSaver
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
        table = saver.tables[-1]
        rows = await saver.rows(f"SELECT task_id, channel FROM {table} ORDER BY task_id, channel")
    assert rows == [("half", "__error__"), ("whole", "proposals"), ("whole", "usage")]


async def test_threads_are_listed_the_newest_first(address: Address) -> None:
    async with open_threads(address) as saver:
        for thread_id in ("old", "debug:old:1", "distill:x", "new"):
            await run(saver, thread_id)
        assert await saver.newest(10) == ["new", "distill:x", "debug:old:1", "old"]
        assert await saver.newest(1) == ["new"]
        assert await saver.newest(10, ("debug:", "distill:")) == ["new", "old"]
        assert await saver.beginning_with("debug:old:") == ["debug:old:1"]
        tree = await saver.tree("old")
        assert [parent in tree for parent in tree.values()].count(False) == 1
        begun = await saver.begun("old")
        assert begun is not None
        assert await saver.begun("nothere") is None


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "sealed"])
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
        return b"".join(path.read_bytes() for path in sorted(address.path.parent.iterdir()))
    found = b""
    with psycopg.connect(str(address.conninfo)) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        for (table,) in tables.fetchall():
            for row in connection.execute(f"SELECT * FROM {table}"):
                found += b" ".join(part if isinstance(part, bytes) else repr(part).encode() for part in row)
    return found


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "sealed"])
async def test_with_a_key_the_database_shows_nothing(address: Address, key: bytes | None) -> None:
    async with open_threads(address, key) as saver, open_lessons(address, key) as store:
        await run(saver, "a", SECRET, forethought=f'{{"context": "{SECRET}"}}')
        await echo_graph(saver).aupdate_state(
            {**HEAD, "metadata": {"forethought": SECRET}}, {"guidance": [SECRET]}, as_node="note"
        )
        await store.aput(("lessons", "local"), "k", {"worked": SECRET})
        (item,) = await store.asearch(("lessons",), query="succession")
        assert item.value == {"worked": SECRET}
        got = await store.aget(("lessons", "local"), "k")
        assert got is not None
        assert got.value == {"worked": SECRET}
        found = await saver.aget_tuple(HEAD)
        listed = [each async for each in saver.alist(HEAD)]
    assert found is not None
    assert found.metadata["forethought"] == SECRET  # type: ignore[typeddict-item]
    assert listed[0].metadata == found.metadata
    assert found.checkpoint["channel_values"]["guidance"] == [SECRET]
    assert (SECRET.encode() in content_of(address)) is (key is None)


async def forge(saver: ThreadSaver, change: Any) -> None:
    """Put another checkpoint in place of thread a's head, as who can write to the database may do."""
    found = await saver.aget_tuple(HEAD)
    assert found is not None
    checkpoint: Any = dict(found.checkpoint)
    checkpoint.update(change)
    if saver.tables[-1] == "writes":
        form, content = saver.serde.dumps_typed(checkpoint)
        where = "WHERE checkpoint_id = (SELECT MAX(checkpoint_id) FROM checkpoints)"
        await saver.transact([(f"UPDATE checkpoints SET type = ?, checkpoint = ? {where}", (form, content))])
    else:
        from psycopg.types.json import Jsonb

        where = "WHERE checkpoint_id = (SELECT MAX(checkpoint_id) FROM checkpoints)"
        await saver.transact([(f"UPDATE checkpoints SET checkpoint = ? {where}", (Jsonb(checkpoint),))])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"v": 99}, "form 99, of a newer release; this one knows 4: upgrade"),
        ({"v": 0}, "it does not say in which form"),
        ({"ts": "yesterday"}, "'ts' is no time"),
        ({"ts": 5}, "'ts' is missing or of a wrong kind"),
        ({"versions_seen": {"note": [1]}}, "'versions_seen'"),
        ({"versions_seen": 7}, "'versions_seen'"),
        ({"id": None}, "'id' is missing"),
        ({"channel_versions": {"note": "x"}}, "'channel_versions'"),
        ({"channel_versions": {"note": 1.5}}, "'channel_versions'"),
        ({"channel_versions": {"note": 1, "task": "1.5"}}, "cannot be compared"),
        ({"channel_versions": {"note": 1}, "versions_seen": {"a": {"note": "1"}}}, "cannot be compared"),
        ({"versions_seen": {"note": {"task": [1]}}}, "'versions_seen'"),
        ({"updated_channels": [["note"]]}, "'updated_channels'"),
    ],
)
async def test_a_checkpoint_changed_by_hand_is_refused(address: Address, change: Any, said: str) -> None:
    async with open_threads(address) as saver:
        await run(saver, "a")
        await forge(saver, change)
        with pytest.raises(StorageError, match="thread a: its checkpoint cannot be read: ") as caught:
            await saver.aget_tuple(HEAD)
        assert said in str(caught.value)


@pytest.mark.parametrize("value", [7, "x", {"value": 1}, [{"value": 1}], [None]], ids=str)
async def test_a_question_that_is_none_is_refused(address: Address, value: Any) -> None:
    async with open_threads(address) as saver:
        await run(saver, "a")
        found = await saver.aget_tuple(HEAD)
        assert found is not None
        await saver.aput_writes(found.config, [("__interrupt__", value)], "task")
        with pytest.raises(StorageError, match=r"thread a: .*what it waits for cannot be read"):
            await saver.aget_tuple(HEAD)
        with pytest.raises(StorageError, match=r"thread a: .*what it waits for cannot be read"):
            [found async for found in saver.alist(HEAD)]


async def test_metadata_that_no_program_wrote_is_damage_whatever_reads_it(tmp_path: Path) -> None:
    deep = b"[" * 100_000
    async with open_threads(file_address(tmp_path / "threads.sqlite")) as saver:
        for metadata in (deep, b'{"step": "x"}', b"5", b"{", b"\xff"):
            await run(saver, "a")
            await saver.transact([("UPDATE checkpoints SET metadata = ?", (metadata,))])
            with pytest.raises(StorageError, match="thread a: its checkpoint cannot be read"):
                await saver.aget_tuple(HEAD)
            with pytest.raises(StorageError, match="thread a: its checkpoint cannot be read"):
                [found async for found in saver.alist(HEAD)]
            await saver.adelete_thread("a")


@pytest.mark.parametrize("change", [{"v": "new"}, {"channel_versions": []}, {"channel_values": "none"}])
async def test_a_checkpoint_of_another_shape_is_refused_whatever_reads_it(
    address: Address, change: Any
) -> None:
    async with open_threads(address) as saver:
        await run(saver, "a")
        await forge(saver, change)
        with pytest.raises((StorageError, psycopg.Error)) as caught:
            await saver.aget_tuple(HEAD)
        assert not explain(caught.value).internal, caught.value


async def test_a_class_in_a_table_of_postgres_is_refused(postgres: str) -> None:
    import ormsgpack

    forged = ormsgpack.packb(ormsgpack.Ext(0, ormsgpack.packb(("os", "system", "true"))))
    async with open_threads(address_of(Settings(db=postgres))) as saver:
        await run(saver, "a")
        statement = "UPDATE checkpoint_blobs SET blob = ? WHERE channel = 'answer'"
        await saver.transact([(statement, (forged,))])
        with pytest.raises(StorageError, match=r"thread a.*os\.system"):
            await saver.aget_tuple(HEAD)
