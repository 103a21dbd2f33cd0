"""Addresses in texts: which there are, which are the same, and text in which none loads or links.

What the model writes to the person is made harmless for readers that render Markdown: a picture could carry a
file out as soon as it is shown, by its address or by the choice among many. So none is shown, and an address
that nobody gave stands in backticks.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from urllib.parse import unquote_plus

import httpx
from markdown_it import MarkdownIt
from markdown_it.token import Token

_WITH_SCHEME = re.compile(r"https?://[^\s<>\"`\\^{}|]+", re.IGNORECASE)
_BARE = re.compile(
    r"(?<![\w@./:%=&?-])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,24}(?::\d{1,5})?"
    r"(?:/[^\s<>\"`\\^{}|]*)?(?![\w@])",
    re.IGNORECASE,
)
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
_LINK = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,20}:)?[/\\]{2}[^\s<>\"'`)\]|]+|\bwww\.[^\s<>\"'`)\]|]+", re.IGNORECASE
)
_ENDS = re.compile(r"[)\]}'*,;|]")
"""Where text around an address may begin: a bracket of Markdown, a quote, a comma. The first 12 count."""
_MARKDOWN = MarkdownIt("commonmark").disable("inline")
_TAG = re.compile(
    r"<(?=/?(?:a|area|audio|base|body|button|embed|form|frame|iframe|image|img|input|link|math|meta|object|"
    r"picture|script|source|style|svg|table|td|th|track|video)\b)",
    re.IGNORECASE,
)


def address_key(url: str) -> str | None:
    """What is sent to whom by opening `url`, the same for two spellings of it; None if it is no address.

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
    the same place: where punctuation follows, it is not known where the address ends."""
    keys: dict[str, str] = {}
    for variant in {text, html.unescape(text)}:
        for found in (*_WITH_SCHEME.findall(variant), *_BARE.findall(variant)):
            ends = [match.start() for match in _ENDS.finditer(found)][:12]
            forms = [found, found.rstrip(".,;:!?)]}'\"*_"), *(found[:end] for end in ends)]
            known = [key for form in forms if (key := address_key(form))]
            keys |= dict.fromkeys(known, min(known, key=len, default=""))
    return keys


def links_in(text: str, known: Collection[str] = ()) -> Iterator[str]:
    """Whatever a reader may take for the address of a page or a person, but `known` ones."""
    for pattern in (_LINK, _BARE, _MAIL):
        links = (found.rstrip(".,;:!?*_") for found in pattern.findall(html.unescape(text)))
        yield from (link for link in links if address_key(link) not in known)


def made_up(key: str, words: str) -> bool:
    """Whether an address may be made of `words` (lower case): they hold its site, and of the rest, if it says
    anything, a part of four characters or with a digit."""
    site = ".".join(key.partition("@")[2].partition("/")[0].split(".")[-2:])
    rest = re.split(r"[/?&=@.:]", unquote_plus(key.replace(site, "", 1)).lower())
    pieces = [piece for piece in rest if len(piece) > 3 or re.search(r"\d", piece)]
    return site in words and (not pieces or any(piece in words for piece in pieces))


def inert(text: str, known: Collection[str]) -> str:
    """`text` with nothing in it that a Markdown or HTML reader would load, or link but `known` addresses.

    Blocks of code stay as they are, unless a change beside them would open them.
    """
    text = re.sub(r"\r\n?", "\n", text)
    lines, shown, end, blocks = text.split("\n"), list[str](), 0, _code_blocks(text)
    for block in blocks:
        first, after = block.map or (end, end)
        before = [_without_links("\n".join(lines[end:first]), known)] if first > end else []
        shown += [*before, *lines[first:after]]
        end = after
    shown += [_without_links("\n".join(lines[end:]), known)] if end < len(lines) else []
    whole = "\n".join(shown)
    same = [block.content for block in blocks] == [block.content for block in _code_blocks(whole)]
    return whole if same else _without_links(text, known)


def _code_blocks(text: str) -> list[Token]:
    if "```" not in text and "~~~" not in text:
        return []
    return [token for token in _MARKDOWN.parse(text) if token.type == "fence" and token.level == 0]


def _without_links(text: str, known: Collection[str]) -> str:
    text = re.sub(r"&#?\w{1,32};", lambda coded: html.unescape(coded[0]), text)
    text = re.sub(r"!+(?=\[)", "", re.sub(r"&(?=#?\w{1,32};)", "&amp;", text))
    text = _TAG.sub("&lt;", text)
    return _LINK.sub(lambda match: _quote(match[0], known), text)


def _quote(address: str, known: Collection[str]) -> str:
    bare = address.rstrip(".,;:!?*_")
    is_known = address_key(bare) in known or address_key(address) in known
    return address if is_known else f"`{bare}`{address[len(bare) :]}"
