"""Records of steps that are no messages: smolagents' memory, StableToolBench's answers and predictions.

StableToolBench's `win` only says that a run called `Finish` with an answer, so that its outcome is not known.
A tree of DFSDT is read in the order in which it was searched; where the search goes back, the step before
says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from forethought.trajectories.format import Format
from forethought.trajectories.layout import Layout
from forethought.trajectories.message_forms import content
from forethought.trajectories.types import Loaded
from forethought.trajectories.values import Json, arguments, at, first, items, mapping, text


def _steps(value: Any) -> list[Json]:
    return [mapping(step) for step in items(value) or items(at(value, "steps"))]


def _is_smolagents(value: Any) -> bool:
    steps = _steps(value)
    acted = any("step_number" in step and step.keys() & {"model_output", "observations"} for step in steps)
    return acted and all(
        step.keys() & {"step_number", "task", "system_prompt", "plan", "output"} for step in steps
    )


def _read_smolagents(value: Any, name: str) -> list[Loaded]:
    steps = _steps(value)
    last, limited = steps[-1], any(at(step, "error.type") == "AgentMaxStepsError" for step in steps)
    messages = [message for step in steps for message in _messages_of(step)]
    if not any(message["role"] == "system" for message in messages):
        asked = next(filter(None, (items(step.get("model_input_messages")) for step in steps)), [])
        messages[:0] = [each for each in asked if at(each, "role") == "system"]
    answered = last.get("is_final_answer") is True or limited
    output = at(value, "output") or last.get("output") or (last.get("action_output") if answered else "")
    state = {"state": "max_steps"} if limited else {}
    return [_SMOLAGENTS.run({**state, **mapping(value), "messages": messages, "output": text(output)}, name)]


def _messages_of(step: Json) -> Iterator[Json]:
    """A step as messages: what was asked, planned or done. A call that failed stands in the model's only."""
    if step.get("system_prompt"):
        yield {"role": "system", "content": step["system_prompt"]}
    elif "task" in step:
        yield {"role": "user", "content": step["task"]}
    elif "plan" in step:
        yield {"role": "assistant", "thought": step["plan"]}
    elif "step_number" in step:
        calls = items(step.get("tool_calls")) or items(at(step, "model_output_message.tool_calls"))
        said = content(first(step, "model_output", "action_output"))
        yield {"role": "assistant", "content": said, "tool_calls": calls}
        seen, kind = (text(step.get("observations")), text(at(step, "error.message"))), at(step, "error.type")
        broke = bool(re.search("Tool|Execution", text(kind)))
        yield {"role": "tool", "content": "\n".join(filter(None, seen)), "is_error": broke}


def _answer(entry: Json) -> Json:
    """A file of a method's answer: the last chain of CoT, or the whole tree of DFSDT."""
    made, tries = mapping(entry["answer_generation"]), items(entry.get("trys"))
    root = {"children": _chained(items(at(tries[-1], "chain")))} if tries else mapping(at(entry, "tree.tree"))
    system = [each for each in items(at(made, "train_messages.0")) if at(each, "role") == "system"]
    limits = mapping(entry.get("forward_args"))
    limit = next((key for key in ("max_query_count", "single_chain_max_step") if key in limits), "max")
    named = re.match(r"\d+(?=_)", entry["file"])  # 588_CoT@1.json
    run = {**made, "id": None, "task_id": named[0] if named else "", "tools": made.get("function")}
    return _searched_run(run, _nodes(root), system, limit)


def _prediction(entry: Json) -> Json:
    """One run of a file of converted predictions, which has them by task."""
    key, details = entry["key"], {"next": items(at(entry, "answer.answer_details"))}
    run = {"query": entry["query"], "final_answer": at(entry, "answer.final_answer"), "task_id": key}
    run |= {"id": f"{entry['file']}-{key}", "tools": entry.get("available_tools")}
    return _searched_run(run, _details(details))


def _searched_run(run: Json, nodes: Iterator[Node], system: Sequence[Any] = (), limit: str = "") -> Json:
    messages = [*system, {"role": "user", "content": run["query"]}, *_searched(nodes)]
    calls = [call for message in messages for call in items(message.get("tool_calls"))]
    return {
        **run,
        "messages": messages,
        "environment": "stable_tool_bench",
        "answer": text(arguments(run.get("final_answer")).get("final_answer")),
        "ended": "" if any(call["name"] == "Finish" for call in calls) else limit,
    }


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


_SMOLAGENTS = Layout("smolagents", "", answer="output", ended="state", limits="max_steps")
_STABLE_TOOL_BENCH: dict[str, Any] = {"task": "query", "answers": False, "limits": "max"}
FORMATS = (
    Format("smolagents", "steps with step_number and model_output", _is_smolagents, _read_smolagents),
    Layout("stable_tool_bench", "answer_generation.query forward_args", adapt=_answer, **_STABLE_TOOL_BENCH),
    Layout(
        "stable_tool_bench", "answer.answer_details query", runs="*", adapt=_prediction, **_STABLE_TOOL_BENCH
    ),
)
