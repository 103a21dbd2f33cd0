"""The files of a folder that hold what a task names."""

from __future__ import annotations

from pathlib import Path

from forethought.nodes.support.folder_keys import MOST, keys_of
from forethought.tools.folders.given import Folders
from tests.support.folders import indexed, settings_in, write


def held(tmp_path: Path, files: dict[str, str | bytes], task: str) -> dict[str, list[str]]:
    """The keys of a task, with the files of each."""
    settings = settings_in(tmp_path)
    folders = Folders([indexed(write(tmp_path / "in", files), settings)], settings)
    sizes = {entry.name: entry.characters for entry in folders.entries()}
    keys = keys_of(folders, task, folders.search(task, 8), sizes)
    return {key.label: sorted(hit.name for hit in key.hits) for key in keys}


def leases() -> dict[str, str | bytes]:
    others = {
        f"lease-{n}.txt": f"Lease no. {n}. Tenant: Bo Roldan. The rent is {n}." for n in range(2000, 2030)
    }
    return others | {
        "lease-1384.txt": "Lease no. 1384. Tenant: Ewa Toth. The rent is 600 euros.",
        "2024-05.txt": "Supplement to lease no. 1384. From July on, 700 euros are due.",
        "2024-06.txt": "Draft of a supplement to lease no. 1384, not signed: 900 euros.",
    }


def test_a_name_leads_to_a_file_and_its_number_to_the_amendments(tmp_path: Path) -> None:
    keys = held(tmp_path, leases(), "What rent does Ewa Toth owe?")
    assert keys == {
        "“Ewa Toth”": ["lease-1384.txt"],
        "“1384”": ["2024-05.txt", "2024-06.txt", "lease-1384.txt"],
    }


def test_a_name_in_many_files_counts_only_with_the_other_names_or_the_month(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        f"2026-{month:02}/bill-{n}.txt": f"Branch Bergen, item {n * month}."
        for month in (1, 2)
        for n in range(10, 18)
    }
    keys = held(tmp_path, files, "What did the branch Bergen pay in January 2026?")
    assert {label: len(names) for label, names in keys.items()} == {"“Bergen” and the task's month": 8}
    assert len(files) > MOST
    assert held(tmp_path, files, "What did Bergen pay?") == {}


def test_quoted_words_are_a_name_and_common_words_are_none(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"{n}.txt": "A wall shelf." for n in range(20)} | {
        "x.txt": "A bunk bed."
    }
    assert held(tmp_path, files, 'How many of "bunk bed" are there?') == {"“bunk bed”": ["x.txt"]}
    assert held(tmp_path, files, "How many shelves are there?") == {}


def test_a_number_like_a_year_leads_to_the_amendments_if_it_is_called_a_number(tmp_path: Path) -> None:
    files = {name.replace("1384", "1911"): text for name, text in leases().items()}
    files = {name: str(text).replace("1384", "1911") for name, text in files.items()}
    keys = held(tmp_path, dict(files), "What rent does Ewa Toth owe?")
    assert keys["“1911”"] == ["2024-05.txt", "2024-06.txt", "lease-1911.txt"]


def test_of_a_table_the_row_with_all_names_is_held(tmp_path: Path) -> None:
    towns = ("Bergen", "Evora", "Fulda", "Gdansk", "Haarlem", "Izola", "Jena", "Kassel", "Lund", "Odense")
    items = ("bar stool", "bunk bed", *(f"item {letter}" for letter in "abcdefghijklmn"))
    rows = [f"{town},{item}," for town in towns for item in items]
    files: dict[str, str | bytes] = {
        f"2026-{month:02}/list.csv": "\n".join(["branch,item,pieces", *(f"{row}{month}" for row in rows)])
        for month in (1, 2)
    }
    files |= {f"note-{n}.txt": f"Note {n} about {'a bunk bed' if n % 2 else 'Gdansk'}." for n in range(20)}
    settings = settings_in(tmp_path)
    folders = Folders([indexed(write(tmp_path / "in", files), settings)], settings)
    sizes = {entry.name: 10_000 for entry in folders.entries() if "list" in entry.name}
    task = 'How many of "bunk bed" did the Gdansk branch have in the list?'
    hits = [hit for key in keys_of(folders, task, [], sizes) for hit in key.hits if "list" in hit.name]
    assert len(hits) == 2
    assert all(any("Gdansk" in row and "bunk bed" in row for row in hit.text.split("\n")) for hit in hits)


def test_a_name_that_no_file_holds_is_said_and_leads_to_no_other(tmp_path: Path) -> None:
    assert held(tmp_path, leases(), "What rent does Ewa Tott owe?") == {"“Ewa Tott”": []}
    assert held(tmp_path, leases(), "What is the Rent?") == {}
