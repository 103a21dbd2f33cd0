"""The table of files whose runs are messages: a row each, and what brings a row's parts into place."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from forethought.trajectories.format import Format
from forethought.trajectories.layout import Layout
from forethought.trajectories.message_forms import call_of, content, is_message
from forethought.trajectories.messages import conversation, last_messages
from forethought.trajectories.types import Loaded
from forethought.trajectories.values import Json, at, first, is_grade, items, mapping, parsed, text


def _tau(entry: Json) -> Json:
    """tau-bench: required outputs are no alternatives, and what a limit cut ends in the middle."""
    messages = [mapping(message) for message in last_messages(items(entry.get("traj")))]
    domain = re.match(r"#\s*(\w+) agent policy", text(at(messages, "0.content")), re.IGNORECASE)
    calls = [call for each in messages for call in items(each.get("tool_calls"))]
    over = any(at(call, "function.name") == "transfer_to_human_agents" for call in calls)
    over = over or not messages or "###STOP###" in text(messages[-1].get("content"))
    error = at(entry, "info.error") or None
    wanted = {key: at(entry, f"info.task.{key}") for key in ("actions", "outputs")}
    return {
        **entry,
        "messages": messages,
        "task_id": "-".join(filter(None, (domain[1].lower() if domain else "", text(entry.get("task_id"))))),
        "environment": "tau_bench",
        "reward": None if error else entry.get("reward"),
        "solution": wanted if any(wanted.values()) else None,
        "ended": "" if over or error else "max_num_steps",
        "error": error,
    }


def _tau2(entry: Json) -> Json:
    """tau2: a simulation and its task; what only the customer's own tools said is left out."""
    known, key = mapping(at(entry, "shared.info.environment_info")), entry.get("task_id")
    tasks = items(at(entry, "shared.tasks"))
    broke = entry.get("termination_reason") in ("infrastructure_error", "unexpected_error", "user_error")
    return {
        **entry,
        "messages": [each for each in map(mapping, items(entry.get("messages"))) if not _of_customer(each)],
        "instructions": known.get("policy"),
        "task_id": f"{text(known.get('domain_name'))}-{text(key)}",
        "environment": "tau2",
        "tools": known.get("tool_defs"),
        "reward_info": None if broke else entry.get("reward_info"),
        "solution": next((at(task, "evaluation_criteria") for task in tasks if at(task, "id") == key), None),
    }


def _of_customer(message: Json) -> bool:
    calls = message.get("role") == "user" and bool(message.get("tool_calls")) and not message.get("content")
    return calls or message.get("requestor") == "user"


_INSPECT_SCORES = {"C": True, "I": False, "N": False}
_ATTACHMENT = re.compile(r'"attachment://(\w+)"')


def _inspect(entry: Json) -> Json:
    """inspect: a sample of a log, its attachments put back, with the first of its scores."""
    task, attached = text(at(entry, "shared.eval.task")), mapping(entry.get("attachments"))
    put_back = _ATTACHMENT.sub(
        lambda found: json.dumps(attached.get(found[1], found[1])), text({**entry, "shared": None})
    )
    sample = mapping(parsed(put_back))
    offered = (at(event, "tools") for event in items(sample.get("events")) if at(event, "event") == "model")
    scores = [at(score, "value") for score in mapping(sample.get("scores")).values()]
    score = scores[0] if scores else None
    open_ended = is_grade(score) or score == "P" or isinstance(score, dict | list)
    asked = sample.get("input")
    return {
        **sample,
        "id": f"{task}-{text(sample.get('id'))}-{text(sample.get('epoch'))}",
        "task": conversation(asked).task if isinstance(asked, list) else asked,
        "task_id": sample.get("id"),
        "environment": task,
        "tools": next(filter(None, offered), None),
        "answer": content(at(sample, "output.choices.0.message.content", "output.completion")),
        "outcome": None if open_ended else _INSPECT_SCORES.get(text(score), score),
        "notes": [f"Its score does not tell whether it succeeded: {text(score)}."] if open_ended else [],
        "error": at(sample, "error.message"),
    }


def _mini_swe(entry: Json) -> Json:
    """mini-swe-agent: its commands are calls, and its message of the end is none of the agent's."""
    messages = [mapping(each) for each in items(entry.get("messages")) if at(each, "role") != "exit"]
    for message in messages:
        commands = items(at(message, "extra.actions"))
        if commands and not (items(message.get("tool_calls")) or items(message.get("output"))):
            message["tool_calls"] = [
                {"name": "bash", "arguments": mapping(each) or {"command": text(each)}} for each in commands
            ]
    return {**entry, "messages": messages, "environment": "swe"}


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


def _agents_state(entry: Json) -> Json:
    """A saved state of a run of OpenAI's Agents SDK: what was asked, and the items that came."""
    asked = entry.get("original_input")
    messages = [{"role": "user", "content": asked}] if isinstance(asked, str) else items(asked)
    return {
        **entry,
        "messages": [*messages, *(at(item, "raw_item") for item in items(entry["generated_items"]))],
    }


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
        ended="termination_reason",
        limits="max_steps|timeout|context_window",
    ),
    Layout(
        "inspect",
        "eval.task samples",
        runs="samples",
        adapt=_inspect,
        outcome="outcome",
        ended="limit.type",
        gold="target",
        limits=".",
    ),
    Layout("swe_agent", "trajectory history info", adapt=_swe_agent, **_SWE_BENCH),
    Layout("mini_swe_agent", "info.exit_status messages", adapt=_mini_swe, **_SWE_BENCH),
    Layout("openai_agents", "original_input generated_items", adapt=_agents_state, id="trace.id"),
    Layout("langchain_executor", "input intermediate_steps", adapt=_executor, task="input", answer="output"),
)
_RESPONSES = Layout("openai_responses", "output.0.type", ended="last.incomplete_details.reason", limits="max")


_CHAT = Layout("messages", "", id="id|task_id|thread_id")
_PATHS = ("messages", "history", "items", "input", "data", "conversations", "values.messages")


def _messages(value: object) -> list[Any]:
    return items(value) or items(at(value, *_PATHS))


def _is_chat(value: object) -> bool:
    messages = _messages(value)
    return bool(messages) and all(is_message(message) for message in messages)


def _read_chat(value: object, name: str) -> list[Loaded]:
    return [_CHAT.run({**mapping(value), "messages": _messages(value)}, name)]


FORMATS: Sequence[Format | Layout] = (
    *_ROWS,
    Format(_RESPONSES.name, "output with items of a type", _RESPONSES.claims, _read_responses),
    Format(_CHAT.name, "messages with roles", _is_chat, _read_chat),
)
