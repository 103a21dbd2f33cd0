"""The search for the step that doomed a recorded run, without a graph (AgentDebug, algorithm 1)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic_core import to_jsonable_python

from forethought.graph.debugger import build_debugger
from forethought.models.allowance import total
from forethought.models.ask import Models
from forethought.models.chat_objects import ChatObjects
from forethought.models.live import LiveTransport
from forethought.models.types import Usage
from forethought.settings import Settings
from forethought.state.context import bounded, models_of
from forethought.state.debugger import Critical, DebuggerContext, DebugStatus, Label
from forethought.trajectories.read import all_from_json, read_trajectories, the_run


@dataclass(frozen=True)
class Debugged:
    """What a debugging came to."""

    status: DebugStatus
    """found, not_found, successful (the run succeeded) or failed (the debugger did)."""
    critical: Critical | None
    """The critical error: step, module, type, cause, evidence, and what to do instead."""
    labels: dict[str, dict[str, Label]]
    """The verdict on each examined step, by number and module."""
    notes: list[str]
    usage: Usage
    problem: str = ""
    """Why debugging failed ('': it did not)."""


async def debug(
    trajectory: Any,
    *,
    pick: str = "",
    expect: str = "",
    model: str | BaseChatModel | None = None,
    settings: Settings | None = None,
    **choices: Any,
) -> Debugged:
    """Find the earliest error that made a run fail, and what would have been right there.

    Args:
        trajectory: A file's path, or the run itself in any format that can be read: messages of LangChain's
            or OpenAI's, exports as JSON, a `Trajectory`.
        pick: The run's id, where there are several.
        expect: The right answer, which only the judge is shown. Without one, and where the run does not
            record how it ended, it counts as failed.
        model: A chat model or provider:name; by default that of the settings, or of `DebuggerContext`.
        settings: Address, keys, bounds; by default the environment's.
        choices: Fields of `DebuggerContext`, such as method or max_tokens.

    Raises ValueError for what cannot be read and for unknown choices, ConfigurationError where a model has
    no key, ModelError where none can be asked.
    """
    is_path = isinstance(trajectory, str | Path)
    read = read_trajectories if is_path else lambda run: all_from_json(to_jsonable_python(run, fallback=str))
    run = the_run(await asyncio.to_thread(read, trajectory), pick)
    chats = ChatObjects.of(None if isinstance(model, str) else model, {}, ())
    settings = chats.settings(settings or Settings())
    asked = {"model": model} if isinstance(model, str) else chats.by_field
    context = bounded(DebuggerContext(**{**asked, **choices}), settings)
    transport = LiveTransport(settings, chats=chats.by_name)
    Models(settings, transport).verify(models_of(context))
    sent: Any = {"trajectory": run.model_dump(mode="json"), "expect": expect}
    found: Any = await build_debugger(settings, False, transport).ainvoke(sent, context=context)
    usage = total(*found.get("usage", {}).values())
    critical, problem = found.get("critical") or None, found.get("problem", "")
    return Debugged(found["status"], critical, found.get("labels", {}), found["notes"], usage, problem)
