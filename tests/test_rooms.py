"""The order of the rooms: each imports only those below it, lazy and typing imports included."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "forethought"
ORDER = (
    "sizes", "users", "extras", "approval_rules", "settings", "json_files", "text", "redaction", "shutdown",
    "own_loop",
    "telemetry", "storage", "journal", "models", "trajectories",
    "knowledge", "experience", "state", "tools", "prompts", "training", "rollouts", "nodes",
    "graph", "integrations", "__init__", "collecting", "batch", "evals", "server", "app", "__main__",
)  # fmt: skip
"""Lowest first."""


def room_of(path: Path) -> str:
    """The room of a file of the package: a folder, or a module at the top."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(source: str) -> Iterator[str]:
    """The rooms that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "forethought":
            names = [f"forethought.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            top, _, rest = name.partition(".")
            if top == "forethought":
                room = rest.partition(".")[0]
                yield room if room in ORDER else "__init__"


def files() -> list[Path]:
    """The package's files. `rglob` follows no links, so the four linked folders are named."""
    linked = [path for path in PACKAGE.iterdir() if path.is_symlink()]
    return sorted(path for folder in (PACKAGE, *linked) for path in folder.rglob("*.py"))


def test_every_room_has_its_place() -> None:
    assert {room_of(path) for path in files()} == set(ORDER)


def test_the_page_on_architecture_lists_the_rooms_in_their_order() -> None:
    text = (ROOT / "docs/architecture.md").read_text("utf-8").partition("\n## ")[0]
    items = re.findall(r"^- (`[^:]+`):", text, re.MULTILINE)
    assert [room for item in items for room in re.findall(r"`(\w+)`", item)] == list(ORDER)


@pytest.mark.parametrize("room", ORDER)
def test_a_room_imports_only_rooms_below_it(room: str) -> None:
    allowed = set(ORDER[: ORDER.index(room) + 1])
    upward = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files()
        if room_of(path) == room
        for name in imported_rooms(path.read_text("utf-8"))
        if name not in allowed
    }
    assert upward == set()


def test_lazy_and_typing_imports_count() -> None:
    lazy, typing = "from forethought.graph.agent import x", "import forethought.app.main"
    source = f"def f():\n    {lazy}\nif TYPE_CHECKING:\n    {typing}"
    assert set(imported_rooms(source)) == {"graph", "app"}
