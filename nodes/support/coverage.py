"""What was given in a thread, by whom, and what of a call the person's words do not cover.

A person gives what they write: tasks, messages, guidance, answers. A tool without outside text, such as a
register of their own, hands on what it was asked for in such words. An address is given if the person wrote
it, or if somebody else's text holds it whole. An echo gives nothing: neither the text of a failed call, nor
what code computed or a model answered about a document, nor a result that repeats its call's arguments or
puts an address together from them, nor what an earlier call stored.

A call is covered if its tool was foreseen and the person gave everything in it that decides where it goes or
whom it serves. The person's words foresee the tools that they name, and so does a plan that was made before
anything came from outside: nobody else can have put a tool there.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, time
from functools import lru_cache
from itertools import chain
from math import inf, log2
from typing import Any

from forethought.nodes.support.addresses import address_key, addresses_in, host_of, inert, links_in, made_up
from forethought.nodes.support.origins import influence, is_outside, parts, thread_steps
from forethought.state.agent import AgentState, Plan, Proposal
from forethought.tools.base import Tool
from forethought.tools.call import normalise

Json = dict[str, Any]
_NUMBER = re.compile(r"(?<![\w.,:/-])-?\d+(?:[.,]\d+)*(?!\w|[:/-]\d)")
_ENDING = re.compile(r"(?<=\w{3})(?:ing|ed|es|s|e)\Z")


@dataclass(frozen=True)
class Given:
    """What was given before a call is made."""

    words: str
    """The person's."""
    addresses: Mapping[str, str]
    """Those of others' texts, as `addresses_in` has them."""
    chosen: float
    """Bits that the task's choices among them may have told, since something private was read."""

    def holds(self, link: str) -> bool:
        """Whether the person gave an address of a page or a person."""
        return stands(link, self.words) or address_key(link) in addresses_in(self.words)


def what_is_given(state: AgentState, tools: Mapping[str, Tool], proposal: Proposal | None = None) -> Given:
    """What was given so far; what a proposal, and its wave before it, chooses counts as chosen."""
    words, stored, chosen = "\n".join(_words_of_person(state)), "", 0.0
    addresses: dict[str, str] = {}
    private = min(chain(*influence(state, tools).private.values()), default=inf)
    progress = state.get("progress", {})
    wave = [item for item in state.get("proposals", {}).values() if proposal and item["n"] <= proposal["n"]]
    steps: list[Any] = [*thread_steps(state), *wave]
    for step in steps:
        key = opened(tools.get(step["tool"] or ""), step["arguments"])
        is_choice = key in addresses and key not in {*addresses_in(words), *progress.get("foreseen", [])}
        if is_choice and not step.get("approval") and step["n"] > max(private, progress.get("base_n", 0)):
            chosen += log2(1 + len(set(addresses.values())))
        sources = parts(step.get("origin", ""))
        for record in (step, *step.get("sub_steps", [])):
            tool, text = tools.get(record["tool"] or ""), _what_came(record)
            arguments = [value for _, value in _leaves(record["arguments"])]
            written = "\n".join([stored, *map(str, arguments)])
            if tool and not tool.outside:
                foreign = tool.runs_code or "model" in sources or any(is_outside(p, tools) for p in sources)
                if tool.asks_person or not (foreign or any(not stands(value, words) for value in arguments)):
                    words += f"\n{text}"
            elif "model" not in sources:
                fetches = tool is not None and tool.address is not None
                found = addresses_in(text).items()
                addresses |= {key: at for key, at in found if not _is_echo(key, written, fetches)}
            stored = written if _may_store(record, tool) else stored
    return Given(words, addresses, chosen)


def uncovered(
    tool: Tool, arguments: Json, given: Given, state: AgentState, tools: Mapping[str, Tool]
) -> list[Json]:
    """What the person did not give of what a call needs from them: [{argument, value, origin}], the origin
    being the parts from outside where it stands, or `model`."""
    values = [(name, value) for name, value in targets(tool, arguments) if not stands(value, given.words)]
    for path, value in _leaves(arguments):
        if path[-1] in tool.content and isinstance(value, str):
            values += [(path[0], link) for link in links_in(value) if not given.holds(link)]
    seen = [(step["origin"], _what_came(step)) for step in thread_steps(state)]

    def origin(value: Any) -> str:
        found = (part for origin, text in seen if stands(value, text) for part in parts(origin))
        return ", ".join(dict.fromkeys(part for part in found if is_outside(part, tools))) or "model"

    return [{"argument": name, "value": value, "origin": origin(value)} for name, value in values]


def targets(tool: Tool, arguments: Json) -> list[tuple[str, Any]]:
    """The values that decide where a call goes or whom it serves, with their arguments: all but defaults,
    content, dates and times."""
    schema = tool.arguments.model_json_schema()
    defaults = {name: entry.get("default") for name, entry in schema.get("properties", {}).items()}
    return [
        (path[0], value)
        for path, value in _leaves(normalise(tool, arguments))
        if path[-1] not in tool.content
        and not _is_time(value)
        and not (value is not None and value == defaults.get(path[0]))
        and not (path[-1] == "" and json.dumps(value) in json.dumps(schema))
    ]


