"""The address of a database: a path, sqlite:///path or postgresql://user@host/database.

The password of an address stays in `Address.conninfo`; whatever is told to a person holds `shown`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from forethought.extras import install_command
from forethought.storage.errors import StorageError

if TYPE_CHECKING:
    from forethought.settings import Settings

_POSTGRES = ("postgresql", "postgres")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}")
MISSING_EXTRA = f"a Postgres database needs psycopg: {install_command('postgres')}"


@dataclass(frozen=True)
class Address:
    """Where a database is. One of `path` and `conninfo` is given."""

    shown: str
    """The address for messages, without a password."""
    path: Path | None = None
    """SQLite's file."""
    conninfo: str | None = field(default=None, repr=False)
    """Postgres' connection string, which may hold a password."""

    def beside(self, name: str) -> Address:
        """The file `name` beside SQLite's. A Postgres database keeps all in itself."""
        return self if self.path is None else file_address(self.path.with_name(name))

    @property
    def exists(self) -> bool:
        """Whether SQLite's file is there. A server is asked only when it is opened."""
        return self.path is None or self.path.exists()


def file_address(path: Path) -> Address:
    """The address of an SQLite file."""
    return Address(str(path), path)


def address_of(settings: Settings) -> Address:
    """The database of threads: `settings.db`, or threads.sqlite in the data folder.

    Raises StorageError for another kind of address, a malformed one, and where the extra is missing.
    """
    if not settings.db:
        return file_address(settings.data_dir / "threads.sqlite")
    scheme, colon, rest = settings.db.partition("://")
    if not colon:
        return file_address(Path(settings.db).expanduser())
    if scheme in _POSTGRES:
        return _postgres(settings.db)
    path = rest.partition("?")[0]
    if scheme == "sqlite" and path.startswith("/") and path != "/":
        return file_address(Path(path[1:]).expanduser())
    named = f"{scheme}://..." if _SCHEME.fullmatch(scheme) else "this address"
    raise StorageError(
        f"--db {named}: give a path, sqlite:///path (absolute: sqlite:////path) or postgresql://user@host/database",
        wrong_use=True,
    )


def _postgres(text: str) -> Address:
    """A checked address of Postgres; nothing of a malformed one is repeated, since it may be the password."""
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError as error:
        raise StorageError(MISSING_EXTRA, wrong_use=True) from error
    advice = (
        "write postgresql://user:password@host:port/database; in user and password, write %40 "
        "for @, %2F for /, %3A for :, %23 for #, %25 for %"
    )
    try:
        parts = {name: str(value) for name, value in conninfo_to_dict(text).items()}
    except (ProgrammingError, ValueError, UnicodeError) as error:
        raise StorageError(f"--db postgresql://...: {advice}", wrong_use=True) from error
    ports = parts.get("port", "")
    name = parts.get("dbname", "")
    if not re.fullmatch(r"[0-9,]*", ports) or re.search(r"[@/:]", name) or "@" in parts.get("host", ""):
        raise StorageError(f"--db postgresql://...: {advice}", wrong_use=True)
    user = f"{parts['user']}@" if "user" in parts else ""
    port = f":{ports}" if ports else ""
    return Address(f"postgresql://{user}{parts.get('host', '')}{port}/{name}", conninfo=text)
