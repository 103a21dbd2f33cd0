"""What a page shows but its plain text would lose or mix up, put into its words.

Deleted, inserted, struck and hidden parts, values of forms, words in drawings, and data for search engines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_STRUCK = re.compile(r"text-decoration[\w-]*\s*:[^;]*line-through", re.IGNORECASE)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_SIMPLE = re.compile(r"[\w-]*(?:[.#][\w-]+)+|[\w-]+")
"""A selector of one element: a tag, classes, an id."""
_TAGS = {"del": "deleted", "ins": "inserted", "s": "struck", "strike": "struck"}
_MOST_RULES = 500


def mark_page(soup: Any) -> str:
    """Mark such parts in the page; returns the data that it holds for search engines, as lines."""
    data = "\n".join(_linked_data(soup))
    for selector, what in _rules(soup):
        with suppress(Exception):  # a selector that the parser does not know
            for element in soup.select(selector):
                element["data-mark"] = what
    for element in soup.find_all(True):
        if element.attrs is None or element.name in ("head", "script", "style", "template", "noscript"):
            continue
        style = str(element.get("style") or "")
        hidden = _HIDDEN.search(style) or element.has_attr("hidden")
        struck = _STRUCK.search(style)
        what = (
            "hidden"
            if hidden
            else "struck"
            if struck
            else _TAGS.get(element.name) or element.get("data-mark")
        )
        if element.name in _FORMS:
            _FORMS[element.name](element)
        elif what and element.get_text(strip=True):
            element.insert(0, f"[{what}: ")
            element.append("]")
            if element.name in _TAGS:
                element.unwrap()
    return data


def _rules(soup: Any) -> Iterator[tuple[str, str]]:
    """Selectors of what a page's style hides or strikes."""
    css = re.sub(
        r"/\*.*?\*/|@media\s+print[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", _styles(soup), flags=re.DOTALL
    )
    for selectors, body in _RULE.findall(css)[:_MOST_RULES]:
        what = "hidden" if _HIDDEN.search(body) else "struck" if _STRUCK.search(body) else ""
        for selector in map(str.strip, selectors.split(",") if what else ()):
            if _SIMPLE.fullmatch(selector):
                yield selector, what


def _styles(soup: Any) -> str:
    return "\n".join(style.get_text() for style in soup("style"))


def _linked_data(soup: Any) -> Iterator[str]:
    for script in soup("script", type="application/ld+json"):
        with suppress(ValueError):
            yield f"Data for search engines: {json.dumps(json.loads(script.get_text()), ensure_ascii=False)}"
    for meta in soup("meta", content=True):
        name = str(meta.get("name") or meta.get("property") or meta.get("itemprop") or "")
        if name in ("description", "author", "date") or meta.get("itemprop") or name.startswith("article:"):
            yield f"{name}: {' '.join(str(meta['content']).split())}"


def _input(element: Any) -> None:
    kind, value = str(element.get("type") or "text").lower(), str(element.get("value") or "")
    label = str(element.get("name") or element.get("id") or "")
    if kind in ("checkbox", "radio"):
        element.replace_with("[x] " if element.has_attr("checked") else "[ ] ")
    elif kind in ("submit", "button", "reset", "image", "password") or not value:
        element.decompose()
    else:
        element.replace_with(f"[{'hidden ' * (kind == 'hidden')}field {label}: {value}]")


def _select(element: Any) -> None:
    options = [(" ".join(each.get_text().split()), each.has_attr("selected")) for each in element("option")]
    chosen = [text for text, selected in options if selected] or [text for text, _ in options[:1]]
    others = [text for text, _ in options if text not in chosen]
    element.replace_with(f"[chosen: {', '.join(chosen)}; other choices: {', '.join(others) or 'none'}]")


def _drawing(element: Any) -> None:
    texts = [" ".join(each.get_text().split()) for each in element(["title", "desc", "text"])]
    if words := "; ".join(dict.fromkeys(filter(None, texts))):
        element.replace_with(f"[drawing: {words}]")


def _measure(element: Any) -> None:
    element.replace_with(f"{element.get_text(' ', strip=True)} [value {element.get('value')}]")


def _explained(element: Any) -> None:
    if title := " ".join(str(element.get("title") or "").split()):
        element.append(f" ({title})")


def _framed(element: Any) -> None:
    if inner := element.get("srcdoc"):
        from bs4 import BeautifulSoup

        element.replace_with(BeautifulSoup(inner, "lxml"))


_FORMS = {
    "input": _input, "select": _select, "svg": _drawing, "progress": _measure, "meter": _measure,
    "abbr": _explained, "iframe": _framed,
}  # fmt: skip
"""Elements whose words are in their attributes or parts."""
