"""The signs that were seen, and what a plan's author or examiner says of each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from forethought.nodes.support.first_look import look_values
from forethought.prompts.replies import SignVerdict
from forethought.state.agent import AgentState

Json = dict[str, Any]
_NO = re.compile(
    r"\W*$|(?:no|none|nein|n/?a|not at all)\s*(?:[.,:;(–-]|$)|no (?:effect|bearing|impact|influence)\b"
    r"|(?:it )?(?:is )?(?:not (?:relevant|applicable)|irrelevant)"
    r"|(?:it )?does(?:n't| not) (?:bear|apply|matter)",
    re.IGNORECASE,
)


def signs_text(state: AgentState) -> str:
    """The signs as prompts show them, a line each; '' without any, or without a look."""
    return str(look_values(state["look"])["signs"]) if state.get("look") else ""


def sign_lines(state: AgentState) -> dict[str, str]:
    """The signs as prompts show them, by number: {'S1': 'S1 exception, ...'}."""
    lines = [line for line in signs_text(state).splitlines() if line.startswith("S")]
    return {line.partition(" ")[0]: line for line in lines}


def number(verdict: SignVerdict) -> str:
    """The number of the verdict's sign: 'S1'."""
    digits = re.search(r"\d+", verdict.sign)
    return f"S{digits[0]}" if digits else verdict.sign


def unheeded(verdicts: Iterable[SignVerdict], state: AgentState, ids: Collection[str]) -> list[SignVerdict]:
    """The verdicts by which a sign bears on the task, though none of the subtasks `ids` looks after it."""
    lines = sign_lines(state)
    return [
        verdict
        for verdict in verdicts
        if number(verdict) in lines
        and not _NO.match(verdict.bears)
        and not {*ids} & set(re.split(r"[\s,;]+", verdict.handled_by))
    ]


def dismissed(verdicts: Iterable[SignVerdict]) -> list[str]:
    """The numbers of the signs that by these verdicts do not bear on the task."""
    return [number(verdict) for verdict in verdicts if _NO.match(verdict.bears)]


def recorded(verdicts: Sequence[SignVerdict], state: AgentState, ids: Collection[str]) -> list[Json]:
    """The verdicts of a plan's author for the state; `handled_by` is empty where it names none of `ids`."""
    left = unheeded(verdicts, state, ids)
    return [
        {**verdict.model_dump(), **({"handled_by": ""} if verdict in left else {})} for verdict in verdicts
    ]


def all_heeded(records: Iterable[Json], state: AgentState) -> bool:
    """Whether each sign has a verdict, and each that bears on the task a subtask that looks after it."""
    verdicts = [SignVerdict.model_validate(record) for record in records]
    left = [item for item in verdicts if not item.handled_by and not _NO.match(item.bears)]
    return not left and {number(item) for item in verdicts} >= sign_lines(state).keys()
