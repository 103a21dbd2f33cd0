"""The first look at a folder: counts, names or groups of them, and the best passages of all files."""

from __future__ import annotations

from pathlib import Path

from forethought.nodes.support.folder_look import look_at_folders
from forethought.sizes import extent
from forethought.tools.folders.given import Folders
from tests.support.folders import indexed, settings_in, write


def look(tmp_path: Path, files: dict[str, str | bytes], task: str, room: int = 6_000) -> tuple[str, int]:
    settings = settings_in(tmp_path)
    ref = indexed(write(tmp_path / "in", files), settings)
    seen, unseen = look_at_folders(Folders([ref], settings), task, room)
    return "\n\n".join(map(str, seen.values())), unseen


def contracts(count: int) -> dict[str, str | bytes]:
    return {
        f"contracts/contract-{n}.txt": f"Contract {n}\n\nThe notice period is {n % 7 + 1} months.\n\n"
        + "Filler. " * 200
        for n in range(1000, 1000 + count)
    }


def test_the_file_that_the_task_names_is_shown_among_hundreds(tmp_path: Path) -> None:
    files = contracts(400) | {"broken.docx": b"PK\x03\x04"}
    text, unseen = look(tmp_path, files, "What is the notice period of contract 1277?")
    assert extent(text) < 6_500
    assert "401 files" in text
    assert "read_each over all of them takes about 55 model calls" in text
    assert "1 cannot be read: broken.docx is damaged" in text
    assert "contracts/ 400 txt: contract-1000 ... 1399.txt, 400 files" in text
    assert "contracts/contract-1277.txt:" in text
    assert unseen > 380
    assert f"{unseen} files of 401 have no passage" in text
    assert all(tool in text for tool in ("find_files", "search_files", "read_file"))


def test_all_names_are_there_while_they_fit(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"{2025 + n % 2}/letter {n}.txt": "A letter." for n in range(40)}
    text, _ = look(tmp_path, files, "What is due?")
    assert "All names:\n2025/: letter 0.txt, letter 10.txt" in text


def test_other_versions_of_a_shown_file_are_named(tmp_path: Path) -> None:
    files = contracts(40) | {"fees v1.txt": "The fee is 3.", "fees v2.txt": "Prices for islands."}
    text, _ = look(tmp_path, files, "How much is the fee?")
    assert "fees v1.txt: Other versions: fees v2.txt [sign: version]" in text


def test_nothing_that_fits_is_no_error(tmp_path: Path) -> None:
    text, unseen = look(tmp_path, contracts(40), "Zebra?")
    assert (unseen, "Passages" in text) == (40, False)
