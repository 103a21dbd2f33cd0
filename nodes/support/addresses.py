"""Addresses in texts: which there are, and which are the same."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from urllib.parse import unquote_plus

import httpx

_WITH_SCHEME = re.compile(r"https?://[^\s<>\"`\\^{}|]+", re.IGNORECASE)
_BARE = re.compile(
    r"(?<![\w@./:%=&?-])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,24}(?::\d{1,5})?"
    r"(?:/[^\s<>\"`\\^{}|]*)?(?![\w@])",
    re.IGNORECASE,
)
LINK = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,20}:)?[/\\]{2}[^\s<>\"'`)\]|]+|\bwww\.[^\s<>\"'`)\]|]+", re.IGNORECASE
)
_ENDS = re.compile(r"[)\]}'*,;|]")
"""Characters that may begin the text after an address, such as a bracket of Markdown. The first 12 count."""


def address_key(url: str) -> str | None:
    """The host, path and query of `url`, the same for two spellings of it; None if it is no address.

    The scheme and the fragment do not count: neither says anything that the rest does not. view-source: is
    how visit_webpage is asked for raw HTML.
    """
    url = re.sub(r"\A\s*view-source:", "", url, flags=re.IGNORECASE).strip()
    try:
        address = httpx.URL(url if "://" in url else f"https://{url}")
        path = address.raw_path.decode("ascii") or "/"
        host = address.raw_host.decode("ascii").lower().rstrip(".")
        userinfo = address.userinfo.decode("ascii")
    except (httpx.InvalidURL, ValueError, TypeError):
        return None
    port = "" if address.port in (None, 80, 443) else f":{address.port}"
    return f"{userinfo}@{host}{port}{path}" if host else None


@lru_cache(maxsize=1024)  # the same steps are looked through before each call of a thread
def addresses_in(text: str) -> Mapping[str, str]:
    """The keys of all addresses that a text names, with and without https://, each with the shortest key of
    the same place: an address followed by punctuation may end before or after it."""
    keys: dict[str, str] = {}
    for variant in {text, html.unescape(text)}:
        for found in (*_WITH_SCHEME.findall(variant), *_BARE.findall(variant)):
            ends = [match.start() for match in _ENDS.finditer(found)][:12]
            forms = [found, found.rstrip(".,;:!?)]}'\"*_"), *(found[:end] for end in ends)]
            known = [key for form in forms if (key := address_key(form))]
            keys |= dict.fromkeys(known, min(known, key=len, default=""))
    return keys


def links_in(text: str, known: Collection[str] = ()) -> Iterator[str]:
    """The addresses of pages that a reader may open, but `known` ones. A name without a path is none."""
    text = html.unescape(text)
    found = (*LINK.findall(text), *(name for name in _BARE.findall(text) if "/" in name))
    links = (link.rstrip(".,;:!?*_") for link in found if "." in link)
    yield from (link for link in links if address_key(link) not in known)


def made_up(key: str, words: str) -> bool:
    """Whether an address may be made of `words` (lower case): they hold its site, and of the rest, if it says
    anything, a part of four characters or with a digit."""
    site = ".".join(key.partition("@")[2].partition("/")[0].split(".")[-2:])
    rest = re.split(r"[/?&=@.:]", unquote_plus(key.replace(site, "", 1)).lower())
    pieces = [piece for piece in rest if len(piece) > 3 or re.search(r"\d", piece)]
    return site in words and (not pieces or any(piece in words for piece in pieces))
