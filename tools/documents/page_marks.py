"""Marks in a page's text for parts that plain text would lose or mix up.

Deleted, inserted, struck and hidden parts, values of forms, words in drawings, and data for search engines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

_LOOKS = {
    "hidden": re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE),
    "struck": re.compile(r"text-decoration[\w-]*\s*:[^;]*line-through", re.IGNORECASE),
}
_TAGS = {"del": "deleted", "ins": "inserted", "s": "struck", "strike": "struck"}
_FOR_PRINT = re.compile(r"/\*.*?\*/|@media\s+print[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", re.DOTALL)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_SIMPLE = re.compile(r"[\w-]*(?:[.#][\w-]+)+|[\w-]+")
"""A selector of one element: a tag, classes, an id."""
_MOST_RULES = 500


def mark_page(soup: Any) -> str:
    """Mark such parts in the page. Returns the data that it holds for search engines, as lines."""
    data = "\n".join(_data(soup))
    for selector, look in _rules("\n".join(style.get_text() for style in soup("style"))):
        for element in soup.select(selector):
            element["data-mark"] = look
    for element in soup.body.find_all(True) if soup.body else ():
        if element.attrs is None or element.name in ("script", "style", "template", "noscript"):
            continue
        look = "hidden" if element.has_attr("hidden") else _look(str(element.get("style") or ""))
        look = look or _TAGS.get(element.name) or str(element.get("data-mark") or "")
        if element.name in _WORDS:
            element.replace_with(_WORDS[element.name](element))
        elif look and element.get_text(strip=True):
            element.insert(0, f"[{look}: ")
            element.append("]")
            if element.name in _TAGS:
                element.unwrap()
    return data


def _look(style: str) -> str:
    return next((look for look, pattern in _LOOKS.items() if pattern.search(style)), "")


def _rules(css: str) -> Iterator[tuple[str, str]]:
    """Selectors of the elements that a page's style hides or strikes."""
    for selectors, body in _RULE.findall(_FOR_PRINT.sub("", css))[:_MOST_RULES]:
        for selector in map(str.strip, selectors.split(",")):
            if (look := _look(body)) and _SIMPLE.fullmatch(selector):
                yield selector, look


def _data(soup: Any) -> Iterator[str]:
    for script in soup("script", type="application/ld+json"):
        with suppress(ValueError):
            yield f"Data for search engines: {json.dumps(json.loads(script.get_text()), ensure_ascii=False)}"
    for meta in soup("meta", content=True):
        name = str(meta.get("name") or meta.get("property") or meta.get("itemprop") or "")
        if name in ("description", "author", "date") or meta.get("itemprop") or name.startswith("article:"):
            yield f"{name}: {' '.join(str(meta['content']).split())}"


def _input(element: Any) -> str:
    kind, value = str(element.get("type") or "text").lower(), element.get("value")
    if kind in ("checkbox", "radio"):
        return "[x] " if element.has_attr("checked") else "[ ] "
    if kind in ("submit", "button", "reset", "image", "password") or not value:
        return ""
    return (
        f"[{'hidden ' * (kind == 'hidden')}field {element.get('name') or element.get('id') or ''}: {value}]"
    )


def _select(element: Any) -> str:
    options = [(" ".join(each.get_text().split()), each.has_attr("selected")) for each in element("option")]
    chosen = [text for text, selected in options if selected] or [text for text, _ in options[:1]]
    others = [text for text, _ in options if text not in chosen]
    return f"[chosen: {', '.join(chosen)}; other choices: {', '.join(others) or 'none'}]"


def _drawing(element: Any) -> str:
    texts = [" ".join(each.get_text().split()) for each in element(["title", "desc", "text"])]
    return f"[drawing: {'; '.join(dict.fromkeys(filter(None, texts)))}]" if any(texts) else ""


def _explained(element: Any) -> str:
    title = " ".join(str(element.get("title") or element.get("value") or "").split())
    return (
        f"{element.get_text(' ', strip=True)} ({title})" if title else str(element.get_text(" ", strip=True))
    )


def _framed(element: Any) -> Any:
    from bs4 import BeautifulSoup

    return BeautifulSoup(str(element.get("srcdoc") or ""), "lxml")


_WORDS = {"input": _input, "select": _select, "svg": _drawing, "abbr": _explained, "progress": _explained,
          "meter": _explained, "iframe": _framed}  # fmt: skip
"""Elements whose words are in their attributes or parts."""
