"""The documents as their parts: pages, links, code blocks, commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]


class Command(NamedTuple):
    """A command of a page."""

    page: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}: {shlex.join(self.words)}"


def pages() -> list[str]:
    """The documents, as paths from the root."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in found)


@cache
def tokens(page: str) -> list[Token]:
    """A page as its parts."""
    return MarkdownIt("commonmark").enable("table").parse((ROOT / page).read_text("utf-8"))


def fences(page: str, language: str) -> list[str]:
    """The page's code blocks in a language."""
    return [token.content for token in tokens(page) if token.type == "fence" and token.info == language]


def links(page: str) -> list[str]:
    """Where the page's links and pictures lead."""
    children = [child for token in tokens(page) for child in token.children or []]
    return [str(child.attrs[name]) for child in children for name in ("href", "src") if name in child.attrs]


def examples() -> dict[str, str]:
    """The blocks of Python by a module's name: the one that a first line says, or the page's and a number."""
    return {
        named[1]
        if (named := re.match(r"# (\w+)\.py\n", block))
        else re.sub(r"\W", "_", page.removesuffix(".md")) + f"_{number}": block
        for page in pages()
        for number, block in enumerate(fences(page, "python"))
    }


def commands() -> Iterator[Command]:
    """The commands in the blocks of shell, without prompts, assignments and redirections."""
    for page in pages():
        for block in fences(page, "sh"):
            for line in block.replace("\\\n", " ").splitlines():
                for words in split(line):
                    yield Command(page, words)


def split(line: str) -> Iterator[tuple[str, ...]]:
    """The commands of a line."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    redirected = False
    for word in [*lexer, ";"]:
        if word in ("|", "||", "&", "&&", ";"):
            if words:
                yield tuple(words)
            words = []
        elif word in (">", ">>", "<"):
            redirected = True
        elif redirected:
            redirected = False
        elif words or not re.match(r"[A-Z_]+=", word):
            words.append(word.removeprefix(".venv/bin/") if not words else word)
