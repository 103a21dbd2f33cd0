"""Files as somebody forges or damages them: a valid one, changed at random in a few places, by a seed."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

_ODD: tuple[Any, ...] = (
    None, True, 0, -1, 10**30, 1.5, float("nan"), float("inf"), "", "\0", "x" * 5000, "\ud800", [], {}, [[]],
    [None], {"": None}, {"part": "nothing"}, {"text": 1}, "__import__('os').system('x')", "!!python/name:os",
)  # fmt: skip
_BYTES = (b"", b"\xff\xfe", b"\0", b"{", b"]", b'"', b"\n\n", b"- &a [*a]\n", b"NaN", b"1e999", b"\xf0\x9f")


def forged_value(value: Any, seed: int) -> Any:
    """A JSON value with one to three of its parts replaced, dropped, doubled or wrapped."""
    chance = random.Random(seed)
    value = copy.deepcopy(value)
    for _ in range(chance.randint(1, 3)):
        places = list(_places(value))
        if not places:
            return chance.choice(_ODD)
        container, key = chance.choice(places)
        what = chance.randrange(5)
        if what == 0:
            del container[key]
        elif what == 1 and isinstance(container, list):
            container.insert(key, copy.deepcopy(container[key]))
        elif what == 2:
            container[key] = [container[key]]
        elif what == 3 and isinstance(container, dict):
            container[f"{key}~"] = container.pop(key)
        else:
            container[key] = copy.deepcopy(chance.choice(_ODD))
    return value


def forged_bytes(content: bytes, seed: int) -> bytes:
    """A file that was cut, or in which a few bytes were replaced, put in or left out."""
    chance = random.Random(seed)
    if chance.random() < 0.2:
        return content[: chance.randrange(len(content) + 1)]
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(content) + 1)
        until = at + chance.choice((0, 1, 3, 40))
        content = content[:at] + chance.choice(_BYTES) + content[until:]
    return content


def forged_lines(lines: list[Any], seed: int) -> bytes:
    """JSON Lines of which one or two are forged, doubled, dropped or in another order."""
    chance = random.Random(seed)
    lines = list(lines)
    for _ in range(chance.randint(1, 2)):
        at = chance.randrange(len(lines))
        what = chance.randrange(6)
        if what == 0:
            lines.insert(at, lines[at])
        elif what == 1 and len(lines) > 1:
            lines.pop(at)
        elif what == 2:
            chance.shuffle(lines)
        else:
            lines[at] = forged_value(lines[at], chance.randrange(10**9))
    return b"".join(as_bytes(line) + b"\n" for line in lines)


def as_bytes(value: Any) -> bytes:
    """JSON, with what is no Unicode escaped."""
    return json.dumps(value).encode()


def nested(depth: int) -> bytes:
    """JSON that is deeper than a reader can follow."""
    return b"[" * depth + b"]" * depth


def _places(value: Any) -> Any:
    if isinstance(value, dict):
        for key in list(value):
            yield value, key
            yield from _places(value[key])
    elif isinstance(value, list):
        for at in range(len(value)):
            yield value, at
            yield from _places(value[at])
