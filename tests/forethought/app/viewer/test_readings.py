from __future__ import annotations

from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup

from forethought.app.viewer.readings import MOST_ROWS, reading_progress, rows_by_step
from forethought.app.viewer.site import TEMPLATES
from forethought.tools.each.store import ReadingStore
from forethought.tools.files import FileStore
from tests.support.sample_state import step

HEADER = ["file", "late", "status", "why", "late_quote", "late_place"]


def kept(folder: Path, count: int) -> FileStore:
    files = FileStore(folder)
    store = ReadingStore(files)
    rows = [[f"{n}.eml", "yes", "ok", "", "came <b>late</b>", "line 3"] for n in range(count)]
    rows.append(["bad.pdf", None, "unreadable", "has no text in it", "", ""])
    store.keep_table("rows_0123abcd", [HEADER, *rows])
    store.tell("t1 4", {"done": 120, "total": 300, "doubtful": 3})
    store.tell("t2 4", {"done": 1, "total": 2, "doubtful": 0})
    store.close()
    return files


def test_rows_with_quotes_and_status_are_shown_at_their_step(tmp_path: Path) -> None:
    files = kept(tmp_path, 100)
    entry: Any = {
        "kind": "step",
        **step(4, "read", tool="read_each", ok=True, observation="All rows: FROM rows_0123abcd"),
        "gist": "", "own_seconds": 1, "model_seconds": 0, "calls": 0, "tokens": 0, "usd": 0, "rejected": [],
        "foresight": None, "note": "", "approval": "",
    }  # fmt: skip
    readings = rows_by_step(files, [entry, {"kind": "wave", "observation": ""}])
    html = TEMPLATES.get_template("run/step.html.j2").render(
        entry=entry, readings=readings, debuggings=[], whole=True, thread_id="t1", may_act=False, query={}
    )
    table = BeautifulSoup(html, "html.parser").select("table.rows")[0]
    shown = [[cell.text for cell in row.select("th, td")] for row in table.select("tbody tr")]
    assert shown[0][0] == "bad.pdf", "what needs a look comes first"
    assert shown[1][:1] == ["0.eml"]
    assert table.select("q")[0].text == "came <b>late</b>"
    assert len(shown) == MOST_ROWS
    assert "51 more rows" in html


def test_progress_of_a_thread_until_its_reading_ends(tmp_path: Path) -> None:
    files = kept(tmp_path, 1)
    assert reading_progress(files, "t1").strip() == "It has read 120 of 300, 3 doubtful."
    store = ReadingStore(files)
    store.tell("t1 4", None)
    store.close()
    assert reading_progress(files, "t1") == ""
    assert reading_progress(FileStore(tmp_path / "none"), "t1") == ""


def test_steps_of_other_tools_and_lost_tables_show_no_rows(tmp_path: Path) -> None:
    other = step(1, "a", tool="python", observation="rows_0123abcd")
    lost = step(2, "b", tool="read_each", observation="rows_ffffffff")
    assert rows_by_step(kept(tmp_path, 1), [other, lost]) == {}
