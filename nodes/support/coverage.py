"""What was given in a thread, and what of a call the person's words do not cover.

A person gives what they write: tasks, messages, guidance, answers, a plan that they edit. A plan made before
anything came from outside counts as theirs: nobody else can have put anything there. A tool without outside
text, such as a register of their own, hands on what it was asked for in such words, and a store the id of the
one record that was. An address is also given if somebody else's text holds it whole. An echo gives nothing:
neither a failed call, nor what code computed or a model answered about a document, nor a result that repeats
its call's arguments or puts an address together from them, nor what an earlier call stored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from math import inf, log2
from typing import Any

import yaml

from forethought.nodes.support.addresses import address_key, addresses_in, inert, links_in, made_up
from forethought.nodes.support.origins import influence, is_outside, parts, thread_steps
from forethought.state.agent import AgentState, Plan, Proposal
from forethought.text import one_line, plain
from forethought.tools.base import Tool
from forethought.tools.call import normalise

Json = dict[str, Any]
_ITEM = re.compile(r"(?:^|(?<=[.:;!?\n]))\s*\(?\d{1,2}[.)]\s")
"""The number of an item in a list, which names nothing."""
_FULL_STOP = re.compile(r"(?<=[a-z\d]{2})\.(?=[A-Z][a-z])")
"""Between sentences without a space, which make no address."""
_NUMBER = re.compile(r"(?<![\w.,:/-])(-?\d+(?:[.,]\d+)*)(?:[^\W\d_]{1,3})?(?!\w|[:/-]\d)")
"""With the unit that may follow it: 20kg, 3rd."""
_TIME = re.compile(r"(?=.{4})(?:\d{4}-\d\d-\d\d)?[T ]?(?:\d\d?:\d\d[\d:.Z+-]*)?")


@dataclass
class Given:
    """What was given in a thread: the person's words, and what follows."""

    words: str
    others: dict[str, str] = field(default_factory=dict)
    """Addresses that others gave, as `addresses_in` has them."""
    approved: set[str] = field(default_factory=set)
    """Addresses that a person approved in a call, by key."""
    settled: list[Any] = field(default_factory=list)
    """Calls of which a person approved all that are like them."""
    chosen: float = 0.0
    """Bits that choices among `others` may have told since something private was read."""
    stored: str = ""
    """What the model wrote that may come back in a result."""

    def foresees(self, tool: str) -> bool:
        """Whether a sentence names a tool, or an argument that is switched."""
        return any(_names(tool, sentence) for sentence in re.split(r"[.!?;]\s|\n", self.words))


def what_is_given(state: AgentState, tools: Mapping[str, Tool], proposal: Proposal | None = None) -> Given:
    """What was given so far; what a proposal, and its wave before it, chooses counts as chosen."""
    given, base = Given(_words(state)), state.get("progress", {}).get("base_n", 0)
    since = max(base, min(influence(state, tools).private.values(), default=inf))
    wave = [item for item in state.get("proposals", {}).values() if proposal and item["n"] <= proposal["n"]]
    steps: list[Any] = [*thread_steps(state), *wave]
    for _, text in _looks(state):
        given.others |= addresses_in(text)
    for step in steps:
        tool, word = tools.get(step["tool"] or ""), step.get("approval", "")
        key = opened(tool, step["arguments"])
        if tool and word == "approved all" and step["n"] > base:
            given.settled.append(likeness(tool, step["arguments"]))
        if key and word not in ("", "rejected"):
            given.approved.add(key)
        elif key in given.others and step["n"] > since and key not in addresses_in(given.words):
            given.chosen += log2(1 + len(set(given.others.values())))
        for record in (step, *step.get("sub_steps", [])):
            _hear(given, record, parts(step.get("origin", "")), tools)
    return given


def _hear(given: Given, record: Json, sources: list[str], tools: Mapping[str, Tool]) -> None:
    """Add what came of a call of a step whose observation comes from `sources`."""
    tool, text, arguments = tools.get(record["tool"] or ""), _what_came(record), record["arguments"]
    written = given.stored + json.dumps(arguments, ensure_ascii=False)
    if tool and not tool.outside:
        own = not (tool.runs_code or "model" in sources or any(is_outside(part, tools) for part in sources))
        if tool.asks_person or (own and all(stands(value, given.words) for _, value in _leaves(arguments))):
            given.words += f"\n{text}"
    elif "model" not in sources:
        # A page's links are often like its own address; what else a call says is not.
        found, echo = addresses_in(text).items(), "" if tool and tool.address else written.lower()
        said = addresses_in(written)
        given.others |= {key: at for key, at in found if key not in said and not made_up(key, echo)}
        if tool and tool.record_id and all(stands(v, given.words) for _, v in targets(tool, arguments)):
            given.words += f"\n{_only_id(text, tool.record_id, arguments)}"
    if tool is None or not tool.only_fetches:
        given.stored = written


def uncovered(
    tool: Tool, arguments: Json, given: Given, state: AgentState, tools: Mapping[str, Tool]
) -> list[Json]:
    """What the person did not give of a call's targets, or of its content where it has none, and the links of
    its content: [{argument, value, origin}]; origin: the outside parts where the value stands, or `model`."""
    content = [(path[0], value) for path, value in _leaves(arguments) if path[-1] in tool.content]
    links = [(name, at) for name, value in content for at in links_in(str(value), addresses_in(given.words))]
    values = [*(targets(tool, arguments) or content), *links]
    seen = [*_looks(state), *((step["origin"], _what_came(step)) for step in thread_steps(state))]

    def origin(value: Any) -> str:
        found = (part for origin, text in seen if stands(value, text) for part in parts(origin))
        return ", ".join(dict.fromkeys(part for part in found if is_outside(part, tools))) or "model"

    def was_given(name: str, value: Any) -> bool:
        return given.foresees(name) if isinstance(value, bool) else stands(value, given.words)

    missing = [(name, value) for name, value in values if not was_given(name, value)]
    return [{"argument": name, "value": value, "origin": origin(value)} for name, value in missing]


