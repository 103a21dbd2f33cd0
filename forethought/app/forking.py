"""Going back: a thread's checkpoint before a step becomes its head again, and the graph runs on from there.

Nothing is erased: the old branch's checkpoints stay, and the newest branch is the thread's head. Used by
`fork` and, with a debugger's guidance, for re-rollouts (AgentDebug, section 4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forethought.app.errors import CliError

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.types import StateSnapshot

    from forethought.app.thread import Thread


async def fork_before(thread: Thread, n: int, guidance: str) -> None:
    """Make the checkpoint that is about to run step `n` the head, with `guidance` for every role added.

    The whole wave of step `n` is sent again. Raises CliError when there is no such step.
    """
    found = await _sent(thread, n)
    known = list(found.values.get("guidance") or [])
    update = {"guidance": [*known, guidance.strip()] if guidance.strip() else known}
    config: RunnableConfig = {**found.config, "metadata": thread.config["metadata"]}
    await thread.graph.aupdate_state(config, update, as_node="replan_trigger")


async def _sent(thread: Thread, n: int) -> StateSnapshot:
    """The checkpoint whose pending tasks include step `n`, on the branch that ends in the head.

    Parents are followed one by one, since the history of a thread mixes its branches.
    """
    snapshot = await thread.snapshot()
    last = (snapshot.values.get("progress") or {}).get("n", 0)
    while True:
        sent = [item["n"] for item in snapshot.values.get("dispatch") or []]
        if n in sent and any(task.name == "tool_agent" for task in snapshot.tasks):
            return snapshot
        if snapshot.parent_config is None:
            break
        snapshot = await thread.graph.aget_state(snapshot.parent_config)
    raise CliError(
        f"thread {thread.id} has no step {n}" + (f"; its steps are 1 to {last}" if last else " yet")
    )
