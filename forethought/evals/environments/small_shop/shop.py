"""The small shop's pages, served within the process.

All of a session's state is in its addresses, so that the shop keeps none:

/SESSION                                  the search page; SESSION ends with _ and the errand's number
/SESSION/results?q=...                    what a search found
/SESSION/item?q=...&id=...&o=NAME=VALUE   a product, with the options chosen so far
/SESSION/buy?q=...&id=...&o=NAME=VALUE    the purchase, with its score
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlencode

import httpx
from jinja2 import Environment, PackageLoader, StrictUndefined

from forethought.evals.environments.small_shop.goods import Errand, Offer, catalogue, reward
from forethought.experience.ranking import bm25_plus

INSIDE = "http://small-shop.invalid"
"""The address of the shop within the process: no name server knows it."""
MOST_RESULTS = 20
_PAGES = Environment(
    loader=PackageLoader("forethought.evals.environments.small_shop", "pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
)


def serve(request: httpx.Request) -> httpx.Response:
    """Answer a request: a handler of httpx.MockTransport."""
    session, _, place = request.url.path.strip("/").partition("/")
    form, fields = dict(parse_qsl(request.content.decode())), request.url.params
    options = dict(text.split("=", 1) for text in fields.get_list("o"))
    try:
        errand = catalogue()[1][int(session.rpartition("_")[2])]
        if "search_query" in form:
            address = _address(session, "results", form["search_query"])
            return httpx.Response(302, headers={"location": address})
        return httpx.Response(200, html=_page(session, place, fields, options, errand))
    except (KeyError, IndexError, ValueError):
        return httpx.Response(404, text="there is no such page")


def search(query: str) -> list[Offer]:
    """The best matches, best first; those without a common word are left out."""
    offers, documents = _index()
    scores = bm25_plus(_tokens(query), documents)
    ranked = sorted(range(len(scores)), key=lambda at: (-scores[at], at))
    return [offers[at] for at in ranked[:MOST_RESULTS] if scores[at] > 0]


def _page(
    session: str, place: str, fields: Mapping[str, str], options: Mapping[str, str], errand: Errand
) -> str:
    if place == "":
        return _rendered("search", errand, back="", here=f"/{session}")
    back, query = f"/{session}", fields["q"]
    if place == "results":
        offers = [(offer, _address(session, "item", query, offer.id)) for offer in search(query)]
        return _rendered("results", errand, back=back, offers=offers)
    offer = catalogue()[0][fields["id"]]
    if any(value not in offer.options[name] for name, value in options.items()):
        raise ValueError("no such option")
    if place == "buy":
        return _rendered("done", errand, reward=reward(offer, options.values(), errand))
    if place != "item":
        raise KeyError(place)

    def here(place: str, options: Mapping[str, str]) -> str:
        return _address(session, place, query, offer.id, options)

    choices = {
        name: [(value, here("item", {**options, name: value})) for value in values]
        for name, values in offer.options.items()
    }
    previous, buy = _address(session, "results", query), here("buy", options)
    return _rendered("item", errand, back=back, previous=previous, options=choices, offer=offer, buy=buy)


def _address(
    session: str, place: str, query: str, id: str = "", options: Mapping[str, str] | None = None
) -> str:
    fields = [("o", f"{name}={value}") for name, value in (options or {}).items()]
    return f"/{session}/{place}?{urlencode([('q', query), ('id', id), *fields])}"


def _rendered(name: str, errand: Errand, **values: Any) -> str:
    return _PAGES.get_template(f"{name}.html.j2").render(instruction=errand.instruction, **values)


@cache
def _index() -> tuple[list[Offer], list[list[str]]]:
    offers = list(catalogue()[0].values())
    return offers, [_tokens(" ".join((offer.name, *offer.attributes))) for offer in offers]


def _tokens(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())
