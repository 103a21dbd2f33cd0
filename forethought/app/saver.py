"""The checkpointer of the command line: LangGraph's, but a broken-off task leaves no half of its writes.

A node's update and the edge behind it are written one after the other. LangGraph saves what a cancelled task
had written so far (a sibling failed, Ctrl-C came), and on resume takes the task for done: a tool agent
cancelled between its proposal and its edge would lose its executor. Without such a half it simply runs again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

_ERROR = "__error__"


class ThreadSaver(AsyncSqliteSaver):
    """Checkpoints in SQLite. Of a task that ended in an error only the error is kept."""

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store a task's writes, or only its error if it has one."""
        errors = [write for write in writes if write[0] == _ERROR]
        await super().aput_writes(config, errors or writes, task_id, task_path)
