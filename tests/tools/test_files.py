from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from forethought.settings import Settings
from forethought.tools.files import (
    LONGEST_NAME,
    FilesError,
    FileStore,
    free_name,
    from_paths,
    safe_name,
    take_in,
)

Make = Callable[..., Settings]


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "blobs")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "given" / "sub").mkdir(parents=True)
    (tmp_path / "given" / "prices.csv").write_text("a,b\n")
    (tmp_path / "given" / "sub" / "rules.txt").write_text("rules")
    (tmp_path / "secret.txt").write_text("secret")
    return tmp_path / "given"


def test_a_look_up_renews_the_age_that_retention_goes_by(store: FileStore) -> None:
    content_hash = store.put(b"content")
    os.utime(store.path(content_hash), (0, 0))
    assert store.has(content_hash)
    assert store.path(content_hash).stat().st_mtime > 0
    assert not store.has("0" * 64)


def test_a_stored_content_is_found_by_its_hash_and_stored_once(store: FileStore) -> None:
    content_hash = store.put(b"content")
    assert content_hash == hashlib.sha256(b"content").hexdigest() == store.put(b"content")
    assert store.get(content_hash) == b"content"
    assert store.has(content_hash)
    assert [p.name for p in store.root.iterdir()] == [content_hash], "no temporary file stays behind"
    assert store.path(content_hash).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("bad", ["", "../secret.txt", "A" * 64, "a" * 64 + "\n", None])
def test_only_hashes_name_a_stored_file(store: FileStore, bad: Any) -> None:
    for use in (store.path, store.has, store.get):
        with pytest.raises(FilesError, match="64 lower-case"):
            use(bad)


def test_missing_and_damaged_contents_are_distinguished(store: FileStore) -> None:
    with pytest.raises(FilesError, match="not stored here"):
        store.get("0" * 64)
    content_hash = store.put(b"content")
    store.path(content_hash).write_bytes(b"contend")
    with pytest.raises(FilesError, match="damaged"):
        store.get(content_hash)


def test_a_full_disk_is_an_error_of_one_line(store: FileStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(FilesError, match="No space left on device"):
        store.put(b"y")
    assert list(store.root.iterdir()) == []


def test_a_name_in_the_files_folder_is_stored(store: FileStore, folder: Path, settings: Make) -> None:
    reference = take_in("prices.csv", store=store, settings=settings(files_dir=folder))
    assert reference == {
        "name": "prices.csv",
        "hash": hashlib.sha256(b"a,b\n").hexdigest(),
        "size": 4,
        "type": "text/csv",
    }
    assert store.get(reference["hash"]) == b"a,b\n"
    below = take_in("sub/rules.txt", store=store, settings=settings(files_dir=folder))
    assert (below["name"], below["type"]) == ("sub/rules.txt", "text/plain")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("../secret.txt", "leads out"),
        ("/etc/passwd", "leads out"),
        ("C:\\x", "no such file"),
        ("", "is a folder"),
        ("a\0b", "no such file"),
        ("nothing.csv", "no such file"),
        ("sub", "is a folder"),
    ],
)
def test_names_that_are_no_file_of_the_folder(
    store: FileStore, folder: Path, settings: Make, name: str, says: str
) -> None:
    with pytest.raises(FilesError, match=says) as raised:
        take_in(name, store=store, settings=settings(files_dir=folder))
    assert "\n" not in str(raised.value)


def test_links_must_not_lead_out_of_the_folder(store: FileStore, folder: Path, settings: Make) -> None:
    (folder / "out.txt").symlink_to(folder.parent / "secret.txt")
    (folder / "up").symlink_to(folder.parent)
    (folder / "in.csv").symlink_to(folder / "prices.csv")
    for name in ("out.txt", "up/secret.txt"):
        with pytest.raises(FilesError, match="leads out"):
            take_in(name, store=store, settings=settings(files_dir=folder))
    assert take_in("in.csv", store=store, settings=settings(files_dir=folder))["size"] == 4


