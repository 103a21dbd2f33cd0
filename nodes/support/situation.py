"""What prompts share: the rules and the situation, the same for every role, and the memory of failures.

They open each prompt of a task, so that a provider's cache serves them from role to role.
"""

from __future__ import annotations

from typing import Any

from forethought.nodes.support.memory_text import rounds_texts
from forethought.nodes.support.prompt_text import files_text
from forethought.nodes.support.services import Services
from forethought.nodes.support.shares import LINE_CHARS, most, share
from forethought.nodes.support.signs import MARK
from forethought.sizes import Sizes
from forethought.state.agent import AgentState, Progress
from forethought.state.context import Context
from forethought.text import cut
from forethought.tools.registry import outline


def earlier_items(progress: Progress, sizes: Sizes) -> list[dict[str, str]]:
    """The earlier tasks of the thread, with their answers: {task, answer}; of very many the newest."""
    newest = progress.get("earlier", [])[-most(sizes.written, 2 * LINE_CHARS) :]
    limit = share(sizes.written, 2 * len(newest))
    return [{"task": cut(item["task"], limit), "answer": cut(item["answer"], limit)} for item in newest]


def has_signs(state: AgentState) -> bool:
    """Whether a line of a file is marked, or a passage of a folder."""
    look = state.get("look", {})
    folder = look.get("folder", {})
    passages = folder.get("held", "") + folder.get("passages", "")
    return MARK in passages or any(file.get("signs") for file in look.get("files", []))


def situation(
    state: AgentState,
    services: Services,
    context: Context,
    *,
    plans: bool = False,
    decides: bool = False,
) -> dict[str, Any]:
    """The values of `_rules.md` and `_situation.md`.

    Args:
        state: The state, for task, files, guidance and earlier tasks.
        services: The tools on offer.
        context: The run's choices.
        plans: Whether the role makes or examines plans, and so sees names and passages of a folder.
        decides: Whether the role has nothing but the passages of a folder to decide by.
    """
    tools = services.offered(state)
    return {
        "one_worker": services.one_worker,
        "tools": outline(tools),
        "computes": any(tool.runs_code for tool in tools.values()),
        "task": state.get("task", ""),
        "answer_format": context.answer_format,
        "look": state.get("look") or {"files": []},
        "folder": state.get("look", {}).get("folder"),
        "plans": plans,
        "decides": decides,
        "reads_each": "read_each" in tools,
        "queries": "sql" in tools,
        "signs": has_signs(state),
        "file_list": files_text(state.get("files", []), state.get("folders", [])),
        "guidance": state.get("guidance", []),
        "earlier": earlier_items(state.get("progress", {}), context.sizes),
    }


def background(state: AgentState, context: Context) -> str:
    """What was given besides the task and its guidance, for a reflection on a round: files, the answer's
    form, earlier tasks."""
    earlier = earlier_items(state.get("progress", {}), context.sizes)
    files, folders = state.get("files", []), state.get("folders", [])
    parts = [files_text(files, folders)] if files or folders else []
    parts += [f"The answer's form: {context.answer_format}"] if context.answer_format else []
    parts += [f"Earlier task: {item['task']}\nIts answer: {item['answer']}" for item in earlier]
    return "\n\n".join(parts)


def memory(state: AgentState, context: Context) -> dict[str, Any]:
    """The values of `_memory.md`, for those who make and examine plans: what the person did not expect,
    and the task's failed rounds (MIRROR 3.5)."""
    return {
        "reflection": state["progress"].get("reflection", ""),
        "rounds": rounds_texts(state.get("long_term", {}), context.sizes) if context.long_term_memory else [],
    }
