"""States and threads as a LangGraph server's API gives them, as the viewer shows them."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import convert_to_messages
from langgraph.types import Interrupt, PregelTask, StateSnapshot

from forethought.app.threads.entries import LONGEST, entry
from forethought.app.viewer.runs import Json


def snapshot_of(state: Any) -> StateSnapshot:
    """A state as the API gives it (empty before a run has begun), as a graph in this process would."""
    values = dict(state["values"] or {})
    if values.get("messages"):
        values["messages"] = convert_to_messages(values["messages"])
    tasks = tuple(
        PregelTask(
            id=task["id"],
            name=task["name"],
            path=(),
            error=task["error"] and Exception(task["error"]),
            interrupts=tuple(Interrupt(**one) for one in task["interrupts"]),
        )
        for task in state["tasks"]
    )
    return StateSnapshot(
        values=values,
        next=tuple(state["next"] or ()),
        config={"configurable": dict(state["checkpoint"] or {})},
        metadata=state["metadata"],
        created_at=state["created_at"],
        parent_config=None,
        tasks=tasks,
        interrupts=tuple(one for task in tasks for one in task.interrupts),
    )


def entry_of(row: Any) -> Json:
    """A thread as it is listed."""
    values = {name.removeprefix("its_"): value for name, value in row["extracted"].items()}
    status = str(values.get("status") or "running")
    if row["status"] == "busy":
        status = "running"
    elif row.get("interrupts"):
        status = "interrupted"
    elif row["status"] == "error":
        status = "failed"
    elif status == "running":
        status = "stopped"
    return entry(row["thread_id"], row["updated_at"], status, values, LONGEST)