@hypothesis_settings(max_examples=40)
@given(
    st.one_of(
        st.text(), st.lists(st.sampled_from(["..", ".", "in", "secret.txt", "link", "~", ""])).map("/".join)
    )
)
def test_no_name_reads_anything_outside_the_folder(name: str) -> None:
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "in"
        (folder / "in").mkdir(parents=True)
        (folder / "in" / "secret.txt").write_bytes(b"public")
        (folder / "secret.txt").write_bytes(b"public")
        (Path(home) / "secret.txt").write_bytes(b"SECRET")
        (folder / "link").symlink_to(home)
        store = FileStore(Path(home) / "blobs")
        settings = Settings(files_dir=folder, data_dir=Path(home))
        try:
            reference = take_in(name, store=store, settings=settings)
        except FilesError:
            return
        assert store.get(reference["hash"]) == b"public"


def test_without_a_folder_no_name_is_read(store: FileStore, settings: Make) -> None:
    with pytest.raises(FilesError, match="FORETHOUGHT_FILES_DIR"):
        take_in("prices.csv", store=store, settings=settings())


def test_data_is_decoded_and_stored(store: FileStore, settings: Make) -> None:
    data = base64.encodebytes(b"x" * 100).decode()
    reference = take_in({"name": "../a\n.txt", "data": data}, store=store, settings=settings())
    assert (reference["name"], reference["size"], reference["type"]) == ("a .txt", 100, "text/plain")
    assert "data" not in reference
    again = take_in({"name": "b.bin", "hash": reference["hash"], "size": 1}, store=store, settings=settings())
    assert (again["name"], again["size"]) == ("b.bin", 100)


@pytest.mark.parametrize(
    ("item", "says"),
    [
        (None, "must be a name"),
        ({"name": " "}, "needs a name"),
        ({"name": "a"}, "either data"),
        ({"name": "a", "data": "eA==", "hash": "0" * 64}, "either data"),
        ({"name": "a", "data": "not base64!"}, "not valid base64"),
        ({"name": "a", "hash": "0" * 64}, "no file with this hash"),
        ({"name": "a", "data": base64.b64encode(b"x" * 1001).decode()}, "larger than 0.001 MB"),
    ],
)
def test_invalid_items_are_refused(store: FileStore, settings: Make, item: Any, says: str) -> None:
    with pytest.raises(FilesError, match=says):
        take_in(item, store=store, settings=settings(max_file_mb=0.001))


def test_paths_of_the_command_line(folder: Path, settings: Make) -> None:
    paths = [folder / "prices.csv", folder / "sub" / "PRICES.csv", folder / "prices.csv"]
    paths[1].write_bytes(b"x")
    assert [file["name"] for file in from_paths(paths, settings())] == ["prices.csv", "PRICES (2).csv"]
    os.mkfifo(folder / "pipe")
    (folder / "large").write_bytes(b"x" * 1001)
    for name, says in (
        ("none", "no such file"),
        ("sub", "is a folder"),
        ("pipe", "not a regular file"),
        ("large", "larger than"),
    ):
        with pytest.raises(FilesError, match=says):
            from_paths([folder / name], settings(max_file_mb=0.001))


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("sub/a.csv", "sub_a.csv"),
        ("a\\b.csv", "a_b.csv"),
        ("a\tb\n.csv", "a b .csv"),
        ("evil\u202etxt.exe", "eviltxt.exe"),
        ("..", "file"),
        ("Prüfung.txt", "Prüfung.txt"),
        ("x" * 300 + ".csv", "x" * 196 + ".csv"),
    ],
)
def test_names_become_safe(name: str, safe: str) -> None:
    assert safe_name(name) == safe


@given(st.lists(st.sampled_from(["a.csv", "A.CSV", "a (2).csv", "x" * 196 + ".csv", "b"]), max_size=8))
def test_names_are_made_distinct(names: list[str]) -> None:
    taken: list[str] = []
    for name in names:
        taken.append(free_name(name, taken))
    assert len({name.casefold() for name in taken}) == len(names)
    assert max(map(len, taken), default=0) <= LONGEST_NAME
