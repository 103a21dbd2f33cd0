"""Where the text and the addresses of a thread come from, and what follows from it.

An origin is `user`, `model`, `file:NAME`, `web:HOST` or `tool:NAME`, several joined by ', '. It stands with
every step and result; what has come into a thread is what any step of any of its tasks has seen, since the
plans, memories, tasks and answers that follow are made of it. Two questions are asked of it:

- outside: may somebody else have written it, and so have put an instruction into it? Pages, what tools bring,
  and files: a person gives a file, but seldom wrote it. So a file alone can make a write need approval.
- private: would its owner mind if it were sent elsewhere? Files, and what the person answered during the run.

A file counts from the moment it is given, since its name stands in every prompt. A lesson of another thread
is shown only if it is free of outside text or a person has confirmed it. A part that is not known counts as
outside.

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
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any

import httpx

from forethought.nodes.support.prompt_text import trajectory
from forethought.state.agent import AgentState, Step
from forethought.tools.base import Tool

Json = dict[str, Any]
GIVEN = 0
"""Stands for a step's number where something came with the task."""
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


@dataclass(frozen=True)
class Influence:
    """What has come into a thread: by origin, the steps at which it came (GIVEN: with the task)."""

    outside: Mapping[str, list[int]]
    private: Mapping[str, list[int]]

    @property
    def guarded(self) -> bool:
        """Whether something private could be carried out at somebody else's bidding."""
        return bool(self.outside and self.private)


def parts(origin: str) -> list[str]:
    """The single origins that an origin is joined of."""
    return [part for part in origin.split(", ") if part]


def joined(origins: Iterable[str]) -> str:
    """Several origins as one, each part once; the model's own words are left out beside others."""
    names = list(dict.fromkeys(part for origin in origins for part in parts(origin)))
    return ", ".join([part for part in names if part != "model"] or names)


def is_outside(part: str, tools: Mapping[str, Tool]) -> bool:
    """Whether somebody else may have written what comes from there."""
    if part in ("user", "model"):
        return False
    kind, _, name = part.partition(":")
    tool = tools.get(name) if kind == "tool" else None
    return tool is None or tool.outside


def is_private(part: str) -> bool:
    """Whether it is the user's own, not to be sent to just anywhere."""
    return part == "user" or part.startswith("file:")


def influence(state: AgentState, tools: Mapping[str, Tool]) -> Influence:
    """What has come into the whole thread."""
    seen: dict[str, set[int]] = {}
    for origin, n in _origins(state):
        for part in parts(origin):
            seen.setdefault(part, set()).add(n)
    return Influence(
        outside={part: sorted(steps) for part, steps in seen.items() if is_outside(part, tools)},
        private={part: sorted(steps) for part, steps in seen.items() if is_private(part)},
    )


def thread_origin(state: AgentState) -> str:
    """The origin of what is made of the whole thread: a plan, the memory of a round, an answer."""
    return joined(origin for origin, _ in _origins(state)) or "user"


def made_of(key: str, state: AgentState) -> str:
    """The origin of a result that the subtask `key` hands over: what its steps saw and what it was given, so
    that an outside origin is not lost on the way."""
    subtask = next(item for item in state["plan"]["subtasks"] if item["id"] == key)
    results = state.get("results", {})
    origins = [step["origin"] for step in trajectory(state) if step["subtask"] == key and step["ok"]]
    origins += [results[needed]["origin"] for needed in subtask["depends_on"] if needed in results]
    names = dict.fromkeys(part for origin in origins for part in parts(origin) if part != "model")
    return ", ".join(names) or "model"


def records(seen: Mapping[str, list[int]]) -> list[Json]:
    """Origins with their steps: [{origin, steps}]; a file that was given and not read has no step."""
    return [{"origin": part, "steps": [n for n in steps if n != GIVEN]} for part, steps in seen.items()]


def thread_steps(state: AgentState) -> list[Step]:
    """The steps of all tasks of the thread, by number."""
    return sorted(state.get("trajectory", []), key=itemgetter("n"))


def _origins(state: AgentState) -> Iterator[tuple[str, int]]:
    for item in state.get("files", []):
        if not isinstance(item, str):
            yield f"file:{item['name']}", GIVEN
    for step in thread_steps(state):
        if step["cause"] == "rejected":  # a person's No tells nothing that could be carried out
            continue
        yield step["origin"], step["n"]
        for sub_step in step["sub_steps"]:
            yield sub_step.get("origin") or "", step["n"]
    for result in state.get("results", {}).values():
        yield result["origin"], result["n"]


def address_key(url: str) -> str | None:
    """What is sent to whom by opening `url`, the same for two spellings of it; None if it is no address.

    The scheme and the fragment do not count: neither says anything that the rest does not.
    """
    url = _VIEW_SOURCE.sub("", url).strip()
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
def addresses_in(text: str) -> frozenset[str]:
    """The keys of all addresses that a text names, with and without https://."""
    keys: set[str] = set()
    for variant in {text, html.unescape(text)}:
        for pattern in (_WITH_SCHEME, _BARE):
            for match in pattern.finditer(variant):
                keys.update(key for form in _forms(match[0]) if (key := address_key(form)))
    return frozenset(keys)


def _forms(address: str) -> Iterator[str]:
    """The address as it stands, without the punctuation behind it, and up to each place where it may end."""
    yield address
    yield address.rstrip(".,;:!?)]}'\"*_")
    for end, _ in zip(_ENDS.finditer(address), range(_MOST_ENDS), strict=False):
        yield address[: end.start()]


def known_addresses(state: AgentState, tools: Mapping[str, Tool]) -> set[str]:
    """The keys of the addresses that the user or a tool result gave."""
    known = {key for text in _words_of_user(state) for key in addresses_in(text)}
    stored: set[str] = set()
    for step in thread_steps(state):
        own = [step["thought"], step["expected"], step["evaluation"]]
        answered = "model" in parts(step["origin"])
        for record in ({**step, "own": own}, *step["sub_steps"]):
            texts = [*_strings(record.get("arguments")), *record.get("own", [])]
            written = addresses_in("\n".join(texts))
            if not answered and _is_others_text(record, tools):
                known |= addresses_in(str(record.get("observation") or "")) - stored - written
            if _may_store(record, tools):
                stored |= written - known
    return known


def approved_addresses(state: AgentState, tools: Mapping[str, Tool]) -> set[str]:
    """The keys of the addresses that a person approved in a call."""
    keys: set[str] = set()
    for step in thread_steps(state):
        tool = tools.get(step["tool"] or "")
        if tool and tool.address and step.get("approval") in ("approved", "edited"):
            keys |= {address_key(str(step["arguments"].get(tool.address, ""))) or ""}
    return keys - {""}


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
    was_called = bool(record.get("tool")) and record.get("cause") not in ("rejected", "repeat", "arguments")
    return was_called and (
        tool is None or tool.effect == "write" or (tool.effect == "egress" and not tool.address)
    )


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
