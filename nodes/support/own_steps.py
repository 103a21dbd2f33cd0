"""A worker's own steps in its prompt: the newest whole, those before them in short.

They are shortened in batches: beyond MOST steps, or half of the steps' share of the window, all but the
NEWEST few at once. In between a prompt only grows at its end, so that a provider's cache serves the rest of
it. Which steps are short follows from the trajectory alone: replays and forks ask with the same words.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from forethought.nodes.support.excerpts import gist
from forethought.nodes.support.prompt_text import Reader, call_text, condensed, move_text
from forethought.nodes.support.shares import LINE_CHARS, cut_off, doubling_share
from forethought.sizes import extent
from forethought.state.agent import Step
from forethought.text import one_line

MOST, NEWEST = 12, 4
"""Steps that are whole at most, and of a new batch. Of 100 observations of 1 kB, batches bring the effective
tokens (cached ones at a tenth) from 186 to 108 thousand; 24 and 8 bring 123, 8 and 2 bring 99."""
_KEPT = 4
"""A step in short keeps this part of its observation, or a line."""
_LEAST = LINE_CHARS // 2
"""Bytes of a step in short; where there is less room, the first ones share a line."""


def own_steps(steps: Sequence[Step], reader: Reader) -> tuple[str, list[dict[str, Any]]]:
    """The steps in short, a line or a few each ('' if there are none), and the whole ones: {n, text}."""
    whole = [move_text(step) + step["observation"] for step in steps]
    edge = _edge([extent(text) for text in whole], reader.sizes.seen // 2)
    items = [{"n": step["n"], "text": text} for step, text in zip(steps[edge:], whole[edge:], strict=True)]
    return "\n".join(_in_short(steps[:edge], reader)), items


def _edge(sizes: Sequence[int], room: int) -> int:
    """How many of the texts of these sizes in bytes are short by now. The last one never is."""
    ends, edge = [0, *accumulate(sizes)], 0
    for count in range(1, len(sizes) + 1):
        if count - edge > MOST or ends[count] - ends[edge] > room:
            fitting = (at for at in range(count - 1) if ends[count] - ends[at] <= room // 3)
            edge = max(edge, next(fitting, count - 1), count - NEWEST)
    return edge


def _in_short(steps: Sequence[Step], reader: Reader) -> list[str]:
    """A line or a few for each of the steps, in half of the steps' share."""
    if not steps:
        return []
    room = reader.sizes.seen // 2
    first = cut_off(len(steps), max(room // _LEAST, 1))
    limit = doubling_share(room, len(steps) - first)
    earlier = condensed(steps[:first], reader.sizes.seen) if first else []
    again = ["[The same call shows what is missing.]"] if all(map(reader.can_repeat, steps)) else []
    return earlier + [_step_in_short(step, limit, reader.query) for step in steps[first:]] + again


def _step_in_short(step: Step, limit: int, query: str) -> str:
    """Number, call, thought and what bears on `query` in the observation, in about `limit` bytes."""
    call = one_line(call_text(step), min(_LEAST, limit // 3))
    thought = f"({one_line(step['thought'], _LEAST)})" if step["thought"] and limit >= 2 * LINE_CHARS else ""
    room = max(limit - len(call) - len(thought), limit // 2)
    kept = gist(step["observation"], query, min(room, max(LINE_CHARS, extent(step["observation"]) // _KEPT)))
    return " ".join(filter(None, (f"step {step['n']}", thought, f"{call}:", kept)))
