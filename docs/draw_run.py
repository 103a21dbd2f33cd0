"""The picture of a run at the top of README: the terminal of `make demo`, as an SVG file.

    python -m docs.draw_run            runs the demo and writes docs/images/run.svg
    python -m docs.draw_run --check    says whether that picture is stale (exit code 1)

The file asks the web for nothing. Long parts of the output are cut, and say by how much.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.segment import Segment, Segments
from rich.terminal_theme import MONOKAI
from rich.text import Text

from forethought.app.demo import demo_folder
from forethought.app.files import input_files
from forethought.app.options import settings_from
from forethought.app.run import RunOptions, drive_turn
from forethought.app.runner import open_runner
from forethought.app.threads.thread import open_thread

PICTURE = Path(__file__).resolve().parent / "images/run.svg"
WIDTH = 100
MOST = 7
"""Lines of a part that are shown; the answer is shown whole."""
FORMAT = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img" aria-label="A terminal">
    <style>
    .{unique_id}-matrix {{
        font-family: ui-monospace, Menlo, Consolas, monospace;
        font-size: {char_height}px;
        line-height: {line_height}px;
    }}
    .{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
    {styles}
    </style>
    <defs>
    <clipPath id="{unique_id}-clip-terminal">
      <rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
    </clipPath>
    {lines}
    </defs>
    {chrome}
    <g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
    {backgrounds}
    <g class="{unique_id}-matrix">
    {matrix}
    </g>
    </g>
</svg>
"""


class Film(Console):
    """A console that records what is printed, and cuts each part to `MOST` lines."""

    def __init__(self) -> None:
        super().__init__(
            file=io.StringIO(), width=WIDTH, record=True, markup=False, emoji=False, highlight=False
        )

    def print(self, *objects: Any, **options: Any) -> None:
        """Print one part of a run's display."""
        lines = self.render_lines(objects[0], pad=False)
        end = Segment.line()
        if (more := len(lines) - MOST) > 1 and not any("Answer" in piece.text for piece in lines[0]):
            lines = [*lines[:MOST], *self.render_lines(Text(f"    … {more} more lines", "dim"), pad=False)]
        super().print(Segments(piece for line in lines for piece in (*line, end)), end="", soft_wrap=True)


def film() -> str:
    """Run the demo in a folder of its own. Returns its terminal as SVG."""
    folder = demo_folder()
    with tempfile.TemporaryDirectory() as scratch:
        options = RunOptions(replay=folder / "recording.jsonl", db=str(Path(scratch, "threads.sqlite")))
        given = input_files([str(folder / "files")], settings_from(options))
        task = {"task": (folder / "question.txt").read_text("utf-8").strip(), **given.channels}
        with open_runner(as_json=False) as runner:
            runner.console = Film()
            runner.console.print(Text("$ make demo", style="bold"))
            with runner.opened(open_thread("demo", options, must_exist=False, about={})) as thread:
                drive_turn(runner, thread, options, task)
            return runner.console.export_svg(
                title="forethought", theme=MONOKAI, code_format=FORMAT, unique_id="run"
            )


def stale(drawn: str, fresh: str) -> bool:
    """Whether the texts of two pictures differ in more than how long a step took."""
    return _text(drawn) != _text(fresh)


def _text(picture: str) -> str:
    return re.sub(r"\d+\.\ds\b", "0.0s", re.sub(r"<style>.*?</style>|<[^>]*>", "", picture, flags=re.DOTALL))


def main() -> int:
    """0, or 1 with one line on stderr."""
    parser = argparse.ArgumentParser(description="Draw the terminal of `make demo` into docs/images/run.svg.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if the picture is stale")
    check = parser.parse_args().check
    fresh = film()
    if not check:
        PICTURE.write_text(fresh, "utf-8")
    elif not PICTURE.is_file() or stale(PICTURE.read_text("utf-8"), fresh):
        print(f"{PICTURE} is stale; run: python -m docs.draw_run", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
