"""Passages of long texts: what is shown is what bears on the task, wherever it is."""

from __future__ import annotations

from pathlib import Path

from forethought.nodes.support.excerpts import Text, excerpts
from forethought.nodes.support.first_look import look_at
from forethought.nodes.support.passage_rank import selection
from forethought.nodes.support.signs import SCANNED_CHARACTERS
from forethought.settings import Settings
from forethought.tools.files import FileStore


def test_the_deciding_clause_is_shown_and_not_the_headings_of_others() -> None:
    clauses = [
        f"## {n}. Clause\n\nThe parties agree on matter {n} as usual. " + "It is so. " * 30 for n in range(80)
    ]
    clauses[61] = "## 61. Term\n\nEither party may end this agreement with six weeks' notice."
    (shown,) = excerpts(
        (Text("\n\n".join(clauses)),), "With which notice may a clause's agreement be ended?", 3_000
    )
    assert "## 61. Term\n\nEither party may end this agreement with six weeks' notice." in shown.replace(
        "\n[...]", "\n"
    )


def test_a_row_is_not_chosen_because_its_id_is_the_year() -> None:
    rows = [f"| {n} | Office chair {n} | {n % 90} |" for n in range(1_900, 2_150)]
    table = "| Id | Item | EUR |\n| --- | --- | --- |\n" + "\n".join(rows)
    text = f"{table}\n\nThe audit of 2025 found that two invoices of March had been paid twice."
    (shown,) = excerpts((Text(text),), "Which invoices were paid twice in 2025?", 1_000)
    assert "had been paid twice" in shown


def test_a_passage_far_down_in_a_very_long_text_is_selected_with_its_line() -> None:
    lines = [f"10:{n // 60 % 60:02}:{n % 60:02} INFO request {n} handled" for n in range(60_000)]
    lines[50_000] = "10:00:00 WARN the crane is broken"
    chosen, numbers = selection("\n".join(lines), "Which cranes broke?", "[sign: ")
    at = chosen.split("\n").index(lines[50_000])
    assert (numbers[at], numbers[0], numbers[-1]) == (50_001, 1, 60_000)
    assert len(numbers) == len(chosen.split("\n")) < 3_000


async def test_the_only_error_of_a_log_is_seen_and_pointed_at(tmp_path: Path) -> None:
    lines = [f"10:00:{n % 60:02} INFO service-{n % 7} request {n} handled" for n in range(20_000)]
    lines[15_000] = "10:00:00 ERROR service-3 payment 8812 refused"
    data = "\n".join(lines).encode()
    assert len(data) > SCANNED_CHARACTERS
    store = FileStore(tmp_path)
    refs = [{"name": "app.log", "hash": store.put(data)}]
    look = await look_at(refs, "What went wrong?", store, Settings(), 12_000, 12_000)  # type: ignore[arg-type]
    (file,) = look["files"]
    assert "payment 8812 refused [sign: odd line]" in file["text"]
    assert "lines are shown. search_files searches it" in file["text"]
    assert (file["shown"], file["signs"]) == ("part", 1)
