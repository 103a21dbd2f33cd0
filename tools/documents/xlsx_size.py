"""How many cells an Excel workbook has, counted before openpyxl lays them out: a file of a kilobyte can merge
a whole sheet, for which openpyxl makes 17 billion cells, and one of a megabyte can hold more than the memory.
"""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any
from xml.parsers import expat

from forethought.tools.documents.document import Unreadable

MOST_CELLS = 3_000_000
"""Of all sheets, merged ones too; about as many as are read within the time limit, in two gigabytes."""
_PIECE = 1 << 20
_AREA = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7}):\$?([A-Z]{1,3})\$?(\d{1,7})", re.IGNORECASE)


def check_size(data: bytes) -> None:
    """Raises Unreadable when a workbook has more cells than can be laid out."""
    counter = _Counter()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            with archive.open(member) as file:
                counter.count(file)


class _Counter:
    """Counts through any number of XML files: a sheet's may have any name."""

    def __init__(self) -> None:
        self.cells = 0

    def count(self, file: Any) -> None:
        """Count to the end, or to where this is no XML (a picture); openpyxl says what is wrong with it."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler = self._element
        try:
            while piece := file.read(_PIECE):
                parser.Parse(piece, False)
        except expat.ExpatError:
            return

    def _element(self, name: str, attributes: dict[str, str]) -> None:
        kind = name.rpartition(" ")[2]
        if kind == "c":
            self.cells += 1
        elif kind == "mergeCell":
            self.cells += _area(attributes.get("ref", ""))
        if self.cells > MOST_CELLS:
            raise Unreadable(
                f"has more than {MOST_CELLS:,} cells, merged ones included, which is too large",
                cause="limit",
                hint="Ask the user for the part that matters, as a file of its own.",
            )


def _area(ref: str) -> int:
    """How many cells 'A1:C5' has; 1 for anything else."""
    found = _AREA.fullmatch(ref.rpartition("!")[2].strip())
    if not found:
        return 1
    left, top, right, bottom = found.groups()
    return max((_column(right) - _column(left) + 1) * (int(bottom) - int(top) + 1), 1)


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - 64
    return number
