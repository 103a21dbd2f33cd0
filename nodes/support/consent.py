"""Consent: whether the person's grants cover a call.

A grant covers a call if it names the tool, and if each argument that decides on the destination or the
beneficiary has a granted value. A value also counts as granted if a register of the person's own returned it
for the granted one, or if it is the id of the one record that a store found for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import yaml

from forethought.models.schema import json_schema
from forethought.nodes.support.addresses import addresses_in, links_in
from forethought.nodes.support.links import looks, opened, result_of
from forethought.nodes.support.origins import is_outside, parts, thread_steps
from forethought.nodes.support.values import begins, date_of, leaves, normal_forms, stands
from forethought.nodes.support.words import words_of
from forethought.state.agent import AgentState
from forethought.state.grants import Grant
from forethought.text import plain
from forethought.tools.base import Tool
from forethought.tools.call import DOUBT, normalise

Json = dict[str, Any]


def why_not_granted(
    tool: Tool, arguments: Json, grants: Sequence[Grant], state: AgentState, tools: Mapping[str, Tool], n: int
) -> tuple[str, list[Json]]:
    """Compare the call of step `n` with the grants.

    Returns:
        Why the person is asked ('': the call is granted), and the arguments that no grant covers, as
        {argument, value, origin}; origin: the outside parts that hold the value, or `model`.
    """
    lookups, words = list(_lookups(state, tools)), "\n".join(words_of(state, tools))
    links = [
        (path[0], link)
        for path, value in leaves(arguments)
        if path[0] in tool.content
        for link in links_in(str(value), addresses_in(words))
        if not stands(link, words)
    ]
    compared = [
        ([*_missing(tool, arguments, grant["arguments"], lookups), *links], grant)
        for grant in grants
        if grant["tool"] == tool.name
    ]
    if not compared:
        missing = list(_missing(tool, arguments, {}, lookups))
        return f"You did not ask for {tool.name}.", _with_origins(missing, state, tools)
    missing, nearest = min(compared, key=lambda item: (len(item[0]), item[1]["condition"] != ""))
    if missing:
        names = dict.fromkeys(name for name, _ in missing)
        return f"You did not give: {', '.join(names)}.", _with_origins(missing, state, tools)
    if nearest["condition"]:
        return f"You set a condition: {nearest['condition']}.", []
    times = sum(grant["times"] for lacking, grant in compared if not (lacking or grant["condition"]))
    calls: list[Any] = [*thread_steps(state), *state.get("proposals", {}).values()]
    made = [call for call in calls if call["n"] < n and call["tool"] == tool.name and _took_effect(call)]
    decided = [name for name in nearest["arguments"] if name not in tool.content]
    if sum(_overlap(arguments, call["arguments"], decided) for call in made) >= times:
        return f"You asked for this call {times} time{'s' * (times != 1)}.", []
    return "", []


def _took_effect(call: Mapping[str, Any]) -> bool:
    """Whether a call was made, may have been, or is being made by a sibling."""
    return call.get("ok", True) or DOUBT in call["observation"]


def likeness(tool: Tool, arguments: Json) -> tuple[str, Any]:
    """The tool with the host or the targets, which calls share that are approved together."""
    key = opened(tool, arguments)
    return tool.name, key.partition("/")[0] if key else [v for _, v, due in _targets(tool, arguments) if due]


def _missing(
    tool: Tool, arguments: Json, granted: Mapping[str, list[str]], lookups: Sequence[tuple[set[str], str]]
) -> Iterator[tuple[str, Any]]:
    """The arguments and values that lack a grant, and granted arguments that the call leaves out. Content is
    compared if the person dictated it, or if nothing else is due a grant."""
    targets = _targets(tool, arguments)
    alone = not any(due for *_, due in targets)
    content = [(path[0], value) for path, value in leaves(arguments) if path[0] in tool.content]
    targets += [(name, value, alone) for name, value in content if "any" not in granted.get(name, [])]
    for name, value, due in targets:
        values = granted.get(name, [])
        handed_on = (asked for asked, text in lookups if stands(value, text))
        known = normal_forms(value).union(filter(None, [date_of(str(value)).partition("T")[0]]), *handed_on)
        if (due or values) and not any(
            known & normal_forms(item) or begins(value, item, name in tool.content) for item in values
        ):
            yield name, value
    set_ = {path[0] for path, _ in leaves(normalise(tool, arguments))} | {*tool.content}
    yield from ((name, None) for name, values in granted.items() if values and name not in set_)


def _targets(tool: Tool, arguments: Json) -> list[tuple[str, Any, bool]]:
    """The arguments that are not content: name, value, and whether the value is due a grant.

    Empty values and defaults are due one only if the person said something about them; so are dates and times
    beside another target.
    """
    if tool.address:
        return [(tool.address, arguments.get(tool.address), True)]
    schema = json_schema(tool.arguments)
    known, required = json.dumps(schema), schema.get("required", ())
    defaults = {name: entry.get("default") for name, entry in schema.get("properties", {}).items()}

    def is_set(name: str, value: Any) -> bool:
        default = defaults.get(name)
        unset = name not in required and (value == default or (value is False and not default))
        return not (value in (None, "") or unset)

    targets = [
        (path[0], value, is_set(path[0], value))
        for path, value in leaves(normalise(tool, arguments))
        if path[0] not in tool.content and not (path[-1] == "" and json.dumps(value) in known)
    ]
    alone = all(date_of(str(value)) for _, value, is_due in targets if is_due)
    return [(name, value, due and (alone or not date_of(str(value)))) for name, value, due in targets]


def _overlap(one: Json, other: Json, names: Sequence[str]) -> bool:
    """Whether two calls share a value in each of these arguments."""

    def forms(arguments: Json, name: str) -> set[str]:
        return {form for _, value in leaves(arguments.get(name)) for form in normal_forms(value)}

    return all(forms(one, name) & forms(other, name) for name in names)


def _with_origins(
    missing: Sequence[tuple[str, Any]], state: AgentState, tools: Mapping[str, Tool]
) -> list[Json]:
    seen = [*looks(state), *((step["origin"], result_of(step)) for step in thread_steps(state))]

    def origin(value: Any) -> str:
        found = (part for origin, text in seen if stands(value, text) for part in parts(origin))
        return ", ".join(dict.fromkeys(part for part in found if is_outside(part, tools))) or "model"

    return [{"argument": name, "value": value, "origin": origin(value)} for name, value in missing]


def _lookups(state: AgentState, tools: Mapping[str, Tool]) -> Iterator[tuple[set[str], str]]:
    """Calls with one argument that hand values on: its normal forms, and the result."""
    for step in thread_steps(state):
        for record in (step, *step["sub_steps"]):
            tool = tools.get(record["tool"] or "")
            if tool and (tool.record_id or not (tool.outside or tool.runs_code or tool.asks_person)):
                text, arguments = result_of(record), record["arguments"]
                result = _only_id(text, tool.record_id, arguments) if tool.record_id else text
                if len(asked := [value for _, value in leaves(arguments) if value not in (None, "")]) == 1:
                    yield normal_forms(asked[0]), result


def _only_id(text: str, name: str, arguments: Json) -> str:
    """The id of the only record of a result in JSON or YAML, or of the only one that holds an argument as it
    is; '' for others."""
    with suppress(yaml.YAMLError, ValueError, RecursionError):  # no data, or not one record
        loaded = yaml.safe_load(text)
        records = loaded if isinstance(loaded, list) else [loaded]
        values = [{plain(str(v)) for _, v in islice(leaves(item), 999)} for item in (arguments, *records)]
        exact = [record for record, held in zip(records, values[1:], strict=True) if values[0] & held]
        (only,) = records if len(records) == 1 else exact
        return str(only.get(name, "")) if isinstance(only, dict) else ""
    return ""
