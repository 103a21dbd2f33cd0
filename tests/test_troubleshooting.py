"""The page on troubleshooting quotes what the program prints: its fixed words are in the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OTHERS = {"Address already in use", "file is not a database", "... is locked"}
"""Messages of the operating system and of SQLite."""


def quoted() -> list[str]:
    """The messages that the items of the page's lists begin with."""
    page = (ROOT / "docs/troubleshooting.md").read_text("utf-8")
    items = re.findall(r"^- ((?:`[^`]+`(?:, )?)+)", page, re.MULTILINE)
    return [message for item in items for message in re.findall(r"`([^`]+)`", item)]


def texts(tree: ast.AST) -> Iterator[str]:
    """The string literals of a module, with `...` for what is filled in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            parts = [str(part.value) if isinstance(part, ast.Constant) else "..." for part in node.values]
            yield "".join(parts)


@cache
def printed() -> list[str]:
    """All texts that the program can print, and the Makefile."""
    folders = [ROOT / name for name in ("forethought", "graph", "nodes", "prompts", "tools")]
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    found = [text for path in paths for text in texts(ast.parse(path.read_text("utf-8")))]
    return [*found, (ROOT / "Makefile").read_text("utf-8")]


def is_printed(message: str) -> bool:
    """Whether one text of the program has the message's fixed words in their order."""
    fixed = ".*".join(re.escape(part.strip()) for part in message.split("..."))
    return any(re.search(fixed, text, re.DOTALL) for text in printed())


@pytest.mark.parametrize("message", sorted({*quoted()} - OTHERS))
def test_a_quoted_message_is_in_the_source(message: str) -> None:
    assert is_printed(message)


def test_the_page_has_the_likely_errors() -> None:
    assert len(quoted()) >= 30
    assert {*quoted()} >= OTHERS
    assert not is_printed("model ... needs a lock")
