"""The paragraphs that come with a question, as text or as tools (in the manner of ReAct's search)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from forethought.text import one_line
from forethought.tools.base import Tool, ToolError, make_tool

FOUND = 4
"""Paragraphs that a search names."""
_BEGINNING = 160
"""Characters of a paragraph that a search shows."""


@dataclass(frozen=True)
class Paragraph:
    """One paragraph and its title; several may share a title."""

    title: str
    text: str


def as_prompt(question: str, paragraphs: Sequence[Paragraph]) -> str:
    """The question after all paragraphs."""
    told = "\n\n".join(f"[{number}] {each.title}\n{each.text}" for number, each in enumerate(paragraphs, 1))
    return f"Answer the question from these paragraphs.\n\n{told}\n\nQuestion: {question}"


def ranked(query: str, paragraphs: Sequence[Paragraph]) -> list[Paragraph]:
    """The paragraphs that share a word with `query`, best first (BM25 over title and text)."""
    from rank_bm25 import BM25Plus

    wanted = _words(query)
    documents = [_words(f"{each.title} {each.text}") for each in paragraphs]
    if not wanted or not any(documents):
        return []
    scores = BM25Plus(documents).get_scores(wanted)
    fitting = [at for at, document in enumerate(documents) if set(wanted) & set(document)]
    return [paragraphs[at] for at in sorted(fitting, key=lambda at: (-scores[at], at))]


def paragraph_tools(paragraphs: Sequence[Paragraph]) -> list[Tool]:
    """A search in the paragraphs, and the reading of one."""

    async def search_paragraphs(query: str) -> str:
        """Search the paragraphs that belong to the question. Names those that fit best, with the beginning of
        each; read_paragraph gives the whole.

        Args:
            query: Words to look for, such as a name.
        """
        found = ranked(query, paragraphs)[:FOUND]
        if not found:
            titles = "; ".join(dict.fromkeys(each.title for each in paragraphs))
            raise ToolError(
                "no paragraph has any of these words", cause="not_found", hint=f"There are: {titles}"
            )
        return "\n".join(f"{each.title}: {one_line(each.text, _BEGINNING)}" for each in found)

    async def read_paragraph(title: str) -> str:
        """Read the whole of a paragraph that belongs to the question.

        Args:
            title: Its title, as search_paragraphs names it.
        """
        wanted = _plain(title)
        found = [each.text for each in paragraphs if _plain(each.title) == wanted]
        if not found:
            hint = f"Similar: {'; '.join(_similar(title, paragraphs))}"
            raise ToolError(f"there is no paragraph {title[:80]!r}", cause="not_found", hint=hint)
        return "\n\n".join(found)

    return [make_tool(search_paragraphs), make_tool(read_paragraph)]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _plain(title: str) -> str:
    return " ".join(title.casefold().split())


def _similar(title: str, paragraphs: Sequence[Paragraph]) -> list[str]:
    from rapidfuzz import process

    titles = list(dict.fromkeys(each.title for each in paragraphs))
    return [str(name) for name, _, _ in process.extract(title, titles, limit=FOUND)]
