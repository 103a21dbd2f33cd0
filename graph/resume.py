"""Resuming a thread: what it was run with, and putting a failed task back to work.

What a thread was run with is kept with each of its checkpoints and read back as data: the Context is gone on
with, address and tools are told to a person, who gives them again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateUpdate
from pydantic import BaseModel, Field

from forethought.redaction import without_credentials
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.state.reducers import CLEAR

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from forethought.graph.agent import AgentGraph

Json = dict[str, Any]
_KEY = "forethought"
"""Key of the checkpoint's metadata for the run's options, as JSON text."""


class RunOptions(BaseModel):
    """What a thread was run with."""

    context: Json = Field(default_factory=dict)
    base_url: str | None = None
    tools: str | None = None


def run_metadata(context: Context, settings: Settings) -> Json:
    """The metadata of every checkpoint of a run."""
    options = RunOptions(
        context=context.model_dump(mode="json"),
        base_url=without_credentials(settings.base_url),
        tools=settings.tools,
    )
    return {_KEY: json.dumps(options.model_dump(), ensure_ascii=False)}


def run_options(metadata: Mapping[str, Any] | None) -> RunOptions:
    """What `run_metadata` kept, without settings of other releases; empty for another program's thread."""
    text = (metadata or {}).get(_KEY)
    if not isinstance(text, str):
        return RunOptions()
    options = RunOptions.model_validate_json(text)
    options.context = {key: value for key, value in options.context.items() if key in Context.model_fields}
    return options


def restart_node(values: Mapping[str, Any]) -> str:
    """The node as which `{"status": "running"}` is written to a failed task, so that it goes on.

    Raises ValueError for a refused task some of whose files are lost: it has to be given again with them.
    """
    progress = values.get("progress") or {}
    if progress.get("lost_files"):
        raise ValueError(f"the task was refused; send it again with its files: {progress['refused']}")
    planned = bool((values.get("plan") or {}).get("subtasks"))
    # The edge behind answer_agent leads to the planner while the task runs: as the next round begins.
    return "replan_trigger" if planned else "answer_agent"


async def restart_failed_task(graph: AgentGraph, config: RunnableConfig, values: Mapping[str, Any]) -> None:
    """Have a task with the state `values`, whose status is failed, go on when its thread is run next: where
    the next step is decided, or at the planner without a plan. A wait that it had no time for is over by now.

    Raises ValueError as `restart_node`.
    """
    node = restart_node(values)
    usage = {
        role: {name: figure for name, figure in figures.items() if name != "out_of_time"}
        for role, figures in (values.get("usage") or {}).items()
    }
    update = StateUpdate({"status": "running", "usage": {CLEAR: None, **usage}}, node)
    # Not BoundedGraph's own, which takes no such write from a client.
    await CompiledStateGraph.abulk_update_state(graph, config, [[update]])
