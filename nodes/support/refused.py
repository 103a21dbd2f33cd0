"""A task that cannot be taken on: what was given with it, and what it takes to take it on after all."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage

from forethought.lessons.book import LOCAL_USER
from forethought.nodes.support.services import Services
from forethought.nodes.support.task import (
    TaskError,
    counters,
    guidance_of,
    last_human,
    settings_of,
    task_text,
)
from forethought.state.agent import AgentState, FileRef
from forethought.state.reducers import CLEAR
from forethought.text import sanitize_text
from forethought.tools.files import FilesError, take_in

Json = dict[str, Any]


async def refuse(state: AgentState, reason: str, services: Services, user: str = LOCAL_USER) -> Json:
    """The update that ends a task that cannot be taken on: said openly, with nothing spent.

    What a further task would be refused for as well is let go of, so that it can be taken on: files that
    cannot be had, and the guidance. Both are kept aside for `graph.resume`.
    """
    files, lacking = await asyncio.to_thread(_sorted, state, services, user)
    old = state.get("progress", {})
    progress = counters(state, str(state.get("task") or ""))
    human = last_human(state.get("messages", []))
    progress["message_id"] = (human.id or "") if human else ""
    progress["refused"] = sanitize_text(reason)
    progress["given"] = {
        "files": lacking,
        "guidance": _guidance(state),
        "asked": old.get("asked", ""),
        "message_id": old.get("message_id", ""),
    }
    return {
        "status": "failed",
        "answer": "",
        "sources": [],
        "plan": {},
        "draft": {},
        "guidance": [],
        "files": [CLEAR, *files],
        "progress": progress,
        "messages": [AIMessage(f"I cannot take this on: {progress['refused']}")],
    }


def _sorted(state: AgentState, services: Services, user: str) -> tuple[list[FileRef], list[Any]]:
    """The thread's files that can be had, as references, and the others as they were named."""
    files: list[FileRef] = []
    lacking: list[Any] = []
    settings = settings_of(services, user)
    for item in state.get("files", []):
        try:
            files.append(take_in(item, store=services.store, settings=settings))
        except FilesError:
            # Content that cannot be used is not kept; a file of that name may be had later.
            broken = isinstance(item, Mapping) and "data" in item
            lacking.append(str(item.get("name")) if isinstance(item, Mapping) and broken else item)
    return files, lacking


def _guidance(state: AgentState) -> Any:
    try:
        return guidance_of(state, task_text(state)[0])
    except TaskError:
        return state.get("guidance") or []
