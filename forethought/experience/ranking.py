"""Rank texts by their words; used if a Store has no embeddings."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

_STEM = 6
"""Letters of a word that count, without a plural's `s`: `order` and `orders` are one."""
_COMMON = frozenset(
    """about after also been before does each from have into many most much only over than that their them
    then there these they this those were what when where which while will with would your
    all and any are but can did for get got had has her him his how its let nor not off our out per she
    the too two use was who why yet you aber als auch auf aus bei das dem den der des die ein für hat ist mit
    und von was wie zum zur con del las los por que una des est les par pas qui sur""".split()  # noqa: SIM905
)
"""Stop words of English, and the shortest ones of German, Spanish and French."""


def words(text: str) -> list[str]:
    """The words of `text` that tell what it is about, stemmed: of three letters or more, or with a digit."""
    every_word = re.findall(r"\w+", text.casefold())
    return [
        re.sub(r"(?<=\w{3})(?<!s)s$", "", word)[:_STEM]
        for word in every_word
        if word not in _COMMON and (len(word) >= 3 or any(c.isdigit() for c in word))
    ]


def rank(query: str, texts: Sequence[str], least: int = 2) -> list[tuple[int, float]]:
    """The indices of the texts that fit `query`, best first, with their BM25 scores (above 0).

    A text must share `least` words with the query, or all if one of the two has no more. In a small
    collection, a single common word would make anything fit.
    """
    terms = sorted(set(words(query)))
    documents = [words(text) for text in texts]
    fits = [len(set(terms) & set(document)) for document in documents]
    if not terms or not any(fits):
        return []
    scores = bm25_plus(terms, documents)
    needed = [min(least, len(terms), len(set(document)) or 1) for document in documents]
    chosen = [(at, scores[at]) for at, shared in enumerate(fits) if shared >= needed[at]]
    return sorted(chosen, key=lambda item: (-item[1], item[0]))


def bm25_plus(terms: Sequence[str], documents: Sequence[Sequence[str]]) -> list[float]:
    """How well each document fits the terms; one of them has at least one word.

    BM25+ (Lv and Zhai, 2011), with the usual k1 = 1.5, b = 0.75 and delta = 1.
    """
    counts = [Counter(document) for document in documents]
    having = Counter(term for count in counts for term in count)
    mean = sum(map(len, documents)) / len(documents)
    scores = [0.0] * len(documents)
    for term in filter(having.get, terms):
        rarity = math.log((len(documents) + 1) / having[term])
        for at, count in enumerate(counts):
            least = 1.5 * (0.25 + 0.75 * len(documents[at]) / mean)
            scores[at] += rarity * (1 + 2.5 * count[term] / (least + count[term]))
    return scores
