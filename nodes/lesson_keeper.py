"""lesson_keeper: what a task that has ended leaves to later ones (what SAMULE and PreFlect name as future
work).

It writes one lesson where something failed, counts what the lessons shown to the task did (helped: the answer
passed; hurt: it did not), and drops what has faded. A planning error that has no name yet is kept with the
lesson, for a person's review. The answer stands before it begins: a model that writes no lesson is noted, and
changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from langgraph.runtime import Runtime

from forethought.json_files import FileError
from forethought.knowledge.planning_errors import load_planning_errors
from forethought.lessons.book import error_name
from forethought.lessons.record import Lesson, lesson_id, now_utc
from forethought.models.types import Usage, no_usage, reply_spec
from forethought.nodes.support.budget import allowance
from forethought.nodes.support.lessons import open_book, thread_of
from forethought.nodes.support.memory_text import rounds_texts
from forethought.nodes.support.origins import influence, thread_origin
from forethought.nodes.support.plan_text import plan_text
from forethought.nodes.support.prompt_text import Reader, start_n, steps_text, trajectory
from forethought.nodes.support.services import Services, Turn
from forethought.nodes.support.situation import situation
from forethought.prompts.render import prompt_messages
from forethought.prompts.replies import LessonDraft
from forethought.redaction import scrubber
from forethought.state.agent import AgentState, Lessons, Replan
from forethought.state.context import Context
from forethought.state.reducers import with_statuses
from forethought.text import cut, one_line

_TASK_CHARS = 400
_PART_CHARS = 1_000
_NAME_CHARS = 80
_STEPS_CHARS = 30_000
_REASON_CHARS = 4_000


async def lesson_keeper(
    state: AgentState, runtime: Runtime[Context], *, services: Services
) -> dict[str, Any]:
    """Ask for a lesson where something failed; then, in one go at the end, learn, count and sweep."""
    turn = await services.turn(runtime)
    book, now = open_book(runtime, turn.context), now_utc()
    state = with_statuses(state)
    lessons: Lessons = {**state.get("lessons", {}), "due": False, "kept": "", "problem": ""}
    update: dict[str, Any] = {"lessons": lessons}
    if what_failed(state):
        known = await _known_error_names(services) if turn.context.planning_errors else ()
        draft, usage, lessons["problem"] = await _draft(state, turn, known)
        if usage["calls"]:
            update["usage"] = {"lessons": usage}
        if draft is not None:
            lessons["kept"] = (await book.learn(_lesson(draft, known, state, services))).id
    shown = [item["id"] for item in lessons.get("shown", [])]
    await book.count_outcome(shown, now, passed=state["status"] == "answered")
    await book.sweep(now)
    return update


def what_failed(state: AgentState) -> list[str]:
    """What went wrong in the task: failed steps, plans that had to be made anew, rounds that did not pass.

    A new plan that only the cadence forced is no failure.
    """
    failures = [f"step {step['n']}" for step in trajectory(state) if not step["ok"]]
    failures += [f"plan after step {item['n']}" for item in _replans(state) if item["kind"] != "cadence"]
    return failures + [f"round {key}" for key, item in state.get("long_term", {}).items() if "score" in item]


def _replans(state: AgentState) -> list[Replan]:
    return [item for item in state.get("replans", []) if item["n"] > start_n(state)]


async def _known_error_names(services: Services) -> tuple[str, ...]:
    try:
        errors = await asyncio.to_thread(load_planning_errors, services.settings.planning_errors_file)
    except FileError:  # refused when the task began, unless it works without them
        return ()
    return tuple(error.name for error in errors)


async def _draft(
    state: AgentState, turn: Turn, known: Sequence[str]
) -> tuple[LessonDraft | None, Usage, str]:
    """The lesson as the retrospective role words it, or None; what it cost; why there is none."""
    allowed = allowance(state, turn.context, answered=True)
    if over := allowed.spent():
        return None, no_usage(), f"the budget of {over} is spent"
    reader = Reader(turn.context.sizes)
    messages = prompt_messages(
        "lesson",
        known=known,
        **situation(state, turn.services, turn.context),
        plan=plan_text(state.get("plan", {})),
        steps=cut(steps_text(trajectory(state), reader=reader), min(_STEPS_CHARS, reader.sizes.seen)),
        replans=[cut(item["reason"], _REASON_CHARS) for item in _replans(state)],
        rounds=rounds_texts(state.get("long_term", {}), turn.context.sizes),
        status=state["status"],
        answer=state["answer"],
        evaluation=state.get("draft", {}).get("evaluation", ""),
    )
    result = await turn.ask(
        "retrospective",
        messages,
        reply_spec(LessonDraft),
        allowed,
        check=_checker(state),
        lenient=True,
        event={"about": "lesson"},
    )
    problem = f"no valid lesson: {result.error}" if result.error else ""
    return result.reply, result.usage, problem


def _checker(state: AgentState) -> Callable[[LessonDraft], str | None]:
    numbers = [step["n"] for step in trajectory(state)]

    def check(reply: LessonDraft) -> str | None:
        wrong = [n for n in reply.steps if n not in numbers]
        return (
            f"steps names {wrong[0]}, which was not taken; choose from: {numbers or 'none'}"
            if wrong
            else None
        )

    return check


def _lesson(draft: LessonDraft, known: Sequence[str], state: AgentState, services: Services) -> Lesson:
    """The lesson with where it comes from. Secrets are redacted, those of this machine and what looks like
    one."""
    scrub = scrubber(services.settings)
    thread, number, now = thread_of(), state["progress"]["task"], now_utc()
    is_known = error_name(draft.error_type or "") in map(error_name, known)
    return Lesson(
        id=lesson_id(thread, number),
        task=cut(scrub(state["task"]), _TASK_CHARS),
        failed=cut(scrub(draft.failed), _PART_CHARS),
        why=cut(scrub(draft.why), _PART_CHARS),
        worked=cut(scrub(draft.worked), _PART_CHARS),
        error_type="" if is_known else one_line(scrub(draft.error_type or ""), _NAME_CHARS),
        thread=thread,
        number=number,
        steps=sorted(set(draft.steps)),
        origin=thread_origin(state),
        outside=sorted(influence(state, services.tools).outside),
        made=now,
        renewed=now,
    )
