"""Opening: many processes at once, versions, keys, servers that cannot be used, reading without writing."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import takewhile
from pathlib import Path

import psycopg
import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from forethought.app.errors import explain
from forethought.settings import Settings
from forethought.storage import Address, StorageError, address_of, open_lessons, open_threads
from forethought.storage.address import file_address
from forethought.storage.advisory_locks import lock_key
from tests.forethought.storage.conftest import KEY, OTHER_KEY, run
from tests.support.postgres import PostgresServer
from tests.support.processes import Start

OPEN = """
import asyncio, sys
from forethought.settings import Settings
from forethought.storage import address_of, open_lessons, open_threads

async def use():
    address = address_of(Settings(db=sys.argv[1]))
    sys.stdin.readline()
    async with open_threads(address) as saver, open_lessons(address) as store:
        await store.aput(("lessons",), sys.argv[2], {"n": 1})
        print(await saver.newest(5), flush=True)

asyncio.run(use())
"""


async def test_several_processes_make_a_database_at_once(
    database: str, address: Address, python: Start
) -> None:
    started = [python(OPEN, database, str(number)) for number in range(3)]
    ended = await asyncio.gather(*(asyncio.to_thread(each.communicate, "go\n") for each in started))
    assert ended == [("[]\n", "")] * 3
    async with open_lessons(address) as store:
        assert {item.key for item in await store.asearch(("lessons",))} == {"0", "1", "2"}


async def test_one_process_at_a_time_sets_a_database_up(
    postgres: str,
) -> None:
    """Two that make a table at once would fail, now and then."""
    key = lock_key("setting up")
    with psycopg.connect(postgres, autocommit=True) as first:
        first.execute("SELECT pg_advisory_lock(%s)", (key,))

        async def use() -> str:
            async with open_threads(address_of(Settings(db=postgres))) as saver:
                return saver.shown

        second = asyncio.create_task(use())
        await asyncio.sleep(0.5)
        made = first.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        assert (second.done(), made) == (False, [])
        first.execute("SELECT pg_advisory_unlock(%s)", (key,))
        assert await second


async def test_a_database_of_a_newer_release_is_refused_and_left_as_it_is(address: Address) -> None:
    async with open_threads(address) as saver:
        await run(saver, "a")
        await saver.transact([("UPDATE forethought_storage SET value = '2' WHERE name = 'version'", ())])
    for read_only in (False, True):
        with pytest.raises(StorageError, match=r"layout is of version '2', of a newer release.*upgrade"):
            async with open_threads(address, read_only=read_only):
                pass
    with pytest.raises(StorageError, match="newer release"):
        async with open_threads(address, KEY):
            pass


@pytest.mark.parametrize("version", [b"1", "²", "9" * 5000, "-1", "", 1.5])
async def test_a_stamp_that_no_release_has_written_is_refused_in_a_line(
    tmp_path: Path, version: object
) -> None:
    address = file_address(tmp_path / "threads.sqlite")
    async with open_threads(address) as saver:
        await saver.transact(
            [("UPDATE forethought_storage SET value = ? WHERE name = 'version'", (version,))]
        )
    with pytest.raises(StorageError, match=r"its stamp is damaged|its layout is of version"):
        async with open_threads(address):
            pass


async def test_tables_of_a_newer_library_are_refused(postgres: str) -> None:
    address = address_of(Settings(db=postgres))
    async with open_threads(address) as saver:
        await saver.transact([("INSERT INTO checkpoint_migrations (v) VALUES (99)", ())])
    with pytest.raises(StorageError, match="version 99, this one knows 9"):
        async with open_threads(address):
            pass


async def test_a_database_from_before_the_stamp_is_used_and_stamped(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    async with AsyncSqliteSaver.from_conn_string(str(path)) as old:
        await run(old, "a")
    async with open_threads(file_address(path), read_only=True) as saver:
        assert await saver.newest(5) == ["a"]
        assert not await saver.rows("SELECT 1 FROM sqlite_master WHERE name = 'forethought_storage'")
    async with open_threads(file_address(path)) as saver:
        assert await saver.rows("SELECT name, value FROM forethought_storage") == [("version", "1")]


async def test_an_encrypted_database_wants_its_key(address: Address) -> None:
    async with open_threads(address, KEY) as saver:
        await run(saver, "a")
    for key, said in (
        (None, "it is encrypted: set FORETHOUGHT_ENCRYPTION_KEY"),
        (OTHER_KEY, "is not the key"),
    ):
        for read_only in (False, True):
            with pytest.raises(StorageError, match=said):
                async with open_threads(address, key, read_only=read_only):
                    pass
    async with open_threads(address, KEY) as saver:
        found = await saver.aget_tuple({"configurable": {"thread_id": "a"}})
        assert found is not None
        assert found.checkpoint["channel_values"]["answer"] == "echo of a task"


async def test_a_plain_database_stays_plain(address: Address) -> None:
    async with open_threads(address) as saver:
        await run(saver, "a")
    with pytest.raises(StorageError, match="begun without encryption, and stays so"):
        async with open_threads(address, KEY):
            pass


async def test_an_empty_database_can_still_be_encrypted(address: Address) -> None:
    async with open_threads(address):
        pass
    async with open_threads(address, KEY):
        pass
    with pytest.raises(StorageError, match="it is encrypted"):
        async with open_threads(address):
            pass


async def test_a_missing_extra_of_encryption_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "Crypto.Cipher", None)
    with pytest.raises(StorageError, match=r"pip install 'forethought\[encryption\]'"):
        async with open_threads(file_address(tmp_path / "t.sqlite"), KEY):
            pass


async def test_nothing_is_made_where_nothing_is_to_be(address: Address) -> None:
    for options in ({"create": False}, {"read_only": True}):
        with pytest.raises(StorageError, match="no threads yet") as caught:
            async with open_threads(address, **options):
                pass
        assert caught.value.wrong_use
    with pytest.raises(StorageError, match="no lessons yet"):
        async with open_threads(address), open_lessons(address, create=False):
            pass


@pytest.mark.parametrize(
    ("database", "user", "password", "said"),
    [
        ("nothere", "postgres", "", 'database "nothere" does not exist: create it, or mend the address'),
        ("postgres", "nobody", "", 'role "nobody" does not exist'),
        ("postgres", "locked", "wrong-password", "password authentication failed"),
        ("postgres", "locked", "", "it wants a password: give it in the address, or in PGPASSWORD"),
    ],
)
def test_a_server_that_cannot_be_used_is_told_in_one_line(
    postgres_server: PostgresServer, database: str, user: str, password: str, said: str
) -> None:
    address = address_of(Settings(db=postgres_server.address(database, user, password)))

    async def use() -> None:
        async with open_threads(address):
            pass

    with pytest.raises(StorageError) as caught:
        asyncio.run(use())
    failure = explain(caught.value)
    assert (said in failure.line, failure.code, failure.internal) == (True, 1, False), failure.line
    assert "wrong-password" not in failure.line


async def test_a_user_without_rights_is_told(postgres_server: PostgresServer, postgres: str) -> None:
    name = postgres.partition("?")[0].rpartition("/")[2]
    other = address_of(Settings(db=postgres_server.address(name, "locked", "right-password")))
    with pytest.raises(Exception, match="permission denied for schema public") as caught:
        async with open_threads(other):
            pass
    assert "this user has no right to do that" in explain(caught.value).line

    async with open_threads(address_of(Settings(db=postgres))) as saver:
        await run(saver, "a")
    with pytest.raises(Exception, match="permission denied for table") as caught:
        async with open_threads(other, read_only=True):
            pass
    assert "locked:***@" in explain(caught.value).line
    postgres_server.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO locked", name)
    async with open_threads(other, read_only=True) as saver:
        assert await saver.newest(5) == ["a"]
        with pytest.raises(Exception, match="read-only transaction"):
            await saver.transact([("DELETE FROM checkpoints", ())])


async def test_a_server_that_is_not_there_is_told() -> None:
    with pytest.raises(StorageError, match="Connection refused: is the server running there"):
        async with open_threads(address_of(Settings(db="postgresql://u:pass@127.0.0.1:1/d"))):
            pass


@contextmanager
def write_protected(folder: Path) -> Iterator[None]:
    """Nothing in the folder can be written, not even by the superuser: who is nobody for that time."""
    for path in (folder, *folder.iterdir()):
        path.chmod(0o555 if path.is_dir() else 0o444)
    is_root = os.geteuid() == 0
    if is_root:
        above = takewhile(lambda parent: parent != Path(tempfile.gettempdir()), folder.parents)
        for parent in above:
            parent.chmod(0o755)
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        folder.chmod(0o755)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="rights work otherwise there")
async def test_a_write_protected_database_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    address = file_address(folder / "t.sqlite")
    async with open_threads(address, read_only=False) as saver:
        await run(saver, "a")
        async with saver.claim("a"):
            pass
    with write_protected(folder):
        async with open_threads(address, read_only=True) as saver:
            assert await saver.newest(5) == ["a"]
            assert await saver.claimed(["a"]) == set()
            found = await saver.aget_tuple({"configurable": {"thread_id": "a"}})
        assert found is not None
        with pytest.raises((sqlite3.OperationalError, StorageError)):
            async with open_threads(address):
                pass
    assert found.checkpoint["channel_values"]["answer"] == "echo of a task"


async def test_reading_changes_nothing(tmp_path: Path) -> None:
    address = file_address(tmp_path / "kept" / "t.sqlite")
    async with open_threads(address) as saver:
        await run(saver, "a")
    before = (tmp_path / "kept" / "t.sqlite").read_bytes()
    async with open_threads(address, read_only=True) as saver:
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            await saver.transact([("DELETE FROM checkpoints", ())])
        assert await saver.newest(5) == ["a"]
    assert (tmp_path / "kept" / "t.sqlite").read_bytes() == before


async def test_another_programs_file_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE checkpoints (name TEXT)")
    before = path.read_bytes()
    with pytest.raises(sqlite3.OperationalError, match="no such column: thread_id"):
        async with open_threads(file_address(path)):
            pass
    assert path.read_bytes() == before
