"""The paragraphs that come with a question, as tools (in the manner of ReAct's search)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from forethought.experience.ranking import bm25_plus
from forethought.text import one_line
from forethought.tools.base import Tool, ToolError, make_tool

Paragraph = Sequence[str]
"""Title and text; several may share a title."""
FOUND = 4
"""Maximum paragraphs in a search result."""
_BEGINNING = 160
"""Maximum characters of a paragraph in a search result."""


def ranked(query: str, paragraphs: Sequence[Paragraph]) -> list[Paragraph]:
    """The paragraphs that share a word with `query`, best first (BM25 over title and text)."""
    wanted = _words(query)
    documents = [_words(f"{title} {text}") for title, text in paragraphs]
    if not wanted or not any(documents):
        return []
    scores = bm25_plus(wanted, documents)
    fitting = [at for at, document in enumerate(documents) if set(wanted) & set(document)]
    return [paragraphs[at] for at in sorted(fitting, key=lambda at: (-scores[at], at))]


def paragraph_tools(paragraphs: Sequence[Paragraph]) -> list[Tool]:
    """A search in the paragraphs, and the reading of one."""
    titles = f"There are: {'; '.join(dict.fromkeys(title for title, _ in paragraphs))}"

    async def search_paragraphs(query: str) -> str:
        """Search the paragraphs that belong to the question. Names those that fit best, with the beginning of
        each; read_paragraph gives the whole.

        Args:
            query: Words to look for, such as a name.
        """
        matches = ranked(query, paragraphs)[:FOUND]
        if not matches:
            raise ToolError("no paragraph has any of these words", cause="not_found", hint=titles)
        return "\n".join(f"{title}: {one_line(text, _BEGINNING)}" for title, text in matches)

    async def read_paragraph(title: str) -> str:
        """Read the whole of a paragraph that belongs to the question.

        Args:
            title: Its title, as search_paragraphs names it.
        """
        matches = [text for name, text in paragraphs if _plain(name) == _plain(title)]
        if not matches:
            raise ToolError(f"there is no paragraph {title[:80]!r}", cause="not_found", hint=titles)
        return "\n\n".join(matches)

    return [make_tool(search_paragraphs), make_tool(read_paragraph)]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _plain(title: str) -> str:
    return " ".join(title.casefold().split())
