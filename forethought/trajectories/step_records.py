"""Records of steps that are no messages: smolagents' memory, StableToolBench's answers and predictions.

StableToolBench's `win` only says that a run called `Finish` with an answer, so that its outcome is not known.
A tree of DFSDT is read in the order in which it was searched; where the search goes back, the step before
says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from forethought.trajectories.format import Format
from forethought.trajectories.layout import Layout
from forethought.trajectories.message_forms import content
from forethought.trajectories.types import Loaded
from forethought.trajectories.values import Json, arguments, at, first, items, mapping, text

_SMOLAGENTS = Layout("smolagents", "", answer="output", ended="state", limits="max_steps")
_STABLE_TOOL_BENCH = Layout(
    "stable_tool_bench", "", task="query", tools="functions", answers=False, limits="max"
)


def _steps(value: Any) -> list[Json]:
    return [mapping(step) for step in items(value) or items(mapping(value).get("steps"))]


def _is_smolagents(value: Any) -> bool:
    steps = _steps(value)
    acted = [step for step in steps if "step_number" in step]
    return any("model_output" in step or "observations" in step for step in acted) and all(
        step.keys() & {"step_number", "task", "system_prompt", "plan", "output"} for step in steps
    )


def _read_smolagents(value: Any, name: str) -> list[Loaded]:
    steps = _steps(value)
    messages: list[Json] = []
    limit = ""
    for step in steps:
        error = mapping(step.get("error"))
        if step.get("system_prompt"):
            messages.append({"role": "system", "content": step["system_prompt"]})
        elif "task" in step:
            messages.append({"role": "user", "content": step["task"]})
        elif "plan" in step:
            messages.append({"role": "assistant", "thought": step["plan"]})
        elif "step_number" in step:
            asked = map(mapping, items(step.get("model_input_messages")))
            messages[:0] = [
                each for each in asked if each.get("role") == "system" and not _has_system(messages)
            ]
            messages += _acted(step, error)
            limit = "max_steps" if error.get("type") == "AgentMaxStepsError" else limit
    last = steps[-1]
    answered = last.get("is_final_answer") is True or bool(limit)
    output = (
        first(mapping(value), "output")
        or last.get("output")
        or (last.get("action_output") if answered else "")
    )
    return [
        _SMOLAGENTS.run(
            {"state": limit, **mapping(value), "messages": messages, "output": text(output)}, name
        )
    ]


def _has_system(messages: list[Json]) -> bool:
    return any(each.get("role") == "system" for each in messages)


def _acted(step: Json, error: Json) -> Iterator[Json]:
    """A step of action: a call that failed stands in the model's message only."""
    calls = items(step.get("tool_calls")) or items(at(step, "model_output_message.tool_calls"))
    said = content(first(step, "model_output", "action_output"))
    yield {"role": "assistant", "content": said, "tool_calls": calls}
    seen, kind = (text(step.get("observations")), text(error.get("message"))), text(error.get("type"))
    yield {
        "role": "tool",
        "content": "\n".join(filter(None, seen)),
        "is_error": "Tool" in kind or "Execution" in kind,
    }


def _is_answer(value: Any) -> bool:
    return at(value, "answer_generation.query") is not None and at(value, "forward_args") is not None


def _read_answer(value: Any, name: str) -> list[Loaded]:
    """A file of a method's answer: the last chain of CoT, or the whole tree of DFSDT."""
    made = mapping(at(value, "answer_generation"))
    tries = items(at(value, "trys"))
    root = {"children": _chained(items(at(tries[-1], "chain")))} if tries else mapping(at(value, "tree.tree"))
    asked = items(at(made, "train_messages.0"))
    system = [each for each in asked if mapping(each).get("role") == "system"]
    messages = [*system, {"role": "user", "content": made.get("query")}, *_searched(_nodes(root))]
    limits = mapping(at(value, "forward_args"))
    limit = next((key for key in ("max_query_count", "single_chain_max_step") if key in limits), "max")
    named = re.match(r"\d+(?=_)", name)  # 588_CoT@1.json
    made["task_id"] = named[0] if named else ""
    return [_stable_tool_bench(made, messages, made.get("function"), limit, name)]


