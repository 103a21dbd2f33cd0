"""ExpeL's list of insights and its operations (Zhao et al. 2023, AAAI 2024, section 4.2), without a model."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import TypedDict

from forethought.evals.prompts.baseline_replies import InsightOperation

FIRST = 2
"""Importance of a new insight; agreement and edits add one, removals subtract one, and 0 deletes it."""
MOST = 20
"""Maximum insights on the list; the least important are dropped."""
MOST_OPERATIONS = 4
"""Of one reply, as in the paper's prompts."""


class Insight(TypedDict):
    """A piece of advice and how often trials bore it out."""

    text: str
    importance: int


def operations_problem(operations: Sequence[InsightOperation], insights: Sequence[Insight]) -> str | None:
    """Why operations cannot be applied to the list; None if they can."""
    if len(operations) > MOST_OPERATIONS:
        return f"{len(operations)} operations: give at most {MOST_OPERATIONS}"
    numbers = [item.number for item in operations if item.operation != "ADD"]
    if wrong := [n for n in numbers if n is None or not 1 <= n <= len(insights)]:
        return f"there is no insight {wrong[0]}; the list has {len(insights)}"
    if len(set(numbers)) < len(numbers):
        return "at most one operation for an insight"
    return None


def apply_operations(insights: Sequence[Insight], operations: Sequence[InsightOperation]) -> list[Insight]:
    """The list after the operations, in its order; numbers are those of the list before them."""
    by_number = {item.number: item for item in operations if item.operation != "ADD"}
    remaining = []
    for number, insight in enumerate(insights, 1):
        operation = by_number.get(number)
        text, importance = insight["text"], insight["importance"]
        if operation is not None:
            importance += -1 if operation.operation == "REMOVE" else 1
            text = operation.text if operation.operation == "EDIT" else text
        if importance > 0:
            remaining.append(Insight(text=text, importance=importance))
    texts = {insight["text"].casefold() for insight in remaining}
    for item in operations:
        if item.operation == "ADD" and item.text.casefold() not in texts:
            texts.add(item.text.casefold())
            remaining.append(Insight(text=item.text, importance=FIRST))
    strongest = sorted(range(len(remaining)), key=lambda at: -remaining[at]["importance"])[:MOST]
    return [remaining[at] for at in sorted(strongest)]
