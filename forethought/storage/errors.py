"""What goes wrong with a database, in one line that a person can act on. No line holds a password."""

from __future__ import annotations

import re
import sys

_OTHERS = "it is another program's, or of an older release; name another one with --db or FORETHOUGHT_DB"
_BY_STATE = {
    "28P01": "wrong password: mend it in the address, or in PGPASSWORD",
    "28000": "this user may not log in: mend user and password in the address",
    "3D000": "there is no such database: create it (createdb), or name another one",
    "42501": "this user has no right to do that: grant it, or name another user",
    "25006": "it takes no writes (a standby, or a read-only user): name the primary server",
    "3F000": "the schema of `search_path` is not there: create it (CREATE SCHEMA), or mend the address",
    "42P01": _OTHERS,
    "42703": _OTHERS,
    "53100": "its disk is full: free some space, then go on with `forethought resume`; what was done is kept",
    "53300": "it has no connection left: raise max_connections, or run less side by side",
}
_BY_WORDS = (
    ("password authentication failed", _BY_STATE["28P01"]),
    ("no password supplied", "it wants a password: give it in the address, or in PGPASSWORD"),
    ("does not exist", "create it, or mend the address"),
    ("Connection refused", "is the server running there?"),
    ("No such file or directory", "is the server running there?"),
    ("failed to resolve host", "mend the host in the address"),
    ("timeout expired", "the server does not answer: is it running, and may it be reached?"),
    ("couldn't get a connection", "the server does not answer; what was done is kept"),
    ("starting up", "it is starting: try again in a moment"),
    ("remaining connection slots", _BY_STATE["53300"]),
    ("too many clients", _BY_STATE["53300"]),
    ("not permitted to log in", _BY_STATE["28000"]),
    ("permission denied", _BY_STATE["42501"]),
    ("terminating connection", "the server closed the connection; what was done is kept"),
    ("closed the connection", "the server closed the connection; what was done is kept"),
    ("connection is closed", "the server closed the connection; what was done is kept"),
    ("connection is lost", "the server closed the connection; what was done is kept"),
    ("ProactorEventLoop", "on Windows a Postgres database can be used from WSL only"),
)


_DISCONNECTED = ("08", "57P01", "57P02", "57P03", "57P05")
"""How the SQLSTATEs begin of a connection that is lost, or refused by a server that stops or starts."""
_PROTOCOL_VIOLATION = "08P01"
"""A message that the server cannot take, a value that is far too large say; it hangs up on it each time."""


class StorageError(Exception):
    """Storage that cannot be used; one line that says what to do.

    `wrong_use`: a person named the wrong thing, rather than the world having failed.
    """

    def __init__(self, line: str, *, wrong_use: bool = False) -> None:
        super().__init__(line)
        self.wrong_use = wrong_use


class ThreadLost(StorageError):
    """This process has lost a thread that it held: another one may have taken it up."""


class NothingKept(StorageError):
    """A database that nothing is kept in yet, and that is not to be set up."""

    def __init__(self, shown: str) -> None:
        super().__init__(f"no threads yet in {shown}", wrong_use=True)


def postgres_line(error: BaseException, shown: str = "") -> str:
    """What to tell a person about an error of psycopg. `shown` is the address as it may be shown."""
    text = " ".join(str(error).split("\n", 1)[0].split()) or type(error).__name__
    text = re.sub(r"^connection failed: ", "", text)
    state = getattr(error, "sqlstate", None)
    hint = _BY_STATE.get(state or "") or next((hint for words, hint in _BY_WORDS if words in str(error)), "")
    where = shown or next(iter(getattr(error, "__notes__", ())), "")
    return f"the database {where}: ".replace(" :", ":") + text + (f": {hint}" if hint else "")


def is_postgres(error: BaseException) -> bool:
    """Whether an error is psycopg's; without psycopg loaded none is."""
    kinds = (("psycopg", "Error"), ("psycopg_pool", "PoolTimeout"), ("psycopg_pool", "PoolClosed"))
    found = (getattr(sys.modules.get(module), name, None) for module, name in kinds)
    return isinstance(error, tuple(kind for kind in found if isinstance(kind, type)))


def is_disconnected(error: BaseException) -> bool:
    """Whether the connection to the Postgres database was lost, or is not to be had for now: nothing is wrong
    with what was asked of it."""
    if isinstance(error, ThreadLost):
        return True
    if isinstance(error, StorageError):
        return error.__cause__ is not None and is_disconnected(error.__cause__)
    # The pool's errors are of this kind too.
    if not isinstance(error, getattr(sys.modules.get("psycopg"), "OperationalError", ())):
        return False
    state = getattr(error, "sqlstate", None)
    return state is None or (state.startswith(_DISCONNECTED) and state != _PROTOCOL_VIOLATION)


def is_outage(error: BaseException) -> bool:
    """Whether the database cannot be used for now, whatever is asked of it: its connection, disk, places."""
    operational = getattr(sys.modules.get("psycopg"), "OperationalError", ())
    return is_disconnected(error) or isinstance(error, operational | StorageError)


def is_storage_failure(error: BaseException) -> bool:
    """Whether it is the database that failed, of whatever kind."""
    import sqlite3

    return isinstance(error, StorageError | sqlite3.Error | OSError) or is_postgres(error)