def _is_predictions(value: Any) -> bool:
    rows = mapping(value).values()
    return bool(rows) and all(isinstance(at(row, "answer.answer_details"), list) for row in rows)


def _read_predictions(value: Any, name: str) -> list[Loaded]:
    runs = []
    for key, row in mapping(value).items():
        details = {"next": items(at(row, "answer.answer_details"))}
        messages = [{"role": "user", "content": at(row, "query")}, *_searched(_details(details))]
        made = {
            "query": at(row, "query"),
            "final_answer": at(row, "answer.final_answer"),
            "id": f"{name}-{key}",
        }
        runs.append(
            _stable_tool_bench({**made, "task_id": key}, messages, at(row, "available_tools"), "", name)
        )
    return runs


def _stable_tool_bench(made: Json, messages: list[Json], tools: Any, limit: str, name: str) -> Loaded:
    calls = [call for message in messages for call in items(message.get("tool_calls"))]
    finished = any(call["name"] == "Finish" for call in calls)
    entry = {
        "id": made.get("id"),
        "task_id": made.get("task_id"),
        "query": made.get("query"),
        "messages": messages,
        "functions": tools,
        "environment": "stable_tool_bench",
        "answer": text(arguments(made.get("final_answer")).get("final_answer")),
        "ended": "" if finished else limit,
    }
    return _STABLE_TOOL_BENCH.run(entry, name)


Node = tuple[int, Json]
"""A node and how deep it stands: {thought} | {call} | {response}."""


def _searched(nodes: Iterator[Node]) -> Iterator[Json]:
    """Messages of the nodes in their order; where a node stands no deeper than the last one, it went back."""
    before, thought = -1, ""
    for depth, node in nodes:
        if depth <= before and (gone := before - depth + 1):
            yield {"role": "search", "content": f"back before the last {gone} moves, to try another"}
        before = depth
        if "thought" in node:
            if thought:
                yield {"role": "assistant", "content": thought}
            thought = node["thought"]
            continue
        yield {"role": "assistant", "content": thought, "tool_calls": [node]}
        thought = ""
        if node["response"]:
            yield {"role": "tool", "content": node["response"]}
    if thought:
        yield {"role": "assistant", "content": thought}


def _nodes(root: Json, depth: int = 0) -> Iterator[Node]:
    """The nodes of a tree below its root: an action and its input are one."""
    for child in map(mapping, items(root.get("children"))):
        kind, said = text(child.get("node_type")), text(child.get("description"))
        if kind == "Action":
            for inner in map(mapping, items(child.get("children"))):
                given = arguments(inner.get("description"))
                yield depth, {"name": said, "arguments": given, "response": text(inner.get("observation"))}
                yield from _nodes(inner, depth + 1)
        else:
            if said:
                yield depth, {"thought": said}
            yield from _nodes(child, depth + 1)


def _chained(chain: list[Any]) -> list[Json]:
    """A chain of nodes as a tree without branches."""
    below: list[Json] = []
    for node in reversed(chain):
        below = [{**mapping(node), "children": below}]
    return below


def _details(detail: Json, depth: int = 0) -> Iterator[Node]:
    """The nodes of a prediction's details."""
    for each in map(mapping, items(detail.get("next"))):
        message = each.get("message")
        if isinstance(message, dict):
            called = {"name": text(message.get("name")), "arguments": arguments(message.get("arguments"))}
            yield depth, {**called, "response": text(message.get("response"))}
        elif each.get("role") == "tool":
            # The published predictions hold the beginning of each record's text only.
            named = re.search(r"'name': '([^']+)'", text(message))
            yield depth, {"name": named[1] if named else "", "arguments": {}, "response": text(message)}
        elif text(message) and each.get("role") == "assistant":
            yield depth, {"thought": text(message)}
        yield from _details(each, depth + 1)


FORMATS = (
    Format("smolagents", "steps with step_number and model_output", _is_smolagents, _read_smolagents),
    Format("stable_tool_bench answer", "answer_generation, forward_args", _is_answer, _read_answer),
    Format(
        "stable_tool_bench predictions", "answer.answer_details by query", _is_predictions, _read_predictions
    ),
)
