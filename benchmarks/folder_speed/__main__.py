"""Generate the documents, measure, and print the tables."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from benchmarks.folder_speed import __doc__ as about
from benchmarks.folder_speed.documents import make_documents
from benchmarks.folder_speed.recall import table as recall_table
from benchmarks.folder_speed.speed import QUERIES, measured


def speed_table(count: int, place: Path) -> str:
    """The figures of a folder of `count` documents, as a table of Markdown."""
    root, data = place / "documents", place / "data"
    started = time.monotonic()
    size = make_documents(root, count)
    print(
        f"{count:,} documents, {size / 1e6:,.0f} MB, written in {time.monotonic() - started:.0f} s",
        flush=True,
    )
    first, later = measured("first_start", root, data), measured("later_use", root, data)
    rows = {
        "indexing": f"{first['files'] / first['seconds']:.1f} documents a second",
        "processor time of indexing": f"{first['cpu'] / first['files'] * 1000:.0f} ms a document",
        "peak memory while indexing": f"{first['memory'] / 1e6:.0f} MB",
        "files without text": f"{first['unreadable']:.0f}",
        "second start": f"{later['again']:.2f} s",
        "a changed file is found after": f"{later['seen']:.2f} s",
        f"search_files, {QUERIES} queries, p50": f"{later['p50'] * 1000:.0f} ms",
        f"search_files, {QUERIES} queries, p95": f"{later['p95'] * 1000:.0f} ms",
        "search_files, processor time, p95": f"{later['cpu95'] * 1000:.0f} ms",
        "text": f"{later['text'] / 1e6:.1f} million characters",
        "index": f"{later['index'] / later['text']:.2f} times the text",
    }
    return "\n".join(
        ["| figure | value |", "| :-- | --: |", *(f"| {name} | {value} |" for name, value in rows.items())]
    )


def main() -> None:
    """Measure and print."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.folder_speed", description=about, formatter_class=form
    )
    parser.add_argument("--quick", action="store_true", help="1,000 documents instead of 10,000")
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="measure ranking on the HotpotQA files in DIR"
    )
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        if given.data:
            print(recall_table(given.data, Path(place)))
        else:
            print(speed_table(1_000 if given.quick else 10_000, Path(place)))


if __name__ == "__main__":
    main()
