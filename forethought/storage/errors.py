"""What goes wrong with a database, in one line that a person can act on. No line holds a password."""

from __future__ import annotations

import re
import sqlite3
import sys

_ADVICE = (
    ("password", "give the right password in the address or in PGPASSWORD"),
    ("relation", "it belongs to another program or an older release; name another one with --db"),
    ("does not exist", "create it, or correct the address"),
    ("Connection refused", "is the server running there?"),
    ("No such file or directory", "is the server running there?"),
    ("timeout expired", "the server does not answer; check that it is running and reachable"),
    (
        "couldn't get a connection",
        "the server does not answer; the work so far is saved, so resume when it is back",
    ),
    ("closed the connection", "the work so far is saved; resume when the server is back"),
)


class StorageError(Exception):
    """Storage that cannot be used; one line that says what to do.

    `wrong_use`: a person named the wrong thing, rather than the world having failed.
    """

    def __init__(self, line: str, *, wrong_use: bool = False) -> None:
        super().__init__(line)
        self.wrong_use = wrong_use


class NoThreads(StorageError):
    """A database without a thread, which is not to be set up."""

    def __init__(self, shown: str) -> None:
        super().__init__(f"no threads yet in {shown}; start one with: forethought run TASK", wrong_use=True)


def postgres_line(error: BaseException, shown: str = "") -> str:
    """What to tell a person about an error of psycopg. `shown` is the address as it may be shown."""
    text = " ".join(str(error).split("\n", 1)[0].split()) or type(error).__name__
    text = re.sub(r"^connection failed: ", "", text)
    advice = next((advice for words, advice in _ADVICE if words in str(error)), "")
    return (
        f"the database {shown or database_of(error)}: ".replace(" :", ":")
        + text
        + (f": {advice}" if advice else "")
    )


def database_of(error: BaseException) -> str:
    """The database of a driver's error, as it may be shown: its attribute, since LangGraph adds notes too."""
    return str(vars(error).get("database", ""))


def is_postgres(error: BaseException) -> bool:
    """Whether an error is psycopg's, or its pool's; without psycopg loaded none is."""
    kind = getattr(sys.modules.get("psycopg"), "Error", None)
    return isinstance(kind, type) and isinstance(error, kind)


def is_storage_failure(error: BaseException) -> bool:
    """Whether it is the database that failed, of whatever kind."""
    return isinstance(error, StorageError | sqlite3.Error | OSError) or is_postgres(error)
