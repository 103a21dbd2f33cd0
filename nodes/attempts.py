"""What the journal knows of a call: its attempts, each with an intent and, if it ended, what came of it.

    call PLACE TOOL DIGEST ATTEMPT intent     {tool, ...}: kept before the call is made
    call PLACE TOOL DIGEST ATTEMPT asks       the tool asked the person something, before it did anything
    call PLACE TOOL DIGEST ATTEMPT outcome    what came of it

PLACE is the step's number, with a point and a number for the calls of its program. An attempt with an intent
alone was broken off: nobody knows what came of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from forethought.journal import current
from forethought.models.record import digest
from forethought.models.types import Usage
from forethought.tools.base import Observation, Tool
from forethought.tools.call import normalise

Json = dict[str, Any]


@dataclass(frozen=True)
class Made:
    """What came of a call, and what it took."""

    observation: Observation
    sub_steps: list[Json] = field(default_factory=list)
    """The calls that a program made."""
    inspected: list[Usage] = field(default_factory=list)
    """What models cost that it asked."""
    paid: list[Usage] = field(default_factory=list)
    """What else the tool paid for."""
    seconds: float = 0.0
    """How long it took before this run of the step; 0 where it was made in it."""
    by_person: bool = False
    """Whether it is a person's word on a call that was broken off."""
    kept: bool = False
    """Whether it was made before this run of the step."""


@dataclass(frozen=True)
class Attempts:
    """The attempts at one call."""

    name: str
    """The call's name in the journal."""
    last: int = 0
    """Number of the last attempt; 0: none."""
    open: int = 0
    """Number of the last attempt of which nobody knows what came; 0: none."""
    outcome: Made | None = None
    intent: Json = field(default_factory=dict)
    """The first attempt's."""


def call_name(tool: Tool, arguments: Json, place: str) -> str:
    """A call's name in the journal: where it stands in the thread (`place`) and what is called, so that an
    edited call is another one."""
    return f"call {place} {tool.name} {digest(normalise(tool, arguments))}"


def entry_key(name: str, attempt: int, part: str) -> str:
    """Key of the journal's entry on an attempt: its intent, asks or outcome."""
    return f"{name} {attempt} {part}"


def as_entry(made: Made, seconds: float) -> Json:
    """An outcome as the journal keeps it."""
    return asdict(replace(made, seconds=seconds, kept=True))


async def attempts_of(name: str) -> Attempts:
    """The attempts at the call `name` in the running task's journal."""
    return _read(name, await current().entries())


async def attempts_at(
    place: str, tool: Tool | None, proposed: Json
) -> tuple[Attempts | None, list[Attempts]]:
    """The attempts at the step's call (None: no call of it was begun), and those at other calls that the step
    was to make before it was edited, with the calls of a program that was broken off.

    A step's call is decided once: what its own task began is it, whatever was `proposed`. What a task began
    whose place this one has taken, since the thread was edited beside it, is it if it was proposed alike. A
    tool that is not there any more has made other calls.
    """
    own, inherited = await current().entries(), await current().inherited()
    begun = [_read(name, {**inherited, **own}) for name in _names(place, {**inherited, **own})]
    mine = None
    if tool is not None:
        alike = {"tool": tool.name, "proposed": digest(proposed)}
        mine = next((found for found in begun if entry_key(found.name, found.last, "intent") in own), None)
        mine = mine or next((found for found in begun if alike.items() <= found.intent.items()), None)
    others = [found for found in begun if found is not mine]
    left = inherited if tool is not None else {**inherited, **own}
    outcomes = [_read(name, left).outcome for name in _names(place, left)]
    counted = any(made and made.sub_steps for made in outcomes)  # what a program's calls cost is in its own
    if not counted and any(found.outcome is None for found in others):
        others += [_read(name, left) for name in _within(place, left)]
    return mine, others


def broken_off(entries: Mapping[str, Json]) -> list[Attempts]:
    """The calls of a task that may have changed something, and of which nobody knows what came."""
    begun = (_read(name, entries) for name in _names("", entries))
    return [found for found in begun if found.open and "call" in found.intent]


def _names(place: str, entries: Mapping[str, Json]) -> list[str]:
    """The calls at `place`; '' for all."""
    return _begin(f"call {place} " if place else "call ", entries)


def _within(place: str, entries: Mapping[str, Json]) -> list[str]:
    """The calls of programs at `place`."""
    return _begin(f"call {place}.", entries)


def _begin(begins: str, entries: Mapping[str, Json]) -> list[str]:
    found = (key.rsplit(" ", 2)[0] for key in entries if key.startswith(begins))
    return list(dict.fromkeys(found))


def _read(name: str, entries: Mapping[str, Json]) -> Attempts:
    last, opened = 0, 0
    while entry_key(name, last + 1, "intent") in entries:
        last += 1
        if outcome := _made(entries.get(entry_key(name, last, "outcome"))):
            return Attempts(name, last, 0, outcome, entries[entry_key(name, 1, "intent")])
        if entry_key(name, last, "asks") not in entries:
            opened = last
    return Attempts(name, last, opened, None, entries.get(entry_key(name, 1, "intent"), {}))


def _made(kept: Json | None) -> Made | None:
    """A kept outcome; None for one that was damaged: then it is not known."""
    if kept is None:
        return None
    try:
        made = Made(**{**kept, "observation": Observation(**kept["observation"])})
    except (KeyError, TypeError):
        return None
    lists = (made.sub_steps, made.inspected, made.paid)
    sound = isinstance(made.observation.text, str) and all(isinstance(item, list) for item in lists)
    return made if sound else None
