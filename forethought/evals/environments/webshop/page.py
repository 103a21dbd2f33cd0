"""A page of WebShop as an agent sees it: its text, and what can be clicked or searched there.

What counts as clickable is WebShop's own rule: buttons, product links and the values of options, by their
text in small letters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from bs4 import BeautifulSoup
from bs4.element import Comment, Tag

BOUGHT = "You have bought the product. Thank you for shopping with us!"
"""Instead of WebShop's last page, which shows the score."""
_UNSEEN = ("style", "script", "head", "title", "meta", "[document]")


@dataclass(frozen=True)
class Control:
    """Where a click leads."""

    address: str
    posts: bool = False
    option: str = ""
    """For an option's value: the option's name."""
    opens_product: bool = False


@dataclass(frozen=True)
class Page:
    """A page that the shop sent."""

    instruction: str
    search: str | None
    """Address of the search form; None without a form."""
    controls: Mapping[str, Control]
    reward: float | None
    """The reward of the purchase; None without a purchase."""
    soup: BeautifulSoup = field(repr=False)

    def text(self, choices: Mapping[str, str]) -> str:
        """What is read on it: what can be clicked stands in brackets, and `choices` of options are marked."""
        if self.reward is not None:
            return BOUGHT
        return "\n".join(_lines(self.soup, choices))


def parse_page(html: str) -> Page:
    """The page. Raises ValueError where it is none of WebShop's: no instruction and no score."""
    soup = BeautifulSoup(html, "html.parser")
    head = soup.find(id="instruction-text")
    reward = soup.select_one("#reward pre")
    if head is None and reward is None:
        raise ValueError("the page has neither an instruction nor a score")
    instruction = " ".join(head.get_text(" ").split()).removeprefix("Instruction:").strip() if head else ""
    box = soup.find(id="search_input")
    form = box.find_parent("form") if box else None
    return Page(
        instruction=instruction,
        search=_of(form, "action") if form else None,
        controls=dict(_controls(soup)),
        reward=float(reward.get_text()) if reward else None,
        soup=soup,
    )


def _of(tag: Tag, attribute: str) -> str:
    value = tag.get(attribute) or ""
    return value if isinstance(value, str) else " ".join(value)


def _controls(soup: BeautifulSoup) -> Iterator[tuple[str, Control]]:
    """Each control by its text; of two with one text the later one counts, as in WebShop."""
    for tag in soup.select(".btn"):
        form, text = tag.find_parent("form"), tag.get_text().strip().lower()
        if form is not None and text != "search":
            yield text, Control(_of(form, "action"), posts=_of(form, "method").lower() == "post")
    for tag in soup.select("a.product-link[href]"):
        yield tag.get_text().strip().lower(), Control(_of(tag, "href"), opens_product=True)
    for tag in soup.select('input[type="radio"][data-url]'):
        yield _of(tag, "value").lower(), Control(_of(tag, "data-url"), option=_of(tag, "name"))


def _lines(soup: BeautifulSoup, choices: Mapping[str, str]) -> Iterator[str]:
    for text in soup.find_all(string=True):
        tag, shown = text.parent, " ".join(text.split())
        if not shown or isinstance(text, Comment) or not isinstance(tag, Tag):
            continue
        if tag.name in _UNSEEN or tag.find_parent(id="instruction-text"):
            continue
        if tag.name == "label":
            radio = soup.find("input", id=_of(tag, "for"))
            option = _of(radio, "name") if isinstance(radio, Tag) else ""
            yield f"  [{shown}]" + (" (chosen)" if choices.get(option) == shown.lower() else "")
        elif tag.name == "button" or "product-link" in _of(tag, "class").split():
            yield "(a search box)" if shown.lower() == "search" else f"[{shown}]"
        else:
            yield shown
