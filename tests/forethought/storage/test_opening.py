"""Opening: many processes at once, versions, keys, servers that cannot be used, reading without writing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from forethought.app.errors import explain
from forethought.settings import Settings
from forethought.storage import Address, StorageError, address_of, open_experience, open_threads
from forethought.storage.address import file_address
from forethought.storage.sqlite import SqliteThreads
from tests.forethought.storage.conftest import KEY, OTHER_KEY, run
from tests.support.postgres import PostgresServer
from tests.support.processes import Start

OPEN = """
import asyncio, sys
from forethought.settings import Settings
from forethought.storage import address_of, open_experience, open_threads

async def use():
    address = address_of(Settings(db=sys.argv[1]))
    sys.stdin.readline()
    async with open_threads(address) as saver, open_experience(address) as store:
        await store.aput(("lessons",), sys.argv[2], {"n": 1})
        print(await saver.newest(5), flush=True)

asyncio.run(use())
"""


async def test_several_processes_make_a_database_at_once(
    database: str, address: Address, python: Start
) -> None:
    started = [python(OPEN, database, str(number)) for number in range(2)]
    ended = await asyncio.gather(*(asyncio.to_thread(each.communicate, "go\n") for each in started))
    assert ended == [("[]\n", "")] * 2
    async with open_experience(address) as store:
        assert {item.key for item in await store.asearch(("lessons",))} == {"0", "1"}


async def test_a_database_of_another_release_is_refused_and_left_as_it_is(address: Address) -> None:
    async with open_threads(address) as saver:
        await run(saver, "a")
        await saver.rows("UPDATE forethought_storage SET value = '9' WHERE name = 'version'")
    for options in ({"create": True}, {"create": False}):
        with pytest.raises(StorageError, match=r"another release \(layout 9; this release needs 2\)"):
            async with open_threads(address, **options):
                pass


async def test_a_database_without_a_version_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    async with AsyncSqliteSaver.from_conn_string(str(path)) as old:
        await run(old, "a")
    before = path.read_bytes()
    for options in ({"create": True}, {"create": False}):
        with pytest.raises(StorageError, match="an older release or another program; name another"):
            async with open_threads(file_address(path), **options):
                pass
    assert path.read_bytes() == before


async def test_an_encrypted_database_wants_its_key(address: Address) -> None:
    async with open_threads(address, KEY) as saver:
        await run(saver, "a")
    for key, said in (
        (None, "it is encrypted: set FORETHOUGHT_ENCRYPTION_KEY"),
        (OTHER_KEY, "is not its key"),
    ):
        for create in (False, True):
            with pytest.raises(StorageError, match=said):
                async with open_threads(address, key, create=create):
                    pass
    async with open_threads(address, KEY) as saver:
        found = await saver.aget_tuple({"configurable": {"thread_id": "a"}})
        assert found is not None
        assert found.checkpoint["channel_values"]["answer"] == "echo of a task"


async def test_a_plain_database_stays_plain(address: Address) -> None:
    async with open_threads(address) as saver:
        await run(saver, "a")
    with pytest.raises(StorageError, match="it is not encrypted; unset FORETHOUGHT_ENCRYPTION_KEY"):
        async with open_threads(address, KEY):
            pass


async def test_nothing_is_made_where_nothing_is_to_be(address: Address) -> None:
    with pytest.raises(StorageError, match="no threads yet") as caught:
        async with open_threads(address, create=False):
            pass
    assert caught.value.wrong_use
    with pytest.raises(StorageError, match="no experience yet"):
        async with open_threads(address), open_experience(address, create=False):
            pass


@pytest.mark.parametrize(
    ("database", "user", "password", "said"),
    [
        ("nothere", "postgres", "", 'database "nothere" does not exist: create it, or correct the address'),
        ("postgres", "nobody", "", 'role "nobody" does not exist'),
        ("postgres", "locked", "wrong-password", "password authentication failed"),
        ("postgres", "locked", "", "give the right password in the address or in PGPASSWORD"),
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
    with pytest.raises(Exception, match="permission denied for schema public"):
        async with open_threads(other):
            pass
    async with open_threads(address_of(Settings(db=postgres))) as saver:
        await run(saver, "a")
    with pytest.raises(Exception, match="permission denied for table") as caught:
        async with open_threads(other, create=False):
            pass
    assert "locked@" in explain(caught.value).line
    postgres_server.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO locked", name)
    async with open_threads(other, create=False) as saver:
        assert await saver.newest(5) == ["a"]


async def test_a_server_that_is_not_there_is_told() -> None:
    with pytest.raises(StorageError, match="Connection refused: is the server running there"):
        async with open_threads(address_of(Settings(db="postgresql://u:pass@127.0.0.1:1/d"))):
            pass


async def test_reading_changes_nothing(tmp_path: Path) -> None:
    address = file_address(tmp_path / "kept" / "t.sqlite")
    async with open_threads(address) as saver:
        await run(saver, "a")
    before = (tmp_path / "kept" / "t.sqlite").read_bytes()
    async with open_threads(address, create=False) as saver:
        assert await saver.newest(5) == ["a"]
    assert (tmp_path / "kept" / "t.sqlite").read_bytes() == before


async def test_a_database_that_is_being_set_up_is_not_taken_for_a_foreign_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = file_address(tmp_path / "threads.sqlite")
    found: list[list[str]] = []
    setup = SqliteThreads.setup

    async def look_meanwhile(self: SqliteThreads) -> None:
        with pytest.raises(StorageError, match="no threads yet"):
            async with open_threads(address, create=False) as other:
                await other.newest(5)
        await setup(self)
        async with open_threads(address, create=False) as other:
            found.append(await other.newest(5))

    monkeypatch.setattr(SqliteThreads, "setup", look_meanwhile)
    async with open_threads(address):
        pass
    assert found == [[]]


async def test_a_key_that_another_process_chose_meanwhile_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = file_address(tmp_path / "threads.sqlite")
    has_table = SqliteThreads.has_table

    async def make_after(self: SqliteThreads, name: str) -> bool:
        found = await has_table(self, name)
        if name == "forethought_storage":
            monkeypatch.setattr(SqliteThreads, "has_table", has_table)
            async with open_threads(address, KEY):
                pass
        return found

    monkeypatch.setattr(SqliteThreads, "has_table", make_after)
    with pytest.raises(StorageError, match="it is encrypted"):
        async with open_threads(address):
            pass


async def test_a_database_made_between_two_looks_is_not_taken_for_a_foreign_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = file_address(tmp_path / "threads.sqlite")
    has_table = SqliteThreads.has_table

    async def make_after(self: SqliteThreads, name: str) -> bool:
        found = await has_table(self, name)
        monkeypatch.setattr(SqliteThreads, "has_table", has_table)
        async with open_threads(address):
            return found

    monkeypatch.setattr(SqliteThreads, "has_table", make_after)
    async with open_threads(address) as saver:
        assert await saver.newest(5) == []
