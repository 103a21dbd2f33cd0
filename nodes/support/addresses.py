"""Which addresses a thread knows, and from whom: an address that the model composed could carry a file out.

An address is given if the user wrote it, or if a tool's result holds it that is somebody else's text. An echo
gives nothing: neither the text of a failed call, nor what code computed or a model answered about a document,
nor a result that repeats an argument of its call or what an earlier call stored.

What the model writes to the person (answers, questions) is made harmless for readers that render Markdown: a
picture or link whose address nobody gave could carry a file out as soon as it is shown or clicked. That is
done only in a thread that holds both private text and text from outside. Addresses that the user or a source
gave stay as they are; of others the words stay readable, in backticks, where nothing loads or links them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import httpx

from forethought.nodes.support.provenance import influence, parts, thread_steps
from forethought.state.agent import AgentState
from forethought.tools.base import Tool

_WITH_SCHEME = re.compile(r"https?://[^\s<>\"`\\^{}|]+", re.IGNORECASE)
_BARE = re.compile(
    r"(?<![\w@./:%=&?-])(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,24}(?::\d{1,5})?"
    r"(?:/[^\s<>\"`\\^{}|]*)?(?![\w@])",
    re.IGNORECASE,
)
_VIEW_SOURCE = re.compile(r"\A\s*view-source:", re.IGNORECASE)
"""How visit_webpage is asked for raw HTML; the address behind it is what is sent."""
_ENDS = re.compile(r"[)\]}'*,;|]")
"""Where text around an address may begin: a bracket of Markdown, a quote, a comma."""
_MOST_ENDS = 12


def address_key(url: str) -> str | None:
    """What is sent to whom by opening `url`, the same for two spellings of it; None if it is no address.

    The scheme and the fragment do not count: neither says anything that the rest does not.
    """
    url = _VIEW_SOURCE.sub("", url).strip()
    try:
        found = httpx.URL(url if "://" in url else f"https://{url}")
        path = found.raw_path.decode("ascii") or "/"
        host = found.raw_host.decode("ascii").lower().rstrip(".")
        userinfo = found.userinfo.decode("ascii")
    except (httpx.InvalidURL, ValueError, TypeError):
        return None
    port = "" if found.port in (None, 80, 443) else f":{found.port}"
    return f"{userinfo}@{host}{port}{path}" if host else None


@lru_cache(maxsize=1024)  # the same steps are looked through before each call of a thread
def addresses_in(text: str) -> frozenset[str]:
    """The keys of all addresses that a text names, with and without https://."""
    found: set[str] = set()
    for variant in {text, html.unescape(text)}:
        for pattern in (_WITH_SCHEME, _BARE):
            for match in pattern.finditer(variant):
                found.update(key for form in _forms(match[0]) if (key := address_key(form)))
    return frozenset(found)


def _forms(address: str) -> Iterator[str]:
    """The address as it stands, without the punctuation behind it, and up to each place where it may end."""
    yield address
    yield address.rstrip(".,;:!?)]}'\"*_")
    for end, _ in zip(_ENDS.finditer(address), range(_MOST_ENDS), strict=False):
        yield address[: end.start()]


def known_addresses(state: AgentState, tools: Mapping[str, Tool]) -> set[str]:
    """The keys of the addresses that the user or a tool result gave."""
    given = {key for text in _words_of_user(state) for key in addresses_in(text)}
    kept: set[str] = set()
    for step in thread_steps(state):
        own = [step["thought"], step["expected"], step["evaluation"]]
        answered = "model" in parts(step["origin"])
        for record in ({**step, "own": own}, *step["sub_steps"]):
            texts = [*_strings(record.get("arguments")), *record.get("own", [])]
            wrote = addresses_in("\n".join(texts))
            if not answered and _is_others_text(record, tools):
                given |= addresses_in(str(record.get("observation") or "")) - kept - wrote
            if _may_store(record, tools):
                kept |= wrote - given
    return given