def is_foreseen(tool: Tool, given: Given, state: AgentState) -> bool:
    """Whether the person's words, or a plan made before anything came from outside, name the tool."""
    named = any(_names(tool.name, sentence) for sentence in re.split(r"[.!?;]\s|\n", given.words))
    return named or tool.name in state.get("progress", {}).get("foreseen", [])


def foreseen(plan: Plan, state: AgentState, tools: Mapping[str, Tool]) -> list[str]:
    """The tools and the keys of the addresses that the task's plans name, as far as nothing from outside was
    in the thread when they were made, or a person has approved or written them."""
    found = set(state["progress"].get("foreseen", []))
    if plan.get("approval") in ("approved", "edited") or not influence(state, tools).outside:
        for subtask in plan.get("subtasks", []):
            text = f"{subtask['description']}\n{json.dumps(subtask.get('call'))}"
            found |= {*addresses_in(text), *(name for name in tools if _names(name, text))}
    return sorted(found)


def opened(tool: Tool | None, arguments: Json) -> str | None:
    """The key of the address that a call opens, which is all that it sends; None of any other call."""
    return address_key(str(arguments.get(tool.address))) if tool and tool.address else None


def approved(state: AgentState, tools: Mapping[str, Tool]) -> set[str]:
    """The keys of the addresses that a person approved in a call."""
    words = ("approved", "approved all", "edited")
    calls = [step for step in thread_steps(state) if step.get("approval") in words]
    return {key for step in calls if (key := opened(tools.get(step["tool"] or ""), step["arguments"]))}


def like_approved(tool: Tool, arguments: Json, state: AgentState) -> bool:
    """Whether a person has approved all calls of the task like this one: of the same tool to the same host,
    or with the same targets."""

    def kind(arguments: Json) -> Any:
        return host_of(opened(tool, arguments) or "") if tool.address else targets(tool, arguments)

    return any(
        (step["tool"], step.get("approval")) == (tool.name, "approved all")
        and step["n"] > state["progress"]["base_n"]
        and kind(step["arguments"]) == kind(arguments)
        for step in thread_steps(state)
    )


def for_person(text: str, state: AgentState, tools: Mapping[str, Tool]) -> str:
    """`text` as it may be shown: untouched in a thread without anything private or anything from outside."""
    origins = influence(state, tools)
    if not (origins.outside and origins.private):
        return text
    given = what_is_given(state, tools)
    return inert(text, {*addresses_in(given.words), *given.addresses, *approved(state, tools)})


def stands(value: Any, text: str) -> bool:
    """Whether `text` holds a value in whole words, whatever the case and the spacing; a number as a number.
    True, false, null and nothing at all stand in any text."""
    if value is None or isinstance(value, bool) or value == "":
        return True
    text = _plain(text)
    if isinstance(value, int | float):
        return value in _numbers(text)
    words = re.escape(_plain(str(value)))
    return re.search(rf"(?<![\w.+/-])(?<!\w@){words}(?![\w@/+-]|[.:]\w)", text) is not None


@lru_cache(maxsize=1024)
def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


@lru_cache(maxsize=1024)
def _numbers(text: str) -> set[float]:
    found = (re.sub(r",(?=\d{3}(?!\d))", "", number) for number in _NUMBER.findall(text))
    return {float(number.replace(",", ".")) for number in found if len(re.findall("[.,]", number)) < 2}


def _names(tool: str, text: str) -> bool:
    """Whether a text names a tool: all words of its name, in any order and form."""
    return _stems(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", tool)) <= _stems(text)


def _stems(text: str) -> set[str]:
    return {_ENDING.sub("", word) for word in re.findall(r"[^\W_]+", text.casefold())}


def _is_time(value: Any) -> bool:
    for form in (datetime, time):
        with suppress(ValueError, TypeError):
            return bool(re.search("[-:]", value) and form.fromisoformat(value))
    return False


def _words_of_person(state: AgentState) -> Iterator[str]:
    """What the person wrote: tasks, messages, guidance. Answers to questions are steps."""
    progress = state.get("progress", {})
    yield from (state.get("task") or "", *(state.get("guidance") or []), progress.get("rejection") or "")
    yield from (earlier["task"] for earlier in progress.get("earlier", []))
    yield from (str(message.text) for message in state.get("messages", []) if message.type == "human")


def _what_came(record: Mapping[str, Any]) -> str:
    """What a successful call brought, without the agent's own note before it; '' of others."""
    if not record.get("ok") or record.get("action", "call") != "call":
        return ""
    return str(record["observation"]).removeprefix(f"[{record.get('note')}]\n")


def _is_echo(key: str, written: str, fetches: bool) -> bool:
    """Whether an address in a result may be the model's own: all of it, or put together from pieces."""
    return key in addresses_in(written) or (not fetches and made_up(key, written.lower()))


def _may_store(record: Mapping[str, Any], tool: Tool | None) -> bool:
    """Whether what the model wrote may have been stored by the call, and so come back in a later result."""
    was_made = record.get("tool") and record.get("cause") not in ("rejected", "repeat", "arguments")
    return bool(was_made) and (tool is None or not tool.only_fetches)


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The single values of arguments with the names that lead there; the names below an argument count as
    values, too, since a model may write them."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from [((*path, ""), str(key))] if path else []
            yield from _leaves(item, (*path, str(key)))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item, path)
    else:
        yield path, value
