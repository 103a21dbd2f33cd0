"""Which files of a folder are found, and which are listed with a reason."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from forethought.tools.folders.walk import walk
from tests.support.folders import write


def found(root: Path, *exclude: str) -> list[str]:
    return [each.name for each in walk(root, exclude) if not each.reason]


def reasons(root: Path) -> dict[str, str]:
    return {each.name: each.reason for each in walk(root) if each.reason}


def test_files_of_all_subfolders_by_their_relative_names(tmp_path: Path) -> None:
    write(tmp_path, {"b.txt": "", "2025/rent.txt": "", "2026/rent.txt": "", "2026/q1/rent.txt": ""})
    assert found(tmp_path) == ["b.txt", "2025/rent.txt", "2026/rent.txt", "2026/q1/rent.txt"]


def test_hidden_installed_and_left_behind_files_are_ignored(tmp_path: Path) -> None:
    names = (".git/config", ".env", "node_modules/a/b.js", "x/__pycache__/a.pyc", "~$terms.docx", "Thumbs.db")
    write(tmp_path, dict.fromkeys((*names, "terms.docx"), ""))
    assert found(tmp_path) == ["terms.docx"]


def test_gitignore_holds_below_its_folder_and_the_deepest_decides(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "*.log\n/build/\n", "sub/.gitignore": "!keep.log\nnotes/\n"})
    write(tmp_path, dict.fromkeys(("a.log", "a.txt", "build/x.txt", "sub/build/x.txt"), ""))
    write(tmp_path, dict.fromkeys(("sub/keep.log", "sub/b.log", "sub/notes/n.txt", "notes/n.txt"), ""))
    assert found(tmp_path) == ["a.txt", "notes/n.txt", "sub/keep.log", "sub/build/x.txt"]


def test_patterns_of_the_person_leave_files_out(tmp_path: Path) -> None:
    write(tmp_path, dict.fromkeys(("a.txt", "a.tmp", "old/b.txt", "new/b.txt"), ""))
    assert found(tmp_path, "*.tmp", "old/") == ["a.txt", "new/b.txt"]


def test_links_that_lead_out_and_loops_are_not_followed(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"secret.txt": "s"})
    root = write(tmp_path / "in", {"a.txt": "a", "sub/b.txt": "b"})
    (root / "out.txt").symlink_to(outside / "secret.txt")
    (root / "out").symlink_to(outside)
    (root / "same.txt").symlink_to(root / "a.txt")
    (root / "sub/up").symlink_to(root)
    (root / "one").symlink_to(root / "two")
    (root / "two").symlink_to(root / "one")
    assert found(root) == ["a.txt", "same.txt", "sub/b.txt"]
    assert set(reasons(root)) == {"out.txt", "out", "sub/up", "one", "two"}
    assert "leads out" in reasons(root)["out.txt"]


def test_what_is_no_file_is_listed_with_the_reason(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "a"})
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / b"bad\xff.txt".decode("utf-8", "surrogateescape")).write_text("x")
    (tmp_path / "two\nlines.txt").write_text("x")
    assert found(tmp_path) == ["a.txt"]
    assert set(reasons(tmp_path)) == {"pipe", "bad?.txt", "two\nlines.txt"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may open everything")
def test_a_closed_folder_is_listed(tmp_path: Path) -> None:
    write(tmp_path, {"closed/a.txt": "a", "b.txt": "b"})
    (tmp_path / "closed").chmod(0)
    try:
        assert (found(tmp_path), list(reasons(tmp_path))) == (["b.txt"], ["closed/"])
    finally:
        (tmp_path / "closed").chmod(0o700)
