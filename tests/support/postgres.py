"""A real Postgres for tests, started the first time that a test of a process asks for one: about a second."""

from __future__ import annotations

import os
import signal
import tempfile
import time
import uuid
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest


@dataclass(frozen=True)
class PostgresServer:
    """A server on a socket in a folder of its own. It wants no password, except of the user `locked`."""

    folder: Path

    def address(self, database: str = "postgres", user: str = "postgres", password: str = "") -> str:
        """How a person would write it."""
        secret = f":{password}" if password else ""
        return f"postgresql://{user}{secret}@/{database}?host={self.folder}"

    def execute(self, query: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Rows of a query by the superuser."""
        with psycopg.connect(self.address(database), autocommit=True) as connection:
            cursor = connection.execute(query)  # type: ignore[call-overload]  # a test's own words
            return cursor.fetchall() if cursor.description else []

    def new_schema(self) -> str:
        """The address of an empty schema: all that a test of one database needs, and far cheaper than one."""
        name = f"s{uuid.uuid4().hex[:12]}"
        self.execute(f"CREATE SCHEMA {name}")
        return f"{self.address()}&options=-csearch_path%3D{name}"

    def new_database(self) -> str:
        """The address of an empty database."""
        name = f"t{uuid.uuid4().hex[:12]}"
        self.execute(f"CREATE DATABASE {name}")
        return self.address(name)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """The server of this test process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a runtime folder that is not set
        import pgserver
    # Short, since it holds a socket.
    folder = tempfile.mkdtemp(prefix="fpg-", dir=tempfile.gettempdir())
    server = pgserver.get_server(folder, cleanup_mode="delete")
    try:
        started = PostgresServer(Path(folder).resolve())
        rules = started.folder / "pg_hba.conf"
        rules.write_text("local all locked scram-sha-256\n" + rules.read_text())
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            started.execute(f"ALTER SYSTEM SET {setting} = off")
        started.execute("CREATE ROLE locked LOGIN PASSWORD 'right-password'")
        started.execute("SELECT pg_reload_conf()")
        yield started
    finally:
        _stop_at_once(server)


def _stop_at_once(server: Any) -> None:
    """Stop without writing down what is thrown away anyway."""
    pid = server.get_pid()
    os.kill(pid, signal.SIGQUIT)
    for _ in range(500):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.02)
    server.cleanup()


@pytest.fixture
def postgres(postgres_server: PostgresServer) -> str:
    """The address of an empty database."""
    return postgres_server.new_database()


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a new place for threads, of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "kept" / "threads.sqlite")
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return server.new_schema()
