"""What prompts share: the rules and the situation, the same for every role, and the memory of failures.

They open each prompt of a task, so that a provider's cache serves them from role to role.
"""

from __future__ import annotations

from typing import Any

from forethought.nodes.support.first_look import look_values
from forethought.nodes.support.prompt_text import earlier_items, files_text, rounds_texts
from forethought.nodes.support.services import Services
from forethought.state.agent import AgentState
from forethought.state.context import Context
from forethought.tools.registry import outline


def situation(state: AgentState, services: Services, context: Context) -> dict[str, Any]:
    """The values of `_rules.md` and `_situation.md`: the tools in short; the task, its answer's form, its
    files as they were looked at, guidance, and the earlier tasks of the thread."""
    look = look_values(state["look"], state.get("task", "")) if state.get("look") else {}
    seen = {file["name"] for file in look.get("files", [])}
    rest = [item for item in state.get("files", []) if isinstance(item, str) or item["name"] not in seen]
    return {
        "tools": outline(services.offered(state)),
        "task": state.get("task", ""),
        "answer_format": context.answer_format,
        "seen": look.get("files", []),
        "signs": look.get("signs", ""),
        "file_list": files_text(rest) if rest or not seen else "",
        "guidance": state.get("guidance", []),
        "earlier": earlier_items(state.get("progress", {}), context.sizes),
    }


def memory(state: AgentState, context: Context) -> dict[str, Any]:
    """The values of `_memory.md`, for those who make and examine plans: what the person did not expect,
    lessons, and the task's failed rounds (MIRROR 3.5)."""
    return {
        "reflection": state["progress"].get("reflection", ""),
        "lessons": state.get("lessons", {}).get("shown", []),
        "rounds": rounds_texts(state.get("long_term", {}), context.sizes) if context.long_term_memory else [],
    }
