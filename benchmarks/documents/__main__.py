"""Compare readers on the corpus: a table by kind, times and memory; results.json and table.md.

Exits with 1 if a reading of ours took more than 10 s or 500 MB.
"""

from __future__ import annotations

import argparse
import json
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
Results = dict[str, dict[str, Any]]
_COSTS: Any = (
    ("Seconds, median", "seconds", median),
    ("Seconds, longest", "seconds", max),
    ("MB, most", "megabytes", max),
)


def run(reader: Reader, chosen: Sequence[Case], folder: Path, keep: bool) -> Results:
    """What came of each case: its faults, seconds, megabytes."""
    results: Results = {}
    for case in chosen:
        path = folder / case.key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(case.data())
        with Peak() as peak:
            found = reader(case, path)
        results[case.key] = {**judged(case, found), "megabytes": round(peak.megabytes)}
        if keep:
            for name, text in found["texts"].items():
                Path(f"{path}.{name}.md").write_text(text or found["error"], "utf-8")
    return results


def table(chosen: Sequence[Case], columns: Mapping[str, Results]) -> str:
    """Right facts by kind and reader, then look-alikes, seconds and memory."""
    names = list(columns)
    lines = [f"| Kind | Files | {' | '.join(names)} |", "|" + " --- |" * (len(names) + 2)]

    def row(title: str, among: Sequence[Case], field: str = "fault") -> str:
        right = (sum(not columns[name][case.key].get(field, "-") for case in among) for name in names)
        return f"| {title} | {len(among)} | {' | '.join(map(str, right))} |"

    lines += [
        row(kind, [case for case in chosen if case.kind == kind])
        for kind in dict.fromkeys(c.kind for c in chosen)
    ]
    lines.append(row("**All**", chosen))
    lines.append(row("All, in the first look", [case for case in chosen if not case.where], "look"))
    lines.append(row("All, in python's files", [case for case in chosen if not case.where], "files"))
    traps = [case for case in chosen if case.traps]
    wrong = (sum(columns[name][case.key]["fault"].startswith("unmarked") for case in traps) for name in names)
    lines.append(f"| Look-alikes that are not marked | {len(traps)} | {' | '.join(map(str, wrong))} |")
    for title, field, pick in _COSTS:
        values = (pick([each[field] for each in columns[name].values()]) for name in names)
        lines.append(f"| {title} | | {' | '.join(map(str, values))} |")
    return "\n".join(lines)


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="kinds or files whose name has this in it")
    parser.add_argument("--readers", default=",".join([OURS, *peers.READERS]), help="separated by commas")
    parser.add_argument(
        "--out", type=Path, default=Path("build/documents"), help="folder (default build/documents)"
    )
    parser.add_argument("--keep", action="store_true", help="keep the files and what was read beside them")
    given = parser.parse_args()
    chosen = [case for case in cases() if given.only.lower() in f"{case.kind} {case.name}".lower()]
    given.out.mkdir(parents=True, exist_ok=True)
    columns: dict[str, Results] = {}
    for name in given.readers.split(","):
        with ExitStack() as stack:
            reader = read_ours if name == OURS else stack.enter_context(peer(name))
            columns[name] = run(reader, chosen, given.out / name, given.keep)
        (given.out / "results.json").write_text(json.dumps(columns, indent=1))
        print(
            f"{name}: {sum(not each['fault'] for each in columns[name].values())} of {len(chosen)}",
            flush=True,
        )
    text = table(chosen, columns)
    (given.out / "table.md").write_text(f"{text}\n")
    print(f"\n{text}")
    slow = [
        key
        for key, each in columns.get(OURS, {}).items()
        if each["seconds"] > SECONDS or each["megabytes"] > MEGABYTES
    ]
    print(f"Over {SECONDS:g} s or {MEGABYTES:g} MB: {', '.join(slow) or 'none'}")
    return bool(slow)


if __name__ == "__main__":
    sys.exit(main())