def targets(tool: Tool, arguments: Json) -> list[tuple[str, Any]]:
    """The values that decide where a call goes or whom it serves, with the names of their arguments: all but
    content, defaults, dates and times."""
    schema = tool.arguments.model_json_schema()
    defaults = {name: entry.get("default") for name, entry in schema.get("properties", {}).items()}
    return [
        (path[0], value)
        for path, value in _leaves(normalise(tool, arguments))
        if path[-1] not in tool.content
        and value not in (None, "", defaults.get(path[0]))
        and not (value is False and defaults.get(path[0]) is None)
        and not _TIME.fullmatch(str(value))
        and not (path[-1] == "" and json.dumps(value) in json.dumps(schema))
    ]


def likeness(tool: Tool, arguments: Json) -> tuple[str, Any]:
    """What calls have in common that are approved together: the tool, and the host or the targets."""
    key = opened(tool, arguments)
    return tool.name, key.partition("/")[0] if key else targets(tool, arguments)


def foreseen_by(plan: Plan, state: AgentState, tools: Mapping[str, Tool]) -> list[str]:
    """What the channel `foreseen` lacks of a plan: a line a subtask, with the tool that it begins with and
    the address that this opens."""
    if plan.get("approval") != "edited" and influence(state, tools).outside:
        return []
    lines = []
    for subtask in plan.get("subtasks", []):
        call: Any = subtask.get("call") or {"tool": "", "arguments": {}}
        key = opened(tools.get(call["tool"]), call["arguments"]) or ""
        lines.append(" ".join([one_line(subtask["description"]), call["tool"], key.removeprefix("@")]))
    return sorted(set(lines) - set(state.get("foreseen", [])))


def opened(tool: Tool | None, arguments: Json) -> str | None:
    """The key of the address that a call opens, which is all that it sends; None of any other call."""
    return address_key(str(arguments.get(tool.address))) if tool and tool.address else None


def for_person(text: str, state: AgentState, tools: Mapping[str, Tool]) -> str:
    """`text` as it may be shown: untouched in a thread without anything from outside."""
    return person_view(state, tools)(text)


def person_view(state: AgentState, tools: Mapping[str, Tool]) -> Callable[[str], str]:
    """`for_person` of any text."""
    if not influence(state, tools).outside:
        return lambda text: text
    given = what_is_given(state, tools)
    return partial(inert, known={*addresses_in(given.words), *given.others, *given.approved})


def stands(value: Any, text: str) -> bool:
    """Whether `text` holds a value in whole words, whatever the case and the spacing; a number as a number.
    True, false, null and nothing at all stand in any text."""
    if value is None or isinstance(value, bool) or value == "":
        return True
    if isinstance(value, int | float):
        numbers = [re.sub(r",(?=\d{3}(?!\d))", "", n).replace(",", ".") for n in _NUMBER.findall(text)]
        return value in [float(number) for number in numbers if number.count(".") < 2]
    words = re.escape(plain(str(value)))
    return re.search(rf"(?<![\w.+/-])(?<!\w@){words}(?![\w@/+-]|[.:]\w)", plain(text)) is not None


def _names(tool: str, text: str) -> bool:
    """Whether a text names a tool: all words of its name, in any order and form."""
    words = [re.findall(r"[^\W_]+", part) for part in (re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", tool), text)]
    stems = [{re.sub(r"(?<=\w{3})(?:ing|ed|es|s|e)\Z", "", word.lower()) for word in part} for part in words]
    return stems[0] <= stems[1]


def _words(state: AgentState) -> str:
    """What the person wrote, and early plans; answers to questions are steps."""
    progress = state.get("progress", {})
    texts = [state.get("task") or "", *(state.get("guidance") or []), progress.get("rejection") or ""]
    texts += [earlier["task"] for earlier in progress.get("earlier", [])]
    texts += [str(message.text) for message in state.get("messages", []) if message.type == "human"]
    return _ITEM.sub(" ", _FULL_STOP.sub(". ", "\n".join([*texts, *state.get("foreseen", [])])))


def _looks(state: AgentState) -> list[tuple[str, str]]:
    """What the first look showed of each file, after its origin."""
    return [(f"file:{item['name']}", item["text"]) for item in state.get("look", {}).get("files", [])]


def _what_came(record: Mapping[str, Any]) -> str:
    """What a successful call brought, without the agent's own note before it; '' of others."""
    came = record.get("ok") and record.get("action", "call") == "call"
    return str(record["observation"]).removeprefix(f"[{record.get('note')}]\n") if came else ""


def _only_id(text: str, name: str, arguments: Json) -> str:
    """The id of the only record of a result in JSON or YAML, or of the only one that holds an argument as it
    is; '' of others."""
    with suppress(yaml.YAMLError, ValueError, RecursionError):  # no data, or not one record
        loaded = yaml.safe_load(text)
        records = loaded if isinstance(loaded, list) else [loaded]
        values = [{plain(str(v)) for _, v in islice(_leaves(item), 999)} for item in (arguments, *records)]
        exact = [record for record, held in zip(records, values[1:], strict=True) if values[0] & held]
        (only,) = records if len(records) == 1 else exact
        return str(only.get(name, "")) if isinstance(only, dict) else ""
    return ""


def _leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The single values of arguments, with the names that lead there. Names below an argument count as values
    at '': a model may write them."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from [((*path, ""), str(key))] if path else []
            yield from _leaves(item, (*path, str(key)))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item, path)
    else:
        yield path, value
