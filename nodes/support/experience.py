"""Advice from earlier tasks in a new one: chosen when the task begins, and kept in the state from then on.

The planner and the reflector see it. The writer sees only the advice that the planner found to fit, so that
five advices cost a task at most about 400 tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from langgraph.config import get_config
from langgraph.runtime import Runtime

from forethought.experience.advice import Advice
from forethought.experience.book import Book, namespace_of
from forethought.knowledge.planning_errors import Pattern, PlanningError
from forethought.nodes.support.services import user_of
from forethought.state.agent import AgentState
from forethought.state.context import Context
from forethought.state.experience import Experience, ShownAdvice
from forethought.text import one_line

MOST_SHOWN = 5
_QUERY_CHARS = 8_000
_HEADINGS, _HEADING_CHARS = 4, 200
"""Files whose beginnings are searched for if the task's words find nothing, and the characters of each."""
_LINE_CHARS = 240
_ALL_CHARS = 400
"""Characters of all lines together, about 100 tokens in each prompt that shows them."""


def open_book(runtime: Runtime[Context], context: Context) -> Book | None:
    """The advice of the run's user and namespace; None if experience is off or the graph has no Store."""
    if not context.experience or runtime.store is None:
        return None
    return Book(runtime.store, namespace_of(user_of(runtime), context.experience_namespace))


def thread_of() -> str:
    """The id of the thread that runs; a new one if nothing is kept of the run."""
    return str(get_config().get("configurable", {}).get("thread_id") or uuid4().hex)


async def recall(state: AgentState, runtime: Runtime[Context], context: Context) -> Experience:
    """Choose the advice for a task that begins; the channel `experience`, without the last task's."""
    book = open_book(runtime, context)
    if book is None:
        return {}
    given = [*state.get("files", []), *state.get("folders", [])]
    query = " ".join([state["task"][:_QUERY_CHARS], *map(_name, given)])
    found = await book.relevant(query, MOST_SHOWN, thread_of())
    if not found and (looks := state.get("look", {}).get("files", [])):
        # Advice often names the columns or headings that the task does not.
        query = " ".join([query, *(look["text"][:_HEADING_CHARS] for look in looks[:_HEADINGS])])
        found = await book.relevant(query, MOST_SHOWN, thread_of())
    shown: list[ShownAdvice] = []
    room = _ALL_CHARS
    for advice in map(_to_shown, found):
        if len(advice["text"]) <= room:
            room -= len(advice["text"])
            shown.append(advice)
    return {"shown": shown} if shown else {}


def shown_advice(state: AgentState) -> list[ShownAdvice]:
    """The advice that this task is shown."""
    return state.get("experience", {}).get("shown", [])


def advice_lines(state: AgentState, fits: Sequence[str] | None = None) -> list[str]:
    """The lines of a prompt: rules and facts, all or those with the ids `fits`."""
    return [
        f"[{label}] {advice['text']}"
        for label, advice in _labelled(state).items()
        if fits is None or advice["id"] in fits
    ]


def fitting_lines(state: AgentState) -> list[str]:
    """The lines of the writer's prompt."""
    return advice_lines(state, state.get("experience", {}).get("fits", []))


def advice_ids(labels: Sequence[str], state: AgentState) -> list[str]:
    """The ids of the advice that a reply names by its labels, such as a1; unknown labels are ignored."""
    labelled = _labelled(state)
    found = [labelled[label]["id"] for name in labels if (label := name.strip(" []")) in labelled]
    return list(dict.fromkeys(found))


def own_errors(state: AgentState, known: Sequence[PlanningError] = ()) -> tuple[PlanningError, ...]:
    """The planning errors among the advice, for the reflector, without the names of `known`."""
    names = {error.name for error in known}
    return tuple(
        PlanningError.model_construct(
            name=advice["name"],
            description=advice["text"],
            failures=_pattern(advice["failure"]),
            successes=_pattern(advice["success"]),
        )
        for advice in shown_advice(state)
        if advice["kind"] == "error" and advice["name"] not in names
    )


def found_errors(state: AgentState) -> list[str]:
    """The ids of the planning errors among the advice that the reflector found in a plan of this task."""
    number = state["progress"]["task"]
    reviews = [review for review in state.get("plan_reviews", []) if review["task"] == number]
    names = {error["error_type"] for review in reviews for error in review["errors"]}
    return [one["id"] for one in shown_advice(state) if one["kind"] == "error" and one["name"] in names]


def _labelled(state: AgentState) -> dict[str, ShownAdvice]:
    ruled = [advice for advice in shown_advice(state) if advice["kind"] != "error"]
    return {f"a{number}": advice for number, advice in enumerate(ruled, start=1)}


def _pattern(text: str) -> tuple[Pattern, ...]:
    return (Pattern(text=text),) if text else ()


def _name(item: Any) -> str:
    return str(item["name"]) if isinstance(item, dict) else ""


def _to_shown(advice: Advice) -> ShownAdvice:
    text = f"{advice.wrong} {advice.instead}" if advice.kind == "error" else advice.instead
    return {
        "id": advice.id,
        "name": advice.name,
        "kind": advice.kind,
        "source": advice.source,
        "text": one_line(text, _LINE_CHARS),
        "failure": advice.failure,
        "success": advice.success,
    }
