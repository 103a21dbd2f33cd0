"""Lessons of earlier tasks, shown to the planner and the reflector of a new one.

They are chosen once, when the task begins, and stand in the state from then on: the task's later plans see
the same ones, and what they did to it can be counted when it has ended.
"""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from langgraph.config import get_config
from langgraph.runtime import Runtime

from forethought.lessons.book import LessonBook, namespace_of
from forethought.lessons.record import Lesson, now_utc
from forethought.nodes.support.services import user_of
from forethought.nodes.support.task import TaskError
from forethought.state.agent import AgentState, Lessons, ShownLesson
from forethought.state.context import Context
from forethought.text import cut

MOST_SHOWN = 3
_QUERY_CHARS = 8_000
_SHOWN_CHARS = 2_000


def open_book(runtime: Runtime[Context], context: Context) -> LessonBook:
    """The lessons of the run's user and namespace. Raises TaskError where the graph has no Store."""
    if runtime.store is None:
        raise TaskError(
            "lessons need a Store: pass build_agent(store=...) or set lessons to false; the command "
            "line and LangGraph servers have a Store"
        )
    return LessonBook(runtime.store, namespace_of(user_of(runtime), context.lesson_namespace))


def thread_of() -> str:
    """The id of the thread that runs; a new one where nothing is kept of the run."""
    return str(get_config().get("configurable", {}).get("thread_id") or uuid4().hex)


async def recall(state: AgentState, runtime: Runtime[Context], context: Context) -> Lessons:
    """The channel `lessons` of a task that begins: what is shown to it, and nothing of the task before."""
    if not context.lessons:
        return {}
    given = [*state.get("files", []), *state.get("folders", [])]
    query = " ".join([state["task"][:_QUERY_CHARS], *map(_name, given)])
    lessons = await open_book(runtime, context).relevant(query, MOST_SHOWN, now_utc())
    return {"shown": [_to_shown_lesson(lesson) for lesson in lessons]}


def _name(item: Any) -> str:
    return str(item["name"]) if isinstance(item, dict) else ""


def _to_shown_lesson(lesson: Lesson) -> ShownLesson:
    return {"id": lesson.id, "text": cut(lesson.text(), _SHOWN_CHARS), "origin": lesson.origin}
