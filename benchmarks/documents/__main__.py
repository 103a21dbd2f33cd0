"""Compare readers on the corpus: right facts by kind, times and memory, in table.md and results.json.

    make bench-documents [BENCH="--only word --readers forethought,markitdown --keep --docs"]

Exits with 1 if a call of ours took more than 10 s or its processes more than 500 MB.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.documents import peers
from benchmarks.documents.corpus import Case, cases
from benchmarks.documents.measure import OURS, Peak, Reader, judged, peer, read_ours

SECONDS, MEGABYTES = 10.0, 500.0
SAVED = Path("docs/evaluations/documents.json")
_PAGE = Path("docs/performance.md")
_FIGURES = re.compile("(?<=<!-- documents -->\n).*(?=<!-- /documents -->)", re.DOTALL)
Results = dict[str, dict[str, Any]]
Column = dict[str, float]
"""By the name of a line."""


def run(reader: Reader, chosen: Sequence[Case], folder: Path, keep: bool) -> Results:
    """Measure each case: its faults, seconds, megabytes."""
    results: Results = {}
    for case in chosen:
        path = folder / case.key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(case.data())
        with Peak() as peak:
            found = reader(case, path)
        results[case.key] = {**judged(case, found), "megabytes": round(peak.megabytes)}
        for name, text in found["texts"].items() if keep else ():
            Path(f"{path}.{name}.md").write_text(text, "utf-8")
    return results


def summed(chosen: Sequence[Case], results: Results) -> Column:
    """Right facts by kind and in all, look-alikes without a mark, seconds and memory."""
    found = [(case, results[case.key]) for case in chosen]
    column: Column = dict.fromkeys((case.kind for case in chosen), 0)
    for case, each in found:
        column[case.kind] += not each["fault"]
    column["**All**"] = sum(column.values())
    for field, line in (("look", "All, in the first look"), ("files", "All, in python's files")):
        if any(field in each for _, each in found):
            column[line] = sum(not each.get(field, each["fault"]) for _, each in found)
    column["Look-alikes without a mark"] = sum(each["fault"].startswith("unmarked") for _, each in found)
    column["Seconds, median"] = median(each["seconds"] for _, each in found)
    column["Seconds, longest"] = max(each["seconds"] for _, each in found)
    column["MB, most"] = max(each["megabytes"] for _, each in found)
    return column


def sizes(chosen: Sequence[Case]) -> Column:
    """How many files each line of a column is about."""
    column: Column = dict.fromkeys((case.kind for case in chosen), 0)
    for case in chosen:
        column[case.kind] += 1
    traps = sum(bool(case.traps) for case in chosen)
    return {**column, "**All**": len(chosen), "Look-alikes without a mark": traps}


def by_family(column: Column) -> Column:
    """The column with one line for the kinds that begin alike: 'Mail, attachments', 'Mail, bodies'."""
    families: Column = {}
    for line, value in column.items():
        whole = line.startswith(("All", "Seconds", "MB"))
        name = line if whole else line.partition(",")[0]
        families[name] = families.get(name, 0) + value
    return families


def table(files: Column, columns: Mapping[str, Column]) -> str:
    """The columns beside each other."""
    lines = [["Kind", "files", *columns], ["---", *["---:"] * (len(columns) + 1)]]
    for line in dict.fromkeys(line for column in columns.values() for line in column):
        values = (f"{column[line]:g}" if line in column else "" for column in columns.values())
        lines.append([line, f"{files[line]:g}" if line in files else "", *values])
    return "\n".join(f"|{'|'.join(line)}|" for line in lines)


def save(files: Column, columns: Mapping[str, Column]) -> None:
    """Keep the columns beside those saved before, and write the page's table of all."""
    known = json.loads(SAVED.read_text("utf-8"))["readers"] if SAVED.exists() else {}
    known.update(columns)
    SAVED.write_text(json.dumps({"files": files, "readers": known}, indent=1) + "\n", "utf-8")
    text = table(by_family(files), {name: by_family(column) for name, column in known.items()})
    _PAGE.write_text(_FIGURES.sub(lambda _: f"{text}\n", _PAGE.read_text("utf-8")), "utf-8")


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="kinds or files whose name has this in it")
    parser.add_argument("--readers", default=",".join([OURS, *peers.READERS]), help="separated by commas")
    parser.add_argument("--out", type=Path, default=Path("build/documents"), help="default build/documents")
    parser.add_argument("--keep", action="store_true", help="keep what was read beside the files")
    parser.add_argument("--docs", action="store_true", help=f"write {SAVED} and the table in {_PAGE} too")
    given = parser.parse_args()
    chosen = [case for case in cases() if given.only.lower() in f"{case.kind} {case.name}".lower()]
    given.out.mkdir(parents=True, exist_ok=True)
    results: dict[str, Results] = {}
    for name in given.readers.split(","):
        with ExitStack() as stack:
            reader = read_ours if name == OURS else stack.enter_context(peer(name))
            results[name] = run(reader, chosen, given.out / name, given.keep)
        (given.out / "results.json").write_text(json.dumps(results, indent=1))
        right = sum(not each["fault"] for each in results[name].values())
        print(f"{name}: {right} of {len(chosen)}", flush=True)
    columns = {name: summed(chosen, found) for name, found in results.items()}
    text = table(sizes(chosen), columns)
    (given.out / "table.md").write_text(f"{text}\n")
    print(f"\n{text}")
    if given.docs and not given.only:
        save(sizes(chosen), columns)
    over = [
        key
        for key, each in results.get(OURS, {}).items()
        if each["seconds"] > SECONDS or each["megabytes"] > MEGABYTES
    ]
    print(f"Over {SECONDS:g} s or {MEGABYTES:g} MB: {', '.join(over) or 'none'}")
    return bool(over)


if __name__ == "__main__":
    sys.exit(main())
