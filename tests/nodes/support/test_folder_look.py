"""The first look at a folder: counts, names or groups of them, and the best passages of all files."""

from __future__ import annotations

from pathlib import Path

from openpyxl import Workbook

from forethought.nodes.support.folder_look import look_at_folders
from forethought.settings import Settings
from forethought.sizes import extent
from forethought.state.folder import FolderRef
from forethought.tools.folders.given import Folders
from forethought.tools.folders.intake import read_again
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


def test_files_that_hold_a_name_are_shown_whole_and_only_rows_of_tables(tmp_path: Path) -> None:
    files = contracts(40) | {
        "a.txt": "Agreement with Petrova Fittings.\n\nThe term is 30 days.",
        "b.csv": "supplier,days\n"
        + "\n".join(f"Supplier {n},{n}" for n in range(200))
        + "\nPetrova Fittings,21",
        "rules/terms.md": "The list counts.",
    }
    settings = settings_in(tmp_path)
    ref = indexed(write(tmp_path / "in", files), settings)
    seen, _ = look_at_folders(Folders([ref], settings), "By when do we pay Petrova Fittings?", 6_000)
    assert "“Petrova Fittings”: 2 files" in seen["held"]
    assert "a.txt:\nAgreement with Petrova Fittings.\nThe term is 30 days." in seen["held"]
    assert "| Petrova Fittings | 21 |" in seen["held"]
    assert "Supplier 199" not in seen["held"]
    assert "rules/terms.md:\nThe list counts." in seen["passages"], "a file without any like it"


def test_changes_since_the_last_task_are_told_once(tmp_path: Path) -> None:
    settings, root = settings_in(tmp_path), write(tmp_path / "in", contracts(40))
    ref = indexed(root, settings)
    (root / "contracts/contract-1007.txt").write_text("Contract 1007: cancelled.", "utf-8")
    (changed,) = read_again([ref], settings).folders
    assert "1 changed (contracts/contract-1007.txt)" in look_of([changed], settings)
    (same,) = read_again([changed], settings).folders
    assert "changed" not in look_of([same], settings)
    assert read_again([same], settings).folders == []


def look_of(refs: list[FolderRef], settings: Settings) -> str:
    return look_at_folders(Folders(refs, settings), "Zebra?", 6_000)[0]["summary"]


def test_an_empty_sheet_is_no_passage(tmp_path: Path) -> None:
    book = Workbook()
    book.active.title = "Zebra list"
    other = book.create_sheet("Other")
    for n in range(400):
        other.append([f"nothing {n}"])
    book.save(tmp_path / "zebra.xlsx")
    data = (tmp_path / "zebra.xlsx").read_bytes()
    text, _ = look(tmp_path, contracts(40) | {"zebra.xlsx": data}, "zebra list?")
    assert "This sheet is empty" not in text
