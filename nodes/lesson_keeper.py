"""lesson_keeper: what a task that has ended leaves to later ones (what SAMULE and PreFlect name as future
work).

It counts what the lessons shown to the task did (helped: the answer passed; hurt: it did not), writes one new
lesson where something failed, proposes planning errors that have no name yet for a person's review, and drops
what has faded. The answer stands before it begins: a model that writes no lesson is noted, and changes
nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from langgraph.runtime import Runtime

from forethought.json_files import FileError
from forethought.knowledge.planning_errors import load_planning_errors
from forethought.lessons.proposals import Proposal, propose, review_file
from forethought.lessons.record import Lesson, lesson_id, now_utc
from forethought.models.types import Usage, no_usage, reply_spec
from forethought.nodes.support.budget import allowance
from forethought.nodes.support.lessons import open_book, thread_of
from forethought.nodes.support.prompt_text import plan_text, rounds_texts, steps_text, trajectory
from forethought.nodes.support.provenance import influence, thread_origin
from forethought.nodes.support.services import Services, Turn
from forethought.prompts.render import prompt_messages
from forethought.prompts.replies import LessonDraft
from forethought.state.agent import AgentState, Lessons
from forethought.state.context import Context
from forethought.state.reducers import with_statuses
from forethought.text import cut
from forethought.training.scrub import training_scrubber

_TASK_CHARS = 400
_PART_CHARS = 1_000
_STEPS_CHARS = 30_000
_REASON_CHARS = 4_000


async def lesson_keeper(
    state: AgentState, runtime: Runtime[Context], *, services: Services
) -> dict[str, Any]:
    """Count, learn, propose and sweep. Run again after a break-off, it counts nothing twice."""
    turn = await services.turn(runtime)
    book, now = open_book(runtime, turn.context), now_utc()
    state = with_statuses(state)
    passed = state["status"] == "answered"
    thread = thread_of()
    mark = f"{thread}/{state['progress']['task']}"
    await book.count_outcome(
        [item["id"] for item in state.get("lessons", {}).get("shown", [])], mark, passed=passed, now=now
    )
    lessons: Lessons = {**state.get("lessons", {}), "due": False, "kept": "", "problem": ""}
    update: dict[str, Any] = {"lessons": lessons}
    if what_failed(state):
        known = await _known(services)
        draft, usage, lessons["problem"] = await _draft(state, turn, known)
        if usage["calls"]:
            update["usage"] = {"retrospective": usage}
        if draft is not None:
            new = _lesson(draft, thread, state, services)
            lessons["kept"] = (await book.learn(new, passed=passed, now=now)).id
        proposals = _proposals(state, thread, services, draft)
        try:
            await asyncio.to_thread(propose, review_file(services.settings.data_dir), proposals, known)
        except (OSError, FileError) as error:
            lessons["problem"] = f"new error types could not be noted for review: {error}"
    await book.sweep(now)
    return update


def what_failed(state: AgentState) -> list[str]:
    """What went wrong in the task: failed steps, plans that had to be made anew, rounds that did not pass.

    A new plan that only the cadence forced is no failure.
    """
    task = state["progress"]["task"]
    found = [f"step {step['n']}" for step in trajectory(state) if not step["ok"]]
    found += [
        f"plan after step {item['n']}"
        for item in state.get("replans", [])
        if item["task"] == task and item["kind"] != "cadence"
    ]
    return found + [f"round {number}" for number in range(1, state["progress"]["round"])]


async def _known(services: Services) -> tuple[str, ...]:
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
    messages = prompt_messages(
        "lesson",
        known=known,
        task=state["task"],
        plan=plan_text(state.get("plan", {})),
        steps=cut(steps_text(trajectory(state)), _STEPS_CHARS),
        replans=[
            cut(item["reason"], _REASON_CHARS)
            for item in state.get("replans", [])
            if item["task"] == state["progress"]["task"]
        ],
        rounds=rounds_texts(state.get("long_term", {})),
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
    problem = f"no lesson was written: {result.error}" if result.error else ""
    return result.reply, result.usage, problem


def _checker(state: AgentState) -> Callable[[LessonDraft], str | None]:
    numbers = [step["n"] for step in trajectory(state)]

    def check(reply: LessonDraft) -> str | None:
        wrong = [n for n in reply.steps if n not in numbers]
        return (
            f"steps names {wrong[0]}, which was not taken; those are: {numbers or 'none'}" if wrong else None
        )

    return check


def _lesson(draft: LessonDraft, thread: str, state: AgentState, services: Services) -> Lesson:
    """The lesson with where it comes from. Secrets are redacted, those of this machine and what looks like
    one."""
    scrub = training_scrubber(services.settings)
    number, now = state["progress"]["task"], now_utc()
    return Lesson(
        id=lesson_id(thread, number),
        task=cut(scrub(state["task"]), _TASK_CHARS),
        failed=cut(scrub(draft.failed), _PART_CHARS),
        why=cut(scrub(draft.why), _PART_CHARS),
        worked=cut(scrub(draft.worked), _PART_CHARS),
        thread=thread,
        number=number,
        steps=sorted(set(draft.steps)),
        origin=thread_origin(state),
        outside=sorted(influence(state, services.tools).outside),
        made=now,
        renewed=now,
    )


def _proposals(
    state: AgentState, thread: str, services: Services, draft: LessonDraft | None
) -> list[Proposal]:
    """Error types that the reflector found in this task's plans, and the one that the lesson names."""
    scrub = training_scrubber(services.settings)
    task = state["progress"]["task"]
    named = [
        (error["error_type"], error["evidence"], "reflector")
        for review in state.get("plan_reviews", [])
        if review["task"] == task
        for error in review["errors"]
    ]
    if draft is not None and draft.error_type:
        named.append((draft.error_type, f"{draft.failed} {draft.why}", "retrospective"))
    return [
        Proposal(
            error_type=scrub(kind)[:200],
            evidence=cut(scrub(evidence), _PART_CHARS),
            by=by,
            thread=thread,
            number=task,
            origin=thread_origin(state),
            time=now_utc().isoformat(timespec="seconds"),
        )
        for kind, evidence, by in named
    ]
