"""The table of files whose runs are messages: a row each, and what brings a row's parts into place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from forethought.trajectories.format import Format
from forethought.trajectories.layout import Layout
from forethought.trajectories.message_forms import call_of, content, is_message
from forethought.trajectories.messages import conversation, last_messages
from forethought.trajectories.types import Loaded
from forethought.trajectories.values import Json, at, first, is_grade, items, mapping, text


def _tau(entry: Json) -> Json:
    """tau-bench: required outputs are no alternatives, and what a limit cut ends in the middle."""
    messages = last_messages(items(entry.get("traj")))
    policy = text(mapping(messages[0] if messages else {}).get("content"))
    domain = re.match(r"#\s*(\w+) agent policy", policy, re.IGNORECASE)
    last = mapping(messages[-1]) if messages else {}
    called = [
        text(at(call, "function.name"))
        for each in messages
        for call in items(mapping(each).get("tool_calls"))
    ]
    over = "###STOP###" in text(last.get("content")) or "transfer_to_human_agents" in called
    error = text(at(entry, "info.error"))
    wanted = {key: at(entry, f"info.task.{key}") for key in ("actions", "outputs")}
    return {
        "messages": messages,
        "task_id": "-".join(filter(None, (domain[1].lower() if domain else "", text(entry.get("task_id"))))),
        "trial": entry.get("trial"),
        "environment": "tau_bench",
        "reward": None if error else entry.get("reward"),
        "solution": wanted if any(wanted.values()) else None,
        "ended": "" if over or error or not messages else "max_num_steps",
        "error": error or None,
    }


def _tau2(entry: Json) -> Json:
    """tau2: a simulation and its task; what only the customer's own tools said is left out."""
    shared = entry["shared"]
    tasks = [mapping(task) for task in items(shared.get("tasks"))]
    task = next((task for task in tasks if task.get("id") == entry.get("task_id")), {})
    messages = [mapping(message) for message in items(entry.get("messages"))]
    ended = text(entry.get("termination_reason"))
    broke = ended in ("infrastructure_error", "unexpected_error", "user_error")
    return {
        "messages": [each for each in messages if each.get("requestor") != "user" and not _of_user(each)],
        "instructions": at(shared, "info.environment_info.policy"),
        "task_id": f"{text(at(shared, 'info.environment_info.domain_name'))}-{text(entry.get('task_id'))}",
        "id": entry.get("id"),
        "trial": entry.get("trial"),
        "environment": "tau2",
        "tools": at(shared, "info.environment_info.tool_defs"),
        "reward": None if broke else at(entry, "reward_info.reward"),
        "solution": task.get("evaluation_criteria"),
        "ended": ended,
    }


def _of_user(message: Json) -> bool:
    return message.get("role") == "user" and bool(message.get("tool_calls")) and not message.get("content")


_INSPECT_SCORES = {"C": True, "I": False, "N": False}


def _inspect(entry: Json) -> Json:
    """inspect: a sample of a log, its attachments put back, with the first of its scores."""
    shared, attachments = entry["shared"], mapping(entry.get("attachments"))
    sample = mapping(_attached({**entry, "shared": None, "attachments": None}, attachments))
    scores = [mapping(score).get("value") for score in mapping(sample.get("scores")).values()]
    offered = (at(event, "tools") for event in items(sample.get("events")) if at(event, "event") == "model")
    score = scores[0] if scores else None
    open_ended = is_grade(score) or score == "P" or isinstance(score, dict | list)
    epoch, task = text(sample.get("epoch")), text(at(shared, "eval.task"))
    return {
        "messages": sample.get("messages"),
        "id": f"{task}-{text(sample.get('id'))}-{epoch}",
        "task": _asked(sample.get("input")),
        "task_id": sample.get("id"),
        "environment": task,
        "tools": next(filter(None, offered), None),
        "files": sample.get("files"),
        "answer": content(at(sample, "output.choices.0.message.content", "output.completion")),
        "outcome": None if open_ended else _INSPECT_SCORES.get(text(score), score),
        "notes": [f"Its score does not tell whether it succeeded: {text(score)}."] if open_ended else [],
        "gold": sample.get("target"),
        "ended": at(sample, "limit.type"),
        "error": at(sample, "error.message"),
    }


def _attached(value: Any, attachments: Json) -> Any:
    if isinstance(value, str):
        return (
            attachments.get(value.removeprefix("attachment://"), value) if "attachment://" in value else value
        )
    if isinstance(value, list):
        return [_attached(item, attachments) for item in value]
    return (
        {key: _attached(item, attachments) for key, item in value.items()}
        if isinstance(value, dict)
        else value
    )


def _asked(value: object) -> str:
    """The words of a sample's input: text, or messages."""
    return conversation(items(value)).task if isinstance(value, list) else text(value)