def approved_addresses(state: AgentState, tools: Mapping[str, Tool]) -> set[str]:
    """The keys of the addresses that a person approved in a call."""
    found: set[str] = set()
    for step in thread_steps(state):
        tool = tools.get(step["tool"] or "")
        if tool and tool.address and step.get("approval") in ("approved", "edited"):
            found |= {address_key(str(step["arguments"].get(tool.address, ""))) or ""}
    return found - {""}


def _words_of_user(state: AgentState) -> Iterator[str]:
    """What the user wrote: tasks, messages, guidance. Answers to questions are steps."""
    yield state.get("task") or ""
    yield from state.get("guidance") or []
    yield state.get("progress", {}).get("rejection") or ""
    for earlier in state.get("progress", {}).get("earlier", []):
        yield earlier["task"]
    for message in state.get("messages", []):
        if message.type == "human":
            yield str(message.text)


def _is_others_text(record: Mapping[str, Any], tools: Mapping[str, Tool]) -> bool:
    """Whether what came of a call is somebody else's text and not the model's own, computed or answered.

    Of the tools without outside text only the question to the person brings words that are not the model's:
    a program that works on a person's answer has the origin `user`, too.
    """
    tool = tools.get(record.get("tool") or "")
    if not record.get("ok") or record.get("action", "call") != "call":
        return False
    return tool is None or tool.outside or tool.asks_person


def _may_store(record: Mapping[str, Any], tools: Mapping[str, Tool]) -> bool:
    """Whether what the model wrote may have been stored by the call, and so come back in a later result."""
    tool = tools.get(record.get("tool") or "")
    made = bool(record.get("tool")) and record.get("cause") not in ("rejected", "repeat", "arguments")
    return made and (tool is None or tool.effect == "write" or (tool.effect == "egress" and not tool.address))


def _strings(value: Any) -> Iterable[str]:
    """All texts in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


_ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,20}:)?[/\\]{2}[^\s<>\"'`)\]|]+|\bwww\.[^\s<>\"'`)\]|]+", re.IGNORECASE
)
_PICTURE = re.compile(r"!(?=\[)")
_TAG = re.compile(
    r"<(?=/?(?:a|area|audio|base|body|button|embed|form|frame|iframe|image|img|input|link|math|meta|object|"
    r"picture|script|source|style|svg|table|td|th|track|video)\b)",
    re.IGNORECASE,
)
_CODED = re.compile(
    r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|colon|sol|bsol|period|lpar|lsqb|excl|commat);", re.IGNORECASE
)
"""Characters of an address in disguise, which a reader of Markdown decodes."""
_DESTINATION = re.compile(r"!\[[^\]]{0,500}+\]\(\s{0,9}+<?([^\s)>]{1,3000}+)>?[^)]{0,500}+\)")


def for_person(text: str, state: AgentState, tools: Mapping[str, Tool]) -> str:
    """`text` as it may be shown: untouched in a thread without anything private or anything from outside."""
    if not influence(state, tools).guarded:
        return text
    return inert(text, known_addresses(state, tools) | approved_addresses(state, tools))


def inert(text: str, known: Collection[str]) -> str:
    """`text` with nothing in it that a Markdown or HTML reader would load or link, but `known` addresses."""
    text = _CODED.sub(lambda match: html.unescape(match[0]), text)
    pictures = {match.start() for match in _DESTINATION.finditer(text) if address_key(match[1]) in known}
    text = _PICTURE.sub(lambda match: "!" if match.start() in pictures else "", text)
    text = _TAG.sub("&lt;", text)
    return _ADDRESS.sub(lambda match: _quote(match, known), text)


def _quote(match: re.Match[str], known: Collection[str]) -> str:
    address = match[0]
    bare = address.rstrip(".,;:!?*_")
    if address_key(bare) in known or address_key(address) in known:
        return address
    return f"`{bare}`{address[len(bare) :]}"
