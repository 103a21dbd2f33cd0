"""Runs every fault of a model at the first, a middle and the last call of a run, plain and streamed, and
writes what came of it into docs/reliability.md.

    python -m benchmarks.fault_matrix

Exits with 1, and leaves the file as it is, where a run lost or repeated work, said that it was answered when
it was not, or could not be gone on with. The cells are those of tests/support/faults.py.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import tempfile
import time
from pathlib import Path

from forethought.text import one_line
from tests.support.faults import CASES, PLACES, Case, Cell, run_cell

DOCS = Path(__file__).parent.parent / "docs" / "reliability.md"
BEGIN, END = "<!-- fault matrix: begin -->", "<!-- fault matrix: end -->"
_SHOWN = 110
"""Characters of a line that the table shows."""


async def run_all() -> list[Cell]:
    """Every cell, one after another, told as it ends."""
    cells = []
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            for place in PLACES:
                for streaming in (False, True):
                    cell = await run_cell(case, place, streaming, Path(folder) / str(len(cells)))
                    how = "streamed" if streaming else "plain"
                    wrong = "; ".join(cell.wrong()) or "as it should be"
                    print(f"{case.name}, {place} call, {how}: {cell.outcome}; {wrong}", flush=True)
                    cells.append(cell)
    return cells


def table(cells: list[Cell]) -> str:
    """The cells as Markdown, a row a fault."""
    head = ["fault", *(f"{place} call" for place in PLACES), "the line, where it stops"]
    rows = [head, ["---"] * len(head)] + [_row(case, cells) for case in CASES]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    repeated = sum(cell.calls_repeated for cell in cells)
    effects = sum(max(cell.effects - 1, 0) for cell in cells)
    lines += ["", f"{len(cells)} runs: {repeated} model calls repeated, {effects} effects repeated."]
    return "\n".join(lines)


def _row(case: Case, cells: list[Cell]) -> list[str]:
    mine = [cell for cell in cells if cell.case.name == case.name]
    row = [case.name]
    for place in PLACES:
        told = dict.fromkeys(_outcome(cell) for cell in mine if cell.place == place)
        row.append(" / ".join(told))
    line = next((cell.line for cell in mine if cell.line), "")
    return [*row, one_line(line, _SHOWN).replace("|", "\\|")]


def _outcome(cell: Cell) -> str:
    if cell.outcome == "stopped":
        resumed = cell.end.get("status") == "answered"
        return "stopped clearly, resumed" if resumed else "stopped, not resumed"
    return cell.outcome


def write(text: str, path: Path = DOCS) -> None:
    """Put the table between the marks of the document. Raises SystemExit where it has none."""
    document = path.read_text(encoding="utf-8")
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{path} lacks the lines {BEGIN} and {END}")
    path.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def main() -> int:
    """Run, write, and say whether all is as it should be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.parse_args()
    logging.getLogger("forethought").addHandler(logging.NullHandler())
    started = time.monotonic()
    cells = asyncio.run(run_all())
    wrong = [cell for cell in cells if cell.wrong()]
    print(f"{len(cells)} runs in {time.monotonic() - started:.0f} s, {len(wrong)} wrong")
    if wrong:
        return 1
    write(table(cells))
    print(f"written: {DOCS}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