def _mini_swe(entry: Json) -> Json:
    """mini-swe-agent: its commands are calls, and its message of the end is none of the agent's."""
    messages = []
    for message in map(mapping, items(entry.get("messages"))):
        commands = items(at(message, "extra.actions"))
        if message.get("role") == "exit":
            continue
        if commands and not (items(message.get("tool_calls")) or items(message.get("output"))):
            message["tool_calls"] = [_command(command) for command in commands]
        messages.append(message)
    return {**entry, "messages": messages, "environment": "swe"}


def _command(value: object) -> Json:
    command = mapping(value)
    return {"name": "bash", "arguments": command or {"command": text(value)}}


def _swe_agent(entry: Json) -> Json:
    """SWE-agent: the steps as its trajectory has them; of its history what came before the first."""
    history = [mapping(message) for message in items(entry.get("history"))]
    begun = next((at for at, each in enumerate(history) if each.get("role") == "assistant"), len(history))
    messages = [each for each in history[:begun] if not each.get("is_demo")]
    for step in map(mapping, items(entry.get("trajectory"))):
        action = text(step.get("action")).strip()
        thought = text(first(step, "thought", "response")).strip()
        messages.append({"role": "assistant", "thought": thought, "content": action})
        messages.append({"role": "tool", "content": step.get("observation")})
    return {**entry, "messages": messages, "environment": "swe"}


def _executor(entry: Json) -> Json:
    """An answer of LangChain's AgentExecutor: pairs of an action and what it brought."""
    messages: list[Json] = [{"role": "user", "content": entry.get("input")}]
    for pair in items(entry.get("intermediate_steps")):
        action, seen = (*items(pair), None, None)[:2]
        action = mapping(mapping(action).get("kwargs")) or mapping(action)
        messages.append({"role": "assistant", "thought": action.get("log"), "tool_calls": [call_of(action)]})
        messages.append({"role": "tool", "content": seen})
    messages.append({"role": "assistant", "content": entry.get("output")})
    return {**entry, "messages": messages}


def _read_responses(value: object, name: str) -> list[Loaded]:
    """Responses of OpenAI's Responses API: those that follow one another are one run."""
    runs: list[list[Json]] = []
    for response in map(mapping, items(value) or [value]):
        before = response.get("previous_response_id")
        run = next((run for run in runs if before and run[-1].get("id") == before), None)
        runs.append([response]) if run is None else run.append(response)
    return [
        _RESPONSES.run({**run[0], "messages": _asked_and_said(run), "last": run[-1]}, name) for run in runs
    ]


def _asked_and_said(responses: Sequence[Json]) -> list[Any]:
    messages: list[Any] = []
    for response in responses:
        asked = response.get("input")
        messages += [{"role": "user", "content": asked}] if isinstance(asked, str) else items(asked)
        messages += items(response.get("output"))
    return messages


_LIMITS = "limit|exceeded|max_|exit_cost|exit_context|exit_total|timeout|time_out|length"
_SWE_BENCH: dict[str, Any] = {
    "id": "instance_id",
    "task_id": "instance_id",
    "answer": "info.submission",
    "answers": False,
    "ended": "info.exit_status",
    "limits": _LIMITS,
}
_ROWS = (
    Layout("tau_bench", "traj", adapt=_tau, solution="solution", limits=_LIMITS),
    Layout(
        "tau2",
        "simulations tasks",
        runs="simulations",
        adapt=_tau2,
        solution="solution",
        limits="max_steps|timeout|context_window",
    ),
    Layout(
        "inspect",
        "eval.task samples",
        runs="samples",
        adapt=_inspect,
        outcome="outcome",
        gold="gold",
        limits=".",
    ),
    Layout("swe_agent", "trajectory history info", adapt=_swe_agent, **_SWE_BENCH),
    Layout("mini_swe_agent", "info.exit_status messages", adapt=_mini_swe, **_SWE_BENCH),
    Layout("langchain_executor", "input intermediate_steps", adapt=_executor, task="input", answer="output"),
)
_RESPONSES = Layout("openai_responses", "output.0.type", ended="last.incomplete_details.reason", limits="max")


def _listed(value: object) -> list[Any]:
    """The messages of one conversation: a list, or what stands under a known key."""
    return items(value) or items(first(mapping(value), "messages", "history", "items", "input", "data"))


def _is_chat(value: object) -> bool:
    messages = _listed(value)
    return bool(messages) and all(is_message(message) for message in messages)


def _read_chat(value: object, name: str) -> list[Loaded]:
    row = Layout("messages", "", id="id|task_id|thread_id")
    entry = {**mapping(value), "messages": _listed(value)}
    return [row.run(entry, name)]


FORMATS: Sequence[Format] = (
    *(row.format() for row in _ROWS),
    Format(_RESPONSES.name, "output with items of a type", _RESPONSES.claims, _read_responses),
)
CHAT = Format("messages", "messages with roles", _is_chat, _read_chat)
