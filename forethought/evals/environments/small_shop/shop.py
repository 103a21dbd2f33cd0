"""The small shop's pages, served within the process.

All of a session's state is in its addresses, so that the shop keeps none:

/SESSION                                  the search page; SESSION ends with _ and the errand's number
/SESSION/results?q=...&page=1             what a search found
/SESSION/item?id=...&q=...&page=1&o=NAME=VALUE    a product, with the options chosen so far
/SESSION/features?...                     its attributes
/SESSION/buy?id=...&o=NAME=VALUE          the purchase, with its score
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode

import httpx
from jinja2 import Environment, PackageLoader, StrictUndefined
from rank_bm25 import BM25Okapi

from forethought.evals.environments.small_shop.goods import Catalogue, Errand, Offer, reward

INSIDE = "http://small-shop.invalid"
"""The address of a shop within the process: no name server knows it."""
ON_A_PAGE, MOST_RESULTS = 10, 50
_PAGES = Environment(
    loader=PackageLoader("forethought.evals.environments.small_shop", "pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
)


@dataclass(frozen=True)
class _Visit:
    """Where a shopper is: the session, what was searched, the product and the options chosen."""

    session: str
    query: str = ""
    page: int = 1
    id: str = ""
    options: tuple[tuple[str, str], ...] = ()

    def to(self, place: str = "", **changes: Any) -> str:
        """The address of a place of the shop, seen from here."""
        seen = {"q": self.query, "page": self.page, "id": self.id, **changes}
        chosen = dict(seen.pop("options", self.options))
        fields = [*seen.items(), *(("o", f"{name}={value}") for name, value in chosen.items())]
        return f"/{self.session}/{place}?{urlencode(fields)}" if place else f"/{self.session}"


class Shop:
    """The shop over one catalogue: a handler of httpx.MockTransport."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._offers = list(catalogue.offers.values())
        self._index = BM25Okapi([_tokens(" ".join((offer.title, *offer.features))) for offer in self._offers])

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Answer a request."""
        session, _, place = request.url.path.strip("/").partition("/")
        form = dict(parse_qsl(request.content.decode()))
        try:
            errand = self.catalogue.errands[_number(session.rpartition("_")[2])]
            if not place and request.method == "POST" and "search_query" in form:
                address = _Visit(session, form["search_query"]).to("results")
                return httpx.Response(302, headers={"location": address})
            return httpx.Response(200, html=self._page(place, _visit(session, request.url.params), errand))
        except (KeyError, IndexError, ValueError):
            return httpx.Response(404, text="there is no such page")

    def search(self, query: str) -> list[Offer]:
        """The best matches, best first; those without a common word are left out."""
        tokens = _tokens(query)
        scores = self._index.get_scores(tokens) if tokens else []
        ranked = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
        return [self._offers[at] for at in ranked[:MOST_RESULTS] if scores[at] > 0]

    def _page(self, place: str, visit: _Visit, errand: Errand) -> str:
        if place == "":
            return _rendered("search", errand, back="", here=visit.to())
        if place == "results":
            return self._results(visit, errand)
        offer = self.catalogue.offers[visit.id]
        if place == "buy":
            if any(value not in offer.options[name] for name, value in visit.options):
                raise ValueError("no such option")
            return _rendered("done", errand, reward=reward(offer, dict(visit.options).values(), errand))
        if place == "features":
            return _rendered("part", errand, back=visit.to(), previous=visit.to("item"), texts=offer.features)
        if place != "item":
            raise KeyError(place)
        return _item(visit, errand, offer)

    def _results(self, visit: _Visit, errand: Errand) -> str:
        found = self.search(visit.query)
        offers = found[(visit.page - 1) * ON_A_PAGE : visit.page * ON_A_PAGE]
        return _rendered(
            "results",
            errand,
            back=visit.to(),
            page=visit.page,
            total=len(found),
            offers=[(offer, visit.to("item", id=offer.id, options=())) for offer in offers],
            previous=visit.to("results", page=visit.page - 1) if visit.page > 1 else "",
            next=visit.to("results", page=visit.page + 1),
        )


def _item(visit: _Visit, errand: Errand, offer: Offer) -> str:
    options = {
        name: [(value, visit.to("item", options={**dict(visit.options), name: value})) for value in values]
        for name, values in offer.options.items()
    }
    return _rendered(
        "item",
        errand,
        back=visit.to(),
        previous=visit.to("results", id="", options=()),
        options=options,
        offer=offer,
        features=visit.to("features"),
        buy=visit.to("buy"),
    )


def _rendered(name: str, errand: Errand, **values: Any) -> str:
    return _PAGES.get_template(f"{name}.html.j2").render(instruction=errand.instruction, **values)


def _tokens(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def _number(text: str, least: int = 0) -> int:
    if int(text) < least:
        raise ValueError(f"numbers count from {least} here")
    return int(text)


def _visit(session: str, fields: httpx.QueryParams) -> _Visit:
    options = dict(text.split("=", 1) for text in fields.get_list("o") if "=" in text)
    page = _number(fields.get("page", "1"), 1)
    return _Visit(session, fields.get("q", ""), page, fields.get("id", ""), tuple(options.items()))
