"""Rank passages of texts: paragraphs and groups of rows with their headings, not single lines.

It compares the words that a folder's index has (`tools.folders.words`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache

from forethought.experience.ranking import bm25_plus
from forethought.tools.documents.document import Document, Section
from forethought.tools.folders.passages import passages
from forethought.tools.folders.words import language_of, query_terms, tokens

_CANDIDATES = 3_000
"""Maximum passages of a very long text that are ranked; those with the rarest words come first."""
_SHOWN = 60_000
"""Characters of the passages that are chosen from a very long text."""
_ENDS = 8_000
"""Characters of its beginning, and half as many of its end."""


def rank_passages(query: str, texts: Sequence[str]) -> list[tuple[int, float]]:
    """The indices of the texts that share a word with the query, best first, with their BM25 scores."""
    language = language_of(" ".join(text[:200] for text in texts))
    terms = sorted({form for forms in query_terms(query, [language]) for form in forms})
    documents = [_tokens(text, language) for text in texts]
    if not terms or not any(documents):
        return []
    scores = bm25_plus(terms, documents)
    fits = [at for at, document in enumerate(documents) if not set(terms).isdisjoint(document)]
    return sorted(((at, scores[at]) for at in fits), key=lambda item: (-item[1], item[0]))


def spans(text: str) -> list[tuple[int, int, str]]:
    """The start, the end and the headings of each passage in a text."""
    return [(each.start, each.stop, each.heading) for each in passages(Document((Section(text),)))[1]]


def selection(text: str, query: str, mark: str) -> tuple[str, tuple[int, ...]]:
    """Of a very long text its best passages, those with `mark`, its beginning and end; and their lines.

    Args:
        text: The text.
        query: The task.
        mark: Passages that hold it are chosen first.

    Returns:
        The chosen passages in their order, and the number in `text` of each of their lines.
    """
    cuts = spans(text)
    starts = [start for start, _, _ in cuts]
    chosen = {bisect_right(starts, match.start()) - 1 for match in re.finditer(re.escape(mark), text)}
    size = sum(cuts[at][1] - cuts[at][0] for at in chosen)
    candidates = _candidates(text, query, starts)
    ranked = rank_passages(query, [f"{cuts[at][2]} {text[cuts[at][0] : cuts[at][1]]}" for at in candidates])
    for at in (candidates[index] for index, _ in ranked):
        if size > _SHOWN:
            break
        size += cuts[at][1] - cuts[at][0]
        chosen.add(at)
    chosen |= {at for at, (_, stop, _) in enumerate(cuts) if stop <= _ENDS}
    chosen |= {at for at, start in enumerate(starts) if start >= len(text) - _ENDS // 2}
    lines, numbers = list[str](), list[int]()
    line, before = 1, 0
    for at in sorted(chosen):
        start, stop, _ = cuts[at]
        line += text.count("\n", before, start)
        before = start
        own = text[start:stop].rstrip("\n").split("\n")
        lines += own
        numbers += range(line, line + len(own))
    return "\n".join(lines), tuple(numbers)


def _candidates(text: str, query: str, starts: Sequence[int]) -> list[int]:
    """The passages with words of the query, those with the rarest first in mind."""
    lowered = text.casefold()
    found: list[set[int]] = []
    for word in {forms[-1] for forms in query_terms(query, ["english"])}:
        hits = (match.start() for match in re.finditer(rf"\b{re.escape(word[:6])}", lowered))
        found.append({bisect_right(starts, hit) - 1 for hit in _first(hits)})
    chosen: set[int] = set()
    for places in sorted(filter(None, found), key=len):
        if chosen and len(chosen) + len(places) > _CANDIDATES:
            break
        chosen |= places
    return sorted(chosen)


def _first(hits: Iterable[int]) -> list[int]:
    """The first hits: more would only tell that a word is common."""
    return [hit for _, hit in zip(range(20 * _CANDIDATES), hits, strict=False)]


@lru_cache(maxsize=4_096)
def _tokens(text: str, language: str) -> tuple[str, ...]:
    return tuple(tokens(text, language))
