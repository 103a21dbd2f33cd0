"""Small folders are taken in file by file, large ones as an index."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from forethought.settings import Settings
from forethought.state.agent import FileRef
from forethought.tools.files import FilesError, FileStore
from forethought.tools.folders.given import Folders, access
from forethought.tools.folders.intake import Given, index_folder, known_folder, read_again, take_paths
from forethought.tools.folders.places import index_path, kept_folders
from tests.support.folders import indexed, settings_in, write


def many(root: Path, count: int = 40) -> Path:
    return write(root, {f"{2025 + n % 2}/rent-{n}.txt": f"rent {n}" for n in range(count)})


def named(given: Given) -> list[str]:
    return [file["name"] for file in given.files]


def test_a_small_folder_is_taken_in_by_the_file_under_relative_names(tmp_path: Path) -> None:
    root = write(tmp_path / "in", {"2025/rent.txt": "1", "2026/rent.txt": "2", "~$rent.docx": "x"})
    given = take_paths([root], settings_in(tmp_path))
    assert (named(given), given.folders) == (["2025/rent.txt", "2026/rent.txt"], [])


def test_files_of_one_name_keep_the_folders_that_tell_them_apart(tmp_path: Path) -> None:
    write(tmp_path, {"a/notes.txt": "1", "b/notes.txt": "2", "b/other.txt": "3"})
    paths = [tmp_path / name for name in ("a/notes.txt", "b/notes.txt", "b/other.txt")]
    assert named(take_paths(paths, settings_in(tmp_path))) == ["a/notes.txt", "b/notes.txt", "other.txt"]


def test_two_folders_keep_their_names_apart(tmp_path: Path) -> None:
    write(tmp_path, {"a/notes.txt": "1", "b/notes.txt": "2"})
    settings = settings_in(tmp_path)
    assert named(take_paths([tmp_path / "a", tmp_path / "b"], settings)) == ["a/notes.txt", "b/notes.txt"]
    large = [many(tmp_path / "x" / "letters"), many(tmp_path / "y" / "letters")]
    given = take_paths(large, settings)
    assert [ref["name"] for ref in given.folders] == ["letters", "letters (2)"]
    folders = Folders(given.folders, settings)
    assert folders.text("letters (2)/2025/rent-0.txt") == "rent 0"
    assert {hit.name.partition("/")[0] for hit in folders.search("rent", 100)} == {"letters", "letters (2)"}


def test_a_large_folder_leaves_the_state_small_and_the_storage_empty(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    given = take_paths([many(tmp_path / "letters")], settings)
    (ref,) = given.folders
    assert (given.files, ref["name"], ref["count"], ref["types"]) == ([], "letters", 40, ["text/"])
    assert not settings.blobs_dir.exists()
    assert given.notes == ["letters: 40 files"]
    reached = access([], given.folders, settings, FileStore.of(settings))
    assert len(reached["files"]) == 40
    assert reached["store"].get(reached["files"]["2026/rent-1.txt"]) == b"rent 1"
    assert "2026/other.txt" not in reached["files"]


def test_a_file_that_changed_since_is_not_read_as_the_old_one(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    root = many(tmp_path / "letters")
    reached = access([], [indexed(root, settings)], settings, FileStore.of(settings))
    digest = reached["files"]["2026/rent-1.txt"]
    (root / "2026/rent-1.txt").write_text("rent 2")
    with pytest.raises(FilesError, match="has changed"):
        reached["store"].get(digest)


def test_reading_again_tells_what_is_new(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    root = many(tmp_path / "letters")
    refs = take_paths([root], settings, exclude=["*.log"]).folders
    assert read_again(refs, settings) == Given()
    write(root, {"new.txt": "x", "new.log": "x", "broken.docx": b"PK\x03\x04"})
    given = read_again(refs, settings)
    assert [ref["count"] for ref in given.folders] == [42]
    (line,) = given.notes
    assert all(part in line for part in ("2 added", "new.txt", "1 cannot be read", "broken.docx"))
    root.rename(tmp_path / "elsewhere")
    assert "is gone" in read_again(refs, settings).notes[0]


def test_a_folder_that_is_missing_or_empty_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FilesError, match="no files to read"):
        take_paths([write(tmp_path / "in", {".hidden": "x"})], settings_in(tmp_path))
    with pytest.raises(FilesError, match="no such file"):
        take_paths([tmp_path / "none"], settings_in(tmp_path))


def test_a_client_reaches_no_folder_but_those_that_were_given_to_it(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    ref = indexed(many(tmp_path / "letters"), settings)
    assert known_folder(ref, settings) == ref
    for forged in ({**ref, "id": "0" * 32}, {**ref, "id": "../secret"}, {"id": ref["id"]}, "letters"):
        with pytest.raises(FilesError):
            known_folder(forged, settings)
    other = settings_in(tmp_path / "other")
    assert indexed(tmp_path / "letters", other)["id"] != ref["id"], "made with a secret"
    assert index_path(ref["id"], settings).stat().st_mode & 0o077 == 0


def test_one_bad_file_of_a_small_folder_stops_nothing(tmp_path: Path) -> None:
    root = write(tmp_path / "in", {"a.txt": "1", "large.txt": "x" * 2000})
    given = take_paths([root], Settings(data_dir=tmp_path / "data", max_file_mb=0.001))
    assert named(given) == ["a.txt"]
    assert "large.txt" in given.notes[0]


def test_a_folder_with_ignored_files_alone_is_refused_with_the_reason(tmp_path: Path) -> None:
    root = write(tmp_path / "in", {".gitignore": "*", "a.txt": "1"})
    with pytest.raises(FilesError, match=r"\.gitignore"):
        take_paths([root], settings_in(tmp_path))


def test_a_file_given_by_itself_and_one_of_the_folder_may_have_the_same_name(tmp_path: Path) -> None:
    settings, store = settings_in(tmp_path), FileStore.of(settings_in(tmp_path))
    ref = indexed(write(tmp_path / "in", {"a.txt": "in the folder", "b.txt": "b"}), settings)
    given = [FileRef(name="a.txt", hash=store.put(b"by itself"), size=9, type="text/plain")]
    reached = access(given, [ref], settings, store)
    assert sorted(reached["files"]) == ["a.txt", "in/a.txt", "in/b.txt"]
    assert reached["folders"].text("a.txt") == "by itself"
    assert reached["folders"].text("in/a.txt") == "in the folder"


def test_an_interrupted_index_knows_its_folder(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index_folder(many(tmp_path / "in"), settings, (), stop)
    assert [kept.root for kept in kept_folders(settings)] == [tmp_path / "in"]


def test_a_broken_index_is_made_anew(tmp_path: Path) -> None:
    settings, root = settings_in(tmp_path), many(tmp_path / "in")
    path = index_path(indexed(root, settings)["id"], settings)
    path.write_bytes(b"no database " * 1000)
    assert indexed(root, settings)["count"] == 40


def test_a_folder_that_cannot_be_read_again_keeps_its_last_state(tmp_path: Path) -> None:
    settings, root = settings_in(tmp_path), many(tmp_path / "in")
    ref = indexed(root, settings)
    with sqlite3.connect(index_path(ref["id"], settings)) as base:
        base.execute("DROP TABLE blocks")
    write(root, {"new.txt": "new"})
    again = read_again([ref], settings)
    assert again.folders == []
    assert "last state" in again.notes[0]
