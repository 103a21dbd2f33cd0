"""The picture of the online graph, drawn from the code into a Markdown file.

    python docs/draw_graph.py            writes it into docs/concepts/overview.md
    python docs/draw_graph.py --check    exits with 1 if the picture is stale

It stands between the lines `<!-- graph -->` and `<!-- /graph -->`.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- graph -->", "<!-- /graph -->"


def mermaid() -> str:
    """The compiled graph as a Mermaid flowchart, without styles: the reader's theme colours it."""
    from forethought.graph.agent import build_agent
    from forethought.settings import Settings

    drawn = build_agent(settings=Settings()).get_graph()
    followers: dict[tuple[str, str], list[str]] = {}
    for edge in drawn.edges:
        arrow = "-.->" if edge.conditional else "-->"
        followers.setdefault((_id(edge.source), arrow), []).append(_id(edge.target))
    ends = [f"{_id(name)}(({name.strip('_')}))" for name in drawn.nodes if name.startswith("__")]
    edges = [f"{source} {arrow} {' & '.join(targets)}" for (source, arrow), targets in followers.items()]
    return "\n    ".join(["flowchart TD", *ends, *edges])


def _id(name: str) -> str:
    """`end` alone is a word of Mermaid's own."""
    return name.strip("_") + "_" if name.startswith("__") else name


def with_picture(text: str, picture: str) -> str:
    """`text` with `picture` between the marks. Raises ValueError when it does not have both marks once."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError(f"there must be one line {BEGIN} and, after it, one line {END}")
    drawn = f"{BEGIN}\n```mermaid\n{picture}\n```\n{END}"
    return re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: drawn, text, flags=re.DOTALL)


def draw(path: Path, *, check: bool = False) -> str | None:
    """Draw the picture into `path`, or only check what is there. What is wrong, in one line, or None."""
    try:
        old = path.read_text("utf-8")
        new = with_picture(old, mermaid())
    except OSError as error:
        return f"{path}: cannot be read: {error.strerror}"
    except ValueError as error:
        return f"{path}: {error}"
    if check:
        return None if new == old else f"{path}: the graph's picture is stale; run: python docs/draw_graph.py"
    path.write_text(new, "utf-8")
    return None


def main() -> int:
    """0, or 1 with one line on stderr."""
    parser = argparse.ArgumentParser(description="Draw the online graph into a Markdown file.")
    parser.add_argument("file", nargs="?", type=Path, default=ROOT / "docs/concepts/overview.md")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if the picture is stale")
    given = parser.parse_args()
    problem = draw(given.file, check=given.check)
    if problem:
        print(problem, file=sys.stderr)
    return 1 if problem else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
