"""Addresses: what they mean, and that none gives its password away."""

from __future__ import annotations

import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forethought.settings import Settings
from forethought.storage import Address, StorageError, address_of


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("threads.db", "threads.db"),
        ("sqlite:///threads.db", "threads.db"),
        ("sqlite:////var/threads.db", "/var/threads.db"),
        ("sqlite:////var/threads.db?mode=ro", "/var/threads.db"),
        ("~/t.db", str(Path("~/t.db").expanduser())),
    ],
)
def test_a_file(given: str, path: str) -> None:
    address = address_of(Settings(db=given))
    assert (address.path, address.conninfo, address.shown) == (Path(path), None, path)


def test_without_an_address_it_is_the_data_folder(tmp_path: Path) -> None:
    address = address_of(Settings(data_dir=tmp_path))
    assert address.path == tmp_path / "threads.sqlite"
    assert address.beside("experience.sqlite").path == tmp_path / "experience.sqlite"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("postgresql://ann:s3cret@db.example:5433/agents", "postgresql://ann@db.example:5433/agents"),
        ("postgres://ann@db.example/agents", "postgresql://ann@db.example/agents"),
        ("postgresql://h/d?user=ann&password=s3cret", "postgresql://ann@h/d"),
        ("postgresql:///d?host=/run/pg", "postgresql:///run/pg/d"),
        ("postgresql://ann:s3cret@/d?host=/run/pg&port=1", "postgresql://ann@/run/pg:1/d"),
        ("postgresql://a:s3cret%40%2F@h1:1,h2:2/d", "postgresql://a@h1,h2:1,2/d"),
    ],
)
def test_a_server_is_shown_without_its_password(given: str, shown: str) -> None:
    address = address_of(Settings(db=given))
    assert (address.shown, address.path, address.conninfo) == (shown, None, given)
    assert address.beside("experience.sqlite") == address
    assert "s3cret" not in repr(address) + repr(Settings(db=given))


@pytest.mark.parametrize(
    "given",
    [
        "mysql://u:s3cret@h/d", "sqlite://t.db", "sqlite:///", "postgresql://u:s3cr/et@h/d", "http://s3cret",
        "postgresql://u:s3cret@h:port/d", "postgresql://u:s3 cret@h/d", "postgresql://h/d?pass=s3cret",
        "postgresql://u:%zzs3cret@h/d", "s3cret is no scheme://h/d",
    ],
)  # fmt: skip
def test_what_is_malformed_is_refused_and_not_repeated(given: str) -> None:
    with pytest.raises(StorageError) as caught:
        address_of(Settings(db=given))
    assert caught.value.wrong_use
    assert "\n" not in str(caught.value)
    assert not any(part in str(caught.value) for part in ("s3cret", "s3cr", "et@"))


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=6, max_size=30), st.booleans())
def test_no_password_is_ever_shown(password: str, quoted: bool) -> None:
    secret = f"pw{password}pw"
    try:
        address: Address | StorageError = address_of(
            Settings(db=f"postgresql://user:{quote(secret, safe='') if quoted else secret}@host/name")
        )
    except StorageError as error:
        address = error
    said = address.shown + repr(address) if isinstance(address, Address) else str(address)
    assert secret not in said
    assert "pw" not in said


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StorageError, match=r"pip install .*\[postgres\]"):
        address_of(Settings(db="postgresql://h/d"))
