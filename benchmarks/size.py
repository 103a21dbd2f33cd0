"""Print the size of the code, in lines and files, room by room.

    python -m benchmarks.size

A room is a folder of packages (`graph`, `nodes`, `forethought/models`, ...). Lines are counted as `wc -l`
counts them: code, docstrings, comments and blank lines alike.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOP = ("graph", "nodes", "prompts", "tools")
EVALUATIONS = ("forethought/evals", "forethought/app/eval", "benchmarks/agreement")
"""Evaluations, their commands and agreement checks, counted separately from the agent."""


def room_of(path: Path) -> str:
    """The room of a file, by its path relative to the root."""
    text = path.as_posix()
    for folder in EVALUATIONS:
        if text.startswith(folder):  # a folder, or files such as app/eval_view.py
            return folder
    parts = path.parts
    depth = 2 if parts[0] == "forethought" and len(parts) > 2 else 1
    return "/".join(parts[:depth])


def group_of(room: str) -> str:
    """The sum that a room belongs to."""
    if room in EVALUATIONS:
        return "evaluations"
    if room.partition("/")[0] in (*TOP, "forethought"):
        return "source"
    return room


def sizes(root: Path = ROOT) -> tuple[Counter[str], Counter[str]]:
    """Lines and files of each room. Links are not followed, so no file counts twice."""
    lines: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for top in (*TOP, "forethought", "benchmarks", "tests"):
        for path in sorted((root / top).rglob("*.py")):
            relative = path.relative_to(root)
            if relative.parts[0] == "forethought" and relative.parts[1] in TOP:
                continue
            room = room_of(relative)
            lines[room] += path.read_bytes().count(b"\n")
            files[room] += 1
    return lines, files


def table(lines: Counter[str], files: Counter[str]) -> str:
    """The rooms, largest first within their group, and each group's sum, as Markdown."""
    rows = ["| room | lines | files |", "|---|---:|---:|"]
    groups = {group: [room for room in lines if group_of(room) == group] for group in map(group_of, lines)}
    for group in sorted(
        groups, key=lambda name: ("source", "evaluations", "benchmarks", "tests").index(name)
    ):
        rooms = sorted(groups[group], key=lambda room: -lines[room])
        if len(rooms) > 1:
            rows += [f"| {room} | {lines[room]:,} | {files[room]} |" for room in rooms]
        total = sum(lines[room] for room in rooms), sum(files[room] for room in rooms)
        rows.append(f"| **{group}** | **{total[0]:,}** | **{total[1]}** |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table(*sizes()))
