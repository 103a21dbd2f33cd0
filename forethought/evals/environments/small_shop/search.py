"""The small shop's search: BM25 over names, attributes and texts."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rank_bm25 import BM25Okapi

from forethought.evals.environments.small_shop.catalogue import Offer

RESULTS = 50
"""Most results of a search, as in WebShop."""


class Index:
    """An index of offers."""

    def __init__(self, offers: Iterable[Offer]) -> None:
        self._offers = list(offers)
        self._ranking = BM25Okapi([_tokens(_text(offer)) for offer in self._offers])

    def search(self, query: str) -> list[Offer]:
        """The best matches, best first; equal ones in the shop's order. Those without a common word are left
        out."""
        tokens = _tokens(query)
        scores = self._ranking.get_scores(tokens) if tokens else []
        ranked = sorted(
            zip(scores, range(len(self._offers)), strict=False), key=lambda item: (-item[0], item[1])
        )
        return [self._offers[at] for score, at in ranked[:RESULTS] if score > 0]


def _text(offer: Offer) -> str:
    product = offer.product
    return " ".join((product.title, product.query, *product.bullet_points, product.description))


def _tokens(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())
