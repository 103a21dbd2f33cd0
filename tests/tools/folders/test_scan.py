"""The index of a folder: contents, updates, searches."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Sequence
from pathlib import Path

import docx
import pytest

from forethought.settings import Settings
from forethought.tools.files import FilesError
from forethought.tools.folders import scan as scanning
from forethought.tools.folders.given import Folders
from forethought.tools.folders.intake import index_folder, news
from forethought.tools.folders.records import Content
from forethought.tools.folders.scan import Scan
from tests.support.folders import indexed, settings_in, write


def again(root: Path, settings: Settings, exclude: Sequence[str] = ()) -> tuple[Folders, Scan]:
    ref, report = index_folder(root, settings, exclude)
    return Folders([ref], settings), report


def names(folders: Folders, query: str) -> list[str]:
    return [hit.name for hit in folders.search(query)]


def word_document(*paragraphs: str) -> bytes:
    document, data = docx.Document(), io.BytesIO()
    for text in paragraphs:
        document.add_paragraph(text)
    document.save(data)
    return data.getvalue()


def test_documents_and_texts_are_found_by_their_words_and_names(tmp_path: Path) -> None:
    root = write(
        tmp_path / "in",
        {
            "2025/lease.docx": word_document("The rent is EUR 1,240 a month.", "The lift is new."),
            "2026/lease.txt": "The rent is EUR 1,300 a month.",
            "notes/lift.md": "# Repairs\n\nThe crane was broken.",
        },
    )
    folders, report = again(root, settings_in(tmp_path))
    assert sorted(report.added) == ["2025/lease.docx", "2026/lease.txt", "notes/lift.md"]
    assert names(folders, "Who pays 1240?") == ["2025/lease.docx"]
    assert names(folders, "lease rents of 2026")[0] == "2026/lease.txt"
    assert names(folders, "lift")[0] == "notes/lift.md", "a name counts more"
    (hit,) = folders.search("broken cranes")
    assert (hit.text, hit.place, hit.heading) == ("# Repairs\n\nThe crane was broken.", "line 1", "Repairs")
    assert folders.text("2026/lease.txt") == "The rent is EUR 1,300 a month."


def test_only_what_is_new_or_changed_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_in(tmp_path)
    root = write(tmp_path / "in", {"a.txt": "apple", "b.txt": "banana", "c.txt": "cherry"})
    again(root, settings)
    read: list[str] = []
    sound = scanning.content_of

    def content_of(data: bytes, digest: str, name: str, given: Settings) -> Content:
        read.append(name)
        return sound(data, digest, name, given)

    monkeypatch.setattr(scanning, "content_of", content_of)
    _, report = again(root, settings)
    assert (report, read) == (Scan(), [])
    write(root, {"a.txt": "apricot", "d.txt": "date"})
    (root / "b.txt").unlink()
    os.utime(root / "c.txt", (1, 1))
    folders, report = again(root, settings)
    assert (report.added, report.removed) == (["d.txt"], ["b.txt"])
    assert sorted(report.changed) == ["a.txt", "c.txt"]
    assert sorted(read) == ["a.txt", "d.txt"], "c.txt has the content that it had"
    assert [names(folders, word) for word in ("apple", "apricot", "banana", "cherry")] == [
        [],
        ["a.txt"],
        [],
        ["c.txt"],
    ]


def test_copies_are_read_once_and_a_moved_file_is_found_under_its_new_name(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    root = write(tmp_path / "in", {"a.txt": "apple", "copy/b.txt": "apple"})
    folders, _ = again(root, settings)
    assert folders.each[0].index.counts() == (2, 0, 10)
    assert len(folders.search("apple")) == 1
    (root / "a.txt").unlink()
    (root / "copy/b.txt").rename(root / "orchard.txt")
    folders, _ = again(root, settings)
    assert names(folders, "apple") == names(folders, "orchard") == ["orchard.txt"]


def test_words_of_passages_that_are_gone_are_dropped_in_time(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    root = write(tmp_path / "in", {"keep.txt": "cherry", "a.txt": ""})
    for turn in range(3):
        (root / "a.txt").write_text("\n\n".join(f"apple {turn} {n} " + "x " * 500 for n in range(600)))
        folders, _ = again(root, settings)
    assert folders.each[0].index._last_passage() < 2_500
    assert names(folders, "cherry") == ["keep.txt"]
    assert {hit.name for hit in folders.search("apple 2")} == {"a.txt"}


def test_a_file_that_cannot_be_read_is_listed_and_stops_nothing(tmp_path: Path) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"<w:t>" + b" " * 400_000_000)
    root = write(
        tmp_path / "in",
        {
            "bomb.docx": bomb.getvalue(),
            "broken.pdf": b"%PDF-1.7 no more",
            "big.txt": "x" * 2_000_001,
            "empty.txt": "",
            "good.txt": "apple",
        },
    )
    folders, report = again(root, Settings(data_dir=tmp_path / "data", max_file_mb=2, reader_memory_mb=300))
    assert {name for name, _ in report.unreadable} == {"bomb.docx", "broken.pdf", "big.txt", "empty.txt"}
    assert folders.counts() == (5, 4)
    assert names(folders, "apple") == ["good.txt"]
    entry = folders.entry("big.txt")
    assert entry is not None
    assert "larger than 2 MB" in entry.reason


def test_thousands_of_empty_files(tmp_path: Path) -> None:
    root = tmp_path / "in"
    for folder in range(5):
        (root / str(folder)).mkdir(parents=True)
        for number in range(1_000):
            os.close(os.open(root / str(folder) / f"{number}.txt", os.O_CREAT))
    settings = settings_in(tmp_path)
    ref, report = index_folder(root, settings)
    assert (ref["count"], len(report.unreadable)) == (5_000, 5_000)
    assert len(news(ref, report)) < 500
    assert Folders([ref], settings).counts() == (5_000, 5_000)


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "MOST_FILES", 2)
    with pytest.raises(FilesError, match="--exclude"):
        indexed(write(tmp_path / "in", dict.fromkeys("abc", "x")), settings_in(tmp_path))


def test_an_interrupted_scan_keeps_what_it_read(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    root = write(tmp_path / "in", {f"{n}.txt": f"apple {n}" for n in range(50)})

    def stop(done: int, total: int) -> None:
        if done == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index_folder(root, settings, progress=stop)
    _, report = index_folder(root, settings)
    assert len(report.added) in range(28, 32)


def test_an_interrupt_crashes_no_process(tmp_path: Path) -> None:
    root = write(tmp_path / "in", {f"{n}.txt": f"apple {n} " * 50 for n in range(200)})
    code = """if True:
        import sys
        from pathlib import Path
        from forethought.settings import Settings
        from forethought.tools.folders.intake import index_folder

        def stop(done, total):
            if done == 20:
                raise KeyboardInterrupt

        for number in range(10):
            try:
                index_folder(Path(sys.argv[1]), Settings(data_dir=Path(sys.argv[2], str(number))), (), stop)
            except KeyboardInterrupt as error:
                kept = error
    """
    assert subprocess.run([sys.executable, "-c", code, root, tmp_path / "data"]).returncode == 0


def test_two_processes_may_read_one_folder(tmp_path: Path) -> None:
    root = write(tmp_path / "in", {f"{n}.txt": f"apple {n}" for n in range(300)})
    code = (
        "import sys; from pathlib import Path; from forethought.settings import Settings;"
        "from forethought.tools.folders.intake import index_folder;"
        "index_folder(Path(sys.argv[1]), Settings(data_dir=Path(sys.argv[2])))"
    )
    line = [sys.executable, "-c", code, str(root), str(tmp_path / "data")]
    others = [subprocess.Popen(line) for _ in range(2)]
    assert [other.wait(120) for other in others] == [0, 0]
    folders, report = again(root, settings_in(tmp_path))
    assert (report, folders.counts()) == (Scan(), (300, 0))
    assert len(folders.search("apple", 400)) == 300


def test_threads_may_search_while_one_reads(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    root = write(tmp_path / "in", {f"{n}.txt": f"apple {n}" for n in range(200)})
    folders, _ = again(root, settings)
    write(root, {f"new/{n}.txt": f"apple {n} too" for n in range(200)})
    found: list[int] = []
    searching = [
        threading.Thread(target=lambda: found.append(len(folders.search("apple")))) for _ in range(8)
    ]
    for thread in searching:
        thread.start()
    again(root, settings)
    for thread in searching:
        thread.join()
    assert found == [20] * 8


def test_files_are_read_again_under_other_limits(tmp_path: Path) -> None:
    root = write(tmp_path / "in", {"large.txt": "large " * 500, "broken.docx": b"PK\x03\x04", "a.txt": "1"})
    small = Settings(data_dir=tmp_path / "data", max_file_mb=0.001)
    _, report = again(root, small)
    assert sorted(name for name, _ in report.unreadable) == ["broken.docx", "large.txt"]
    folders, report = again(root, settings_in(tmp_path))
    assert (report.changed, set(names(folders, "large"))) == (["large.txt"], {"large.txt"})
    _, report = again(root, Settings(data_dir=tmp_path / "data", reader_seconds=50))
    assert report.changed == ["broken.docx"]
    assert again(root, Settings(data_dir=tmp_path / "data", reader_seconds=50))[1] == Scan()
