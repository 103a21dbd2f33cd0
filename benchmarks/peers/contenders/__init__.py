"""A file for each framework. `opened(url, look_up, options)` yields a function that plays one task.

The function takes a Task and returns the final answer's text; what goes wrong it raises.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from benchmarks.peers.task import Task

LookUp = Callable[[str], str]
Options = dict[str, Any]
Plays = AsyncIterator[Callable[[Task], Awaitable[str]]]
