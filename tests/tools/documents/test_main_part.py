"""What is left of a web page without its menus, side notes and lists of links."""

from __future__ import annotations

import time

import pytest

from forethought.tools.documents.formats import text_of

PROSE = "<p>The price of tea rose by four per cent, which is less than anybody had expected then.</p>"
LINKS = "".join(f"<li><a href=/{n}>Another page of this site</a></li>" for n in range(9))


def text(*body: str) -> str:
    page = f"<html><head><title>Tea</title></head><body>{''.join(body)}</body></html>"
    return text_of("http://example.org/", "text/html", "utf-8", page.encode(), raw=False)


@pytest.mark.parametrize(
    "beside",
    [
        "<nav>Elsewhere</nav>",
        "<div class='siteHeader'>Elsewhere</div>",
        "<div id=cookie-banner>Elsewhere</div>",
        "<section role=complementary>Elsewhere</section>",
        f"<div><h2>Elsewhere</h2><ul>{LINKS}</ul></div>",
        "<div class=row><div>Elsewhere</div></div>",
    ],
)
def test_what_stands_beside_the_prose_goes(beside: str) -> None:
    shown = text(beside, f"<div>{PROSE * 8}</div>")
    assert shown == "Tea\n\n" + "\n\n".join([PROSE[3:-4]] * 8)


def test_what_holds_most_of_the_page_stays_whatever_it_is_called() -> None:
    assert text("<p>Asked in May.</p>", f"<div class=comments>{PROSE * 8}</div>").count("four per cent") == 8
    assert text(f"<form id=page>{PROSE * 8}</form>").count("four per cent") == 8


def test_a_page_of_links_is_shown_whole() -> None:
    assert text(f"<ul>{LINKS}</ul>").count("](http://example.org/") == 9


def test_tables_and_lists_among_the_prose_stay() -> None:
    table = "<table><tr><th>Year</th><th>Price</th></tr><tr><td>2020</td><td>3.1</td></tr></table>"
    shown = text(f"<main>{PROSE * 4}{table}<ul><li>green</li><li>black</li></ul>{PROSE * 4}</main>")
    assert "| 2020 | 3.1 |" in shown
    assert "- green\n- black" in shown


def test_deep_nesting_takes_no_longer_than_its_length() -> None:
    began = time.process_time()
    text("<div class=nav>" * 5000, "words", "</div>" * 5000)
    assert time.process_time() - began < 10, "generous, for a slow machine"
