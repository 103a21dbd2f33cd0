"""The small shop's pages. All of a session's state is in its addresses, so that the shop keeps none.

/SESSION                                  the search page; SESSION ends with _ and the errand's number
/SESSION/results?q=...&page=1             what a search found
/SESSION/item?id=...&q=...&page=1&o=NAME=VALUE    a product, with the options chosen so far
/SESSION/description?..., /SESSION/features?...   its texts
/SESSION/buy?id=...&o=NAME=VALUE          the purchase, with its score
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined

from forethought.evals.environments.small_shop.catalogue import Catalogue, Errand, Offer, nouns
from forethought.evals.environments.small_shop.search import Index
from forethought.evals.environments.webshop.reward import reward

ON_A_PAGE = 10
PARTS = ("Description", "Features")
_PAGES = Environment(
    loader=PackageLoader("forethought.evals.environments.small_shop", "pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
)


@dataclass(frozen=True)
class Answer:
    """What the shop answers to a request."""

    status: int
    html: str = ""
    location: str = ""


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


class Site:
    """The shop over one catalogue."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._index = Index(catalogue.offers.values())

    def handle(self, method: str, target: str, form: Mapping[str, str]) -> Answer:
        """Answer a request for `target`, a path with its query."""
        parts = urlsplit(target)
        session, _, place = parts.path.strip("/").partition("/")
        try:
            errand = self.catalogue.errands[_number(session)]
            visit = _visit(session, parts.query)
            if not place and method == "POST" and "search_query" in form:
                return Answer(302, location=_Visit(session, form["search_query"]).to("results"))
            return self._page(place, visit, errand)
        except (KeyError, IndexError, ValueError):
            return Answer(404, "there is no such page")

    def _page(self, place: str, visit: _Visit, errand: Errand) -> Answer:
        if place == "":
            return _rendered("search", errand, back="", here=visit.to())
        if place == "results":
            return self._results(visit, errand)
        offer = self.catalogue.offers[visit.id]
        if place == "item":
            return _item(visit, errand, offer)
        if place == "buy":
            return Answer(
                200, _PAGES.get_template("done.html.j2").render(reward=_score(visit, errand, offer))
            )
        texts = {"description": [offer.product.description], "features": offer.product.bullet_points}[place]
        return _rendered("part", errand, back=visit.to(), previous=visit.to("item"), texts=texts)

    def _results(self, visit: _Visit, errand: Errand) -> Answer:
        found = self._index.search(visit.query)
        shown = found[(visit.page - 1) * ON_A_PAGE : visit.page * ON_A_PAGE]
        offers = [
            {
                "id": offer.id,
                "address": visit.to("item", id=offer.id, options=()),
                "title": offer.product.title,
                "price": f"${offer.product.price:.2f}",
            }
            for offer in shown
        ]
        return _rendered(
            "results",
            errand,
            back=visit.to(),
            page=visit.page,
            total=len(found),
            offers=offers,
            previous=visit.to("results", page=visit.page - 1) if visit.page > 1 else "",
            next=visit.to("results", page=visit.page + 1),
        )


def _item(visit: _Visit, errand: Errand, offer: Offer) -> Answer:
    options = [
        {
            "name": name,
            "number": number,
            "values": [
                {"text": value, "address": visit.to("item", options={**dict(visit.options), name: value})}
                for value in values
            ],
        }
        for number, (name, values) in enumerate(offer.options.items(), 1)
    ]
    return _rendered(
        "item",
        errand,
        back=visit.to(),
        previous=visit.to("results", id="", options=()),
        options=options,
        title=offer.product.title,
        price=f"${offer.product.price:.2f}",
        parts=[{"name": name, "address": visit.to(name.lower())} for name in PARTS],
        buy=visit.to("buy"),
    )


def _score(visit: _Visit, errand: Errand, offer: Offer) -> float:
    chosen = dict(visit.options)
    if any(value not in offer.options[name] for name, value in chosen.items()):
        raise ValueError("no such option")
    return reward(offer.product, chosen.values(), errand.goal, nouns).total


def _rendered(name: str, errand: Errand, **values: Any) -> Answer:
    page = _PAGES.get_template(f"{name}.html.j2")
    return Answer(200, page.render(instruction=errand.instruction, **values))


def _number(session: str) -> int:
    number = int(session.rpartition("_")[2])
    if number < 0:
        raise ValueError("errands count from 0")
    return number


def _visit(session: str, query: str) -> _Visit:
    pairs: Sequence[tuple[str, str]] = parse_qsl(query, keep_blank_values=True)
    single = {name: value for name, value in pairs if name != "o"}
    options = {name: value for key, text in pairs if key == "o" for name, _, value in [text.partition("=")]}
    page = int(single.get("page", "1"))
    if page < 1:
        raise ValueError("pages count from 1")
    return _Visit(session, single.get("q", ""), page, single.get("id", ""), tuple(options.items()))
