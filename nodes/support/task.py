"""Where a task begins and ends. A thread may hold several: each new human message, or a new `task`, is the
next one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from forethought.json_files import FileError
from forethought.knowledge.planning_errors import load_planning_errors
from forethought.models.types import ConfigurationError
from forethought.nodes.support.attachments import take_attachments
from forethought.nodes.support.services import Services
from forethought.state.agent import AgentState, FileRef, Json, Progress, Status
from forethought.state.context import Context, models_of
from forethought.state.folder import FolderRef
from forethought.state.reducers import CLEAR, merge_files
from forethought.text import sanitize_text
from forethought.tools.files import FilesError, named_file, take_in
from forethought.tools.folders.intake import Given, known_folder, take_paths
from forethought.trajectories.values import sanitize

MAX_TASK_CHARS = 100_000
_PER_TASK = ("statuses", "proposals", "results", "short_term", "long_term", "usage")
"""Channels of one task that are merged by key, and so are cleared for the next."""


class TaskError(ValueError):
    """What was asked cannot be taken on; one line that says what to do."""


def last_human(messages: list[AnyMessage]) -> HumanMessage | None:
    """The last message of a person."""
    return next((m for m in reversed(messages) if isinstance(m, HumanMessage)), None)


def is_new_task(state: AgentState) -> bool:
    """Whether the planner was entered for a task that has not begun yet, and not for a new plan or round."""
    progress = state.get("progress")
    if not progress or progress.get("refused") or state.get("status") != "running":
        return True
    human = last_human(state.get("messages", []))
    if human is not None and human.id != progress.get("message_id"):
        return True
    return bool(state.get("task")) and state["task"] != progress.get("task_text")


def task_text(state: AgentState) -> tuple[str, HumanMessage | None]:
    """The task's text, and the message that carries it when it is a chat message.

    A `task` that the client just set wins over the messages. Raises TaskError when nothing is asked.
    """
    progress = state.get("progress", {})
    human = last_human(state.get("messages", []))
    fresh = human is not None and human.id != progress.get("message_id")
    task = state.get("task") or ""
    if not isinstance(task, str):
        raise TaskError("the task must be text: send it in plain words")
    if human is not None and fresh and (not task.strip() or task == progress.get("task_text")):
        text = str(human.text)
    else:
        text, human = task, None
    if not text.strip():
        raise TaskError("the task is empty: send it as a human message or as `task`")
    if len(text) > MAX_TASK_CHARS:
        raise TaskError(
            f"the task is too long ({len(text)} characters; at most {MAX_TASK_CHARS}): put the "
            "material in files"
        )
    return text.strip(), human


async def begin_task(state: AgentState, services: Services, context: Context) -> dict[str, Any]:
    """The update that starts the next task of the thread: everything that is per task is reset.

    Raises TaskError, one line that says what to do, before anything is spent.
    """
    state, mended = _sanitize_state(state)
    text, human = task_text(state)
    models = models_of(context)
    try:
        await asyncio.to_thread(services.models.verify, models)
        given, replaced = await asyncio.to_thread(_take_in, state, services)
        if context.wants("prospective_reflection") is not False and context.planning_errors:
            await asyncio.to_thread(load_planning_errors, services.settings.planning_errors_file)
    except (ConfigurationError, FilesError, FileError) as error:
        raise TaskError(str(error)) from error
    _check_prices(services, context, models)
    guidance = guidance_of(state, text)
    progress = counters(state, text)
    message = human or HumanMessage(text, id=f"task-{progress['task']}")
    progress["message_id"] = message.id or ""
    messages = [*mended, *replaced, *([] if human else [message])]
    update = _task_update("running", text, [CLEAR, *given.files], guidance, progress, messages)
    return {**update, "folders": [CLEAR, *given.folders]} if given.folders or state.get("folders") else update


async def take_in_files(state: AgentState, services: Services) -> tuple[dict[str, Any], AgentState]:
    """The update that stores files given in the middle of a task, and the state with it. Raises TaskError."""
    if all(isinstance(item, dict) and "hash" in item for item in state.get("files", [])):
        return {}, state
    try:
        given, _ = await asyncio.to_thread(_take_in, state, services)
    except FilesError as error:
        raise TaskError(str(error)) from error
    update: dict[str, Any] = {"files": [CLEAR, *given.files]}
    if given.folders:
        update["folders"] = [CLEAR, *given.folders]
    return update, {**state, "files": [*given.files], "folders": given.folders}


def _task_update(
    status: Status, text: str, files: list[Any], guidance: list[str], progress: Progress, messages: list[Any]
) -> dict[str, Any]:
    """The update by which a task takes the thread over: nothing is left of the one before but its files."""
    return {
        "messages": messages,
        "task": text,
        "files": files,
        "progress": progress,
        "status": status,
        "guidance": guidance,
        "plan": {},
        "dispatch": [],
        "draft": {},
        "answer": "",
        "sources": [],
        **{channel: {CLEAR: None} for channel in _PER_TASK},
    }


def _sanitize_state(state: AgentState) -> tuple[AgentState, list[AnyMessage]]:
    """The state with what a client gave as text that can be stored and sent; the messages that changed."""
    messages = [(m, _sanitize_message(m)) for m in state.get("messages", [])]
    sanitized: dict[str, Any] = {**state, "messages": [new for _, new in messages]}
    sanitized |= {name: sanitize(sanitized[name]) for name in ("task", "guidance") if name in sanitized}
    return sanitized, [new for old, new in messages if new is not old]  # type: ignore[return-value]


def _sanitize_message(message: AnyMessage) -> AnyMessage:
    """A person's message with text that can be stored and sent."""
    content = sanitize(message.content)
    if not isinstance(message, HumanMessage) or content == message.content:
        return message
    return message.model_copy(update={"content": content})


