"""Runs every fault of a model at the first, a middle and the last call of a run, plain and streamed.

    python -m benchmarks.fault_matrix

Prints what came of each fault, as a table.
Exits with 1 if a run lost or repeated work, claimed an answer that it did not have, or could not be resumed.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import tempfile
import time
from pathlib import Path

from tests.support.faults import CASES, PLACES, Cell, Outcome, expected, run_cell

SHOWN: dict[Outcome, str] = {
    "survived": "survived",
    "best effort": "best effort",
    "stopped": "stopped, resumed",
}


async def run_all() -> list[Cell]:
    """Every cell in turn, printed as it ends."""
    cells = []
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            for place in PLACES:
                for streaming in (False, True):
                    cell = await run_cell(case, place, streaming, Path(folder) / str(len(cells)))
                    how = "streamed" if streaming else "plain"
                    wrong = "; ".join(cell.wrong()) or "as expected"
                    print(f"{case.name}, {place} call, {how}: {cell.outcome}; {wrong}", flush=True)
                    cells.append(cell)
    return cells


def table() -> str:
    """What is expected of each fault, as Markdown: a row for all faults with the same outcomes."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for case in CASES:
        rows.setdefault(tuple(SHOWN[expected(case, place)] for place in PLACES), []).append(case.name)
    lines = [["fault", *(f"{place} call" for place in PLACES)], ["---"] * (len(PLACES) + 1)]
    lines += [["; ".join(names), *outcomes] for outcomes, names in rows.items()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> int:
    """Run, and say whether all is as expected."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.parse_args()
    logging.getLogger("forethought").addHandler(logging.NullHandler())
    started = time.monotonic()
    cells = asyncio.run(run_all())
    wrong = [cell for cell in cells if cell.wrong()]
    print(f"{len(cells)} runs in {time.monotonic() - started:.0f} s, {len(wrong)} wrong\n\n{table()}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
