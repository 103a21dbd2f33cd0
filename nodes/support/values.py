"""Values of arguments: how two spellings of one value are known to be the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from typing import Any

from forethought.nodes.support.addresses import address_key
from forethought.text import plain

_NUMBER = re.compile(r"[$€£]?(-?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?)[$€£]?")
_MAIL = re.compile(r"(?:[^<>@,;]*<|mailto:)([^<>\s]+@[^<>\s]+?)>?")
_SITE = re.compile(r"https?://.*|[\w-]+(?:\.[\w-]+)*\.[a-z]{2,24}(?:/.*)?")
_DATES = ("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d %B %Y", "%B %d, %Y", "%B %d %Y", "%H:%M")


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The single values of arguments, with the names that lead there. A name below an argument is a value at
    '': a model may write it."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from [((*path, ""), str(key))] if path else []
            yield from leaves(item, (*path, str(key)))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item, path)
    else:
        yield path, value


def normal_forms(value: Any) -> set[str]:
    """The normal forms of a value: text, number, date, mail address and web address."""
    text = plain(str(value)).strip(" \"'.,;:!")
    forms = {text.removeprefix("#").removeprefix("@"), date_of(text) or text}
    if number := _NUMBER.fullmatch(text):
        forms.add(f"{Decimal(number[1].replace(',', '')).normalize():f}")
    if mail := _MAIL.fullmatch(text):
        forms.add(mail[1])
    if _SITE.fullmatch(text) and (key := address_key(str(value))):
        forms.add(key)
    return forms


def date_of(text: str) -> str:
    """A date, a time or both in ISO form, without a time of midnight; '' for other texts."""
    for form in ("", *_DATES):
        with suppress(ValueError):
            read = datetime.strptime(text, form) if form else datetime.fromisoformat(text)
            return read.isoformat().removesuffix("T00:00:00") if form or "-" in text else ""
    return ""


def begins(value: Any, granted: str) -> bool:
    """Whether the person gave the beginning of a name or a title, as `External*`."""
    start, star, rest = plain(granted).partition("*")
    begins = star and not rest and len(start) > 3 and re.fullmatch(r"[\w #'-]+", start)
    return bool(begins and re.fullmatch(rf"{re.escape(start)}[\w '-]{{1,40}}", plain(str(value))))


def stands(value: Any, text: str) -> bool:
    """Whether a text holds the value in whole words."""
    words = re.escape(plain(str(value)))
    return re.search(rf"(?<![\w.+/-])(?<!\w@){words}(?![\w@/+-]|[.:]\w)", plain(text)) is not None
