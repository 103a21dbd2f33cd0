"""Ask the person behind the task; the run waits, however long, until the answer is there."""

from __future__ import annotations

from forethought.tools.base import Observation, ToolEnv, ToolError, make_tool


async def ask_user(env: ToolEnv, question: str, choices: list[str] | None = None) -> Observation:
    """Ask the person who set the task one question and wait for the answer.

    Only for what the task leaves open and no other tool can find out, such as a preference, a permission or
    a missing fact that only the person knows.

    Args:
        question: The whole question, understandable without knowing what was done so far.
        choices: Possible answers to choose from, or null for a free answer.
    """
    if env.ask is None:
        raise ToolError(
            "no person is available in this run",
            cause="unavailable",
            hint="make a reasonable assumption, and say in the result that it is one",
        )
    # Called here and not in a thread: LangGraph's interrupt finds the run through a context variable of
    # this task.
    return Observation(env.ask(question, choices or []), origin="user")


ASK_USER = make_tool(ask_user, timeout_s=0, outside=False, private=False, asks_person=True)
