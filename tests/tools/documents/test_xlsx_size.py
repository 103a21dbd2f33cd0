from __future__ import annotations

import io
import time
import zipfile

import pytest
from openpyxl import Workbook

from forethought.tools.documents import xlsx_size
from forethought.tools.documents.document import Unreadable
from forethought.tools.documents.xlsx import read_xlsx
from forethought.tools.documents.xlsx_size import check_size


def workbook(merge: str = "") -> bytes:
    """Two rows of three cells; `merge` is written as it is, which openpyxl would not do for a huge area."""
    book = Workbook()
    for row in ((1, 2, 3), (4, 5, 6)):
        book.active.append(row)
    plain, out = io.BytesIO(), io.BytesIO()
    book.save(plain)
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(out, "w") as target:
        for member in source.infolist():
            content = source.read(member)
            if member.filename == "xl/worksheets/sheet1.xml" and merge:
                area = f'</sheetData><mergeCells><mergeCell ref="{merge}"/></mergeCells>'
                content = content.replace(b"</sheetData>", area.encode())
            target.writestr(member, content)
    return out.getvalue()


@pytest.mark.parametrize("ref", ["A1:XFD1048576", "$a$1:$xfd$1048576", "'S'!A1:XFD1048576"])
def test_a_small_file_that_merges_a_whole_sheet_is_refused_at_once(ref: str) -> None:
    began = time.monotonic()
    with pytest.raises(Unreadable, match="3,000,000 cells") as refused:
        read_xlsx(workbook(ref))
    assert refused.value.cause == "limit"
    assert time.monotonic() - began < 5


def test_cells_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_size, "MOST_CELLS", 6)
    check_size(workbook())
    with pytest.raises(Unreadable):
        check_size(workbook("A1:A1"))
    monkeypatch.setattr(xlsx_size, "MOST_CELLS", 5)
    with pytest.raises(Unreadable):
        check_size(workbook())


def test_a_merged_title_is_no_harm() -> None:
    assert "Merged cells: A1:B1" in read_xlsx(workbook("A1:B1")).text
