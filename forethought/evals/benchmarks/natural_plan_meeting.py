"""NATURAL PLAN's meetings with friends: how many a plan brings about, by walking through its sentences.

A walk keeps the place and the time, and ends at the first sentence that is not possible: another form, a
wait into the past, a person met twice, at the wrong place or at the wrong time. What was met until then
counts. Of travel only the destination is believed, its minutes are looked up; how long a meeting takes is
the task's.

The official function fails altogether (KeyError, IndexError) where a plan names a person or a place that
the task does not know, travels to where it is, or breaks off within a sentence. Here such a sentence ends
the walk, as every other impossible one does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

Distances = Mapping[str, Mapping[str, int]]
"""Minutes from a place to another."""
_PREFIX = "SOLUTION:"


@dataclass(frozen=True)
class Friend:
    """Where and when somebody can be met, and for how many minutes."""

    location: str
    start: datetime
    end: datetime
    minutes: int


class _Impossible(Exception):
    """The sentence ends the walk."""


def clock(text: str) -> datetime:
    """A time of the day such as 9:00AM. Raises ValueError."""
    return datetime.strptime(text, "%I:%M%p")


def sentences(plan: str) -> list[str]:
    """The plan's sentences: what comes after SOLUTION:, if that is there, cut at every full stop."""
    told = plan.partition(_PREFIX)[2] if _PREFIX in plan else plan
    return [sentence for part in told.split(".") if (sentence := part.strip())]


def friend_of(constraint: Sequence[Any]) -> Friend:
    """The friend in [name, location, times, minutes]. Raises ValueError for a time that is none."""
    _, location, times, minutes = constraint
    parts = [part.strip() for part in times.split("to")]
    if len(parts) < 2:
        raise ValueError(f"constraints: {times[:40]!r} is no time such as 9:00AM to 1:30PM")
    return Friend(location, clock(parts[0]), clock(parts[1]), minutes)


def meetings(steps: Sequence[str], constraints: Sequence[Sequence[Any]], minutes_between: Distances) -> int:
    """How many meetings come about before the first sentence that is not possible. Raises ValueError for a
    time in `constraints` that is none."""
    walk = _Walk(constraints, minutes_between)
    for step in steps:
        try:
            walk.take(step)
        except _Impossible:
            break
    return len(walk.met)


class _Walk:
    """Place, time and the friends met."""

    def __init__(self, constraints: Sequence[Sequence[Any]], minutes_between: Distances) -> None:
        (self.place, start), *friends = constraints
        self.now = clock(start)
        self.friends = {friend[0]: friend_of(friend) for friend in friends}
        self.minutes_between = minutes_between
        self.met: set[str] = set()

    def take(self, step: str) -> None:
        """Carry a sentence out. Raises _Impossible."""
        if step.startswith("You start"):
            return
        if step.startswith("You travel"):
            self._travel(_between(step, "travel to ", " in"))
        elif step.startswith("You wait"):
            self._wait(_between(step, "wait until ", "."))
        elif step.startswith("You meet"):
            self._meet(_between(step, "meet ", " for"))
        else:
            raise _Impossible

    def _travel(self, destination: str) -> None:
        minutes = self.minutes_between.get(self.place, {}).get(destination)
        if minutes is None:
            raise _Impossible
        self.place, self.now = destination, self.now + timedelta(minutes=minutes)

    def _wait(self, until: str) -> None:
        try:
            time = clock(until)
        except ValueError as error:
            raise _Impossible from error
        if time <= self.now:
            raise _Impossible
        self.now = time

    def _meet(self, name: str) -> None:
        friend = self.friends.get(name)
        if friend is None or name in self.met or self.place != friend.location:
            raise _Impossible
        end = self.now + timedelta(minutes=friend.minutes)
        if self.now < friend.start or end > friend.end:
            raise _Impossible
        self.now = end
        self.met.add(name)


def _between(step: str, before: str, after: str) -> str:
    """What follows the first `before`, up to the next `before` or the first `after`. Raises _Impossible."""
    parts = step.split(before)
    if len(parts) < 2:
        raise _Impossible
    return parts[1].split(after)[0].strip()