def guidance_of(state: AgentState, text: str) -> list[str]:
    """The corrections given with the task, and none that a broken-off or failed task left behind.

    Raises TaskError when they are no list of texts.
    """
    guidance = state.get("guidance") or []
    if not isinstance(guidance, list) or not all(isinstance(item, str) for item in guidance):
        raise TaskError("guidance must be a list of texts, each a correction for the whole task")
    old = state.get("progress", {})
    ended = state.get("status") not in ("running", "failed")
    left_behind = not ended and guidance == old.get("guidance") and text != old.get("task_text")
    return [] if left_behind else guidance


def counters(state: AgentState, text: str) -> Progress:
    """The counters of the next task; `n` runs on over the thread."""
    old = state.get("progress", {})
    n = old.get("n", 0)
    return {
        "task": old.get("task", 0) + 1,
        "task_text": text,
        "base_n": n,
        "start_n": n,
        "n": n,
        "round": 1,
        "round_n": n,
        "waves": 0,
        "replans": 0,
        "rejection": "",
        "planned_at": [],
        "version": 0,
        "stopped": "",
        "earlier": [*old.get("earlier", []), *_finished_task(state)],
    }


def _check_prices(services: Services, context: Context, models: Sequence[str]) -> None:
    """A budget in dollars that could not be kept is refused before anything is spent."""
    unknown = [model for model in models if not services.models.priced(model)]
    if context.max_usd is not None and unknown:
        raise TaskError(
            f"max_usd cannot be enforced: the price of {unknown[0]} is unknown; set max_tokens "
            "instead, or choose a model with a known price"
        )


def _take_in(state: AgentState, services: Services) -> tuple[Given, list[AnyMessage]]:
    """All files and folders of the thread as references, those in messages among them, and the messages
    without them."""
    store, settings = services.store, services.settings
    given = Given(folders=[known_folder(ref, settings) for ref in state.get("folders", [])])
    for item in state.get("files", []):
        if isinstance(item, str) and settings.files_dir and named_file(item, settings).is_dir():
            inside = take_paths([named_file(item, settings)], settings)
            given.files += inside.files
            given.folders = merge_files(given.folders, inside.folders)
        else:
            given.files.append(take_in(item, store=store, settings=settings))
    attached, replaced = take_attachments(
        state.get("messages", []), given.files, store=store, settings=settings
    )
    given.files += attached
    return given, replaced


def _finished_task(state: AgentState) -> list[Json]:
    if not state.get("progress") or not state.get("answer"):
        return []
    # Not the channel `task`, which holds the next one by now.
    text = state["progress"]["task_text"]
    return [{"task": text, "answer": state.get("answer", ""), "status": state.get("status", "")}]


def after_begin(state: AgentState, update: dict[str, Any]) -> AgentState:
    """The state as it will stand once `update` of `begin_task` is applied, for the rest of the planner's
    turn."""
    begun: dict[str, Any] = {**state, **update, **{channel: {} for channel in _PER_TASK}}
    for channel in ("files", "folders"):
        if channel in update:
            begun[channel] = merge_files([], update[channel])
    return begun  # type: ignore[return-value]


def fail(reason: str) -> dict[str, Any]:
    """The update that ends a task without an answer: said openly, and the thread can be resumed."""
    text = f"I could not answer: {reason}. The work so far is saved; you can resume the thread."
    return {"status": "failed", "answer": "", "messages": [AIMessage(text)]}


async def refuse(state: AgentState, reason: str, services: Services) -> Json:
    """The update that ends a task that cannot be taken on: said openly, with nothing spent.

    Files that cannot be had are let go of, so that a further task can be taken on.
    """
    state, _ = _sanitize_state(state)
    files = await asyncio.to_thread(_usable_files, state, services)
    folders = await asyncio.to_thread(_usable_folders, state, services)
    try:
        text = task_text(state)[0]
        guidance = guidance_of(state, text)
    except TaskError:
        text, guidance = "", []
    human = last_human(state.get("messages", []))
    progress: Progress = {
        **counters(state, text),
        "message_id": (human.id or "") if human else "",
        "guidance": guidance,
        "refused": sanitize_text(reason),
        "lost_files": len(state.get("files", [])) - len(files),
    }
    refusal = AIMessage(f"I cannot accept this task: {progress['refused']}")
    update = _task_update("failed", text, [CLEAR, *files], guidance, progress, [refusal])
    return {**update, "folders": [CLEAR, *folders]} if state.get("folders") else update


def _usable_files(state: AgentState, services: Services) -> list[FileRef]:
    """The thread's files that can be had, as references."""
    files: list[FileRef] = []
    for item in state.get("files", []):
        with suppress(FilesError):
            files.append(take_in(item, store=services.store, settings=services.settings))
    return files


def _usable_folders(state: AgentState, services: Services) -> list[FolderRef]:
    """The thread's folders that are indexed here."""
    folders: list[FolderRef] = []
    for ref in state.get("folders", []):
        with suppress(FilesError):
            folders.append(known_folder(ref, services.settings))
    return folders
