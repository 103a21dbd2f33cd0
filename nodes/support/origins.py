"""Origins of the text in a thread.

An origin is `user`, `model`, `file:NAME`, `web:HOST` or `tool:NAME`, several joined by ', '. Every step and
result has one. What any step of any task of a thread has seen influences the thread, since later plans,
memories, tasks and answers are made of it. Two questions matter:

- outside: may another author have put an instruction into it? A person gives a file, but seldom wrote it.
- private: would its owner mind if it were sent elsewhere?

A file counts from the moment that it is given, since every prompt names it. An unknown part counts as both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from typing import NamedTuple

from forethought.nodes.support.prompt_text import trajectory
from forethought.state.agent import AgentState, Step
from forethought.tools.base import Tool

MOST_FILES = 8
"""Files that a joined origin names."""
_MORE = re.compile(r"(\d+) more files")


class Influence(NamedTuple):
    """Parts of origins in a thread, with the step that brought each first (0: the task)."""

    outside: dict[str, int]
    private: dict[str, int]


def parts(origin: str) -> list[str]:
    """The single origins in a joined origin."""
    return [part for part in origin.split(", ") if part]


def joined(origins: Iterable[str]) -> str:
    """Several origins as one, each part once; `model` only if it is alone."""
    names = list(dict.fromkeys(part for origin in origins for part in parts(origin)))
    return ", ".join(_few_files([part for part in names if part != "model"] or names))


def _few_files(names: list[str]) -> list[str]:
    """The parts, with a number in the place of all files but the first few."""
    files = [part for part in names if part.startswith("file:")]
    counts = [int(match[1]) for part in names if (match := _MORE.fullmatch(part))]
    if len(files) <= MOST_FILES and len(counts) < 2:
        return names
    more = len(files[MOST_FILES:]) + sum(counts)
    others = [part for part in names if not part.startswith("file:") and not _MORE.fullmatch(part)]
    return [*files[:MOST_FILES], f"{more} more files", *others]


def is_outside(part: str, tools: Mapping[str, Tool]) -> bool:
    """Whether another author may have written the text."""
    tool = tools.get(part.removeprefix("tool:")) if part.startswith("tool:") else None
    return tool.outside if tool else part not in ("user", "model")


def is_private(part: str, tools: Mapping[str, Tool]) -> bool:
    """Whether the text is the person's own, not to be sent to just anywhere."""
    tool = tools.get(part.removeprefix("tool:")) if part.startswith("tool:") else None
    return tool.private if tool else not part.startswith(("model", "web:"))


def influence(state: AgentState, tools: Mapping[str, Tool]) -> Influence:
    """The outside and the private parts in the whole thread."""
    first: dict[str, int] = {}
    for origin, n in _origins(state):
        first = dict.fromkeys(parts(origin), n) | first
    return Influence(
        {part: n for part, n in first.items() if is_outside(part, tools)},
        {part: n for part, n in first.items() if is_private(part, tools)},
    )


def thread_origin(state: AgentState) -> str:
    """The origin of a plan, a round's memory or an answer, which are made of the whole thread."""
    return joined(origin for origin, _ in _origins(state)) or "user"


def made_of(key: str, state: AgentState) -> str:
    """The origin of the result of subtask `key`: the origins of its steps and of the results that it used."""
    subtask = next(item for item in state["plan"]["subtasks"] if item["id"] == key)
    results = state.get("results", {})
    origins = [step["origin"] for step in trajectory(state) if step["subtask"] == key and step["ok"]]
    origins += [results[needed]["origin"] for needed in subtask["depends_on"] if needed in results]
    return joined(["model", *origins])


def thread_steps(state: AgentState) -> list[Step]:
    """The steps of all tasks of the thread, by number."""
    return sorted(state.get("trajectory", []), key=itemgetter("n"))


def _origins(state: AgentState) -> Iterator[tuple[str, int]]:
    yield from ((f"file:{item['name']}", 0) for item in state.get("files", []) if not isinstance(item, str))
    yield from ((f"folder:{ref['name']}", 0) for ref in state.get("folders", []))
    for step in thread_steps(state):
        if step["cause"] != "rejected":  # a person's No holds nothing that could be carried out
            yield step["origin"], step["n"]
            yield from ((sub_step.get("origin") or "", step["n"]) for sub_step in step["sub_steps"])
    yield from ((result["origin"], result["n"]) for result in state.get("results", {}).values())
