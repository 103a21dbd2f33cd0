"""The scripted model in Forethought's protocol: replies that fit the schemas sent, whatever they ask.

Independent bins are a subtask each, chained ones a subtask each that depends on the one before, a long task
is one subtask. Fields that the script does not know are left empty, so a new one does no harm.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from benchmarks.peers.task import Task

Json = dict[str, Any]
_SUBTASK = re.compile(r'<subtask id="(\w+)"')
_THOUGHT = "The bin is known and not looked up yet."


def reply(body: Json, prompt: str, task: Task) -> Json:
    """The assistant's message: one JSON object, or a function call where moves are functions."""
    if "response_format" in body:
        shape = body["response_format"]["json_schema"]
        values = _values(shape["name"], prompt, task, shape["schema"])
        return {"role": "assistant", "content": json.dumps(fill(shape["schema"], values))}
    values = _values("ToolChoice", prompt, task, {})
    name = values["tool"] if values["action"] == "call" else values["action"]
    offered = {tool["function"]["name"]: tool["function"]["parameters"] for tool in body["tools"]}
    given = json.dumps(fill(offered[name], values))
    call = {"id": "call_0", "type": "function", "function": {"name": name, "arguments": given}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def fill(schema: Json, values: Mapping[str, Any], root: Json | None = None) -> Any:
    """The emptiest value that fits a strict schema, with `values` for those of an object's fields."""
    root = root or schema
    if not values and "null" in _kinds(schema):
        return None
    schema = _plain(schema, root)
    if "enum" in schema:
        return schema["enum"][0]
    if "properties" in schema:
        fields = schema["properties"].items()
        return {name: values[name] if name in values else fill(part, {}, root) for name, part in fields}
    return {"array": [], "string": "", "boolean": False, "integer": 0, "number": 0}[_kinds(schema)[0]]


def _kinds(schema: Json) -> list[Any]:
    if "anyOf" in schema:
        return [kind.get("type") for kind in schema["anyOf"]]
    return schema["type"] if isinstance(schema.get("type"), list) else [schema.get("type")]


def _plain(schema: Json, root: Json) -> Json:
    """The schema that a reference, or a choice with null, stands for."""
    if "anyOf" in schema:
        schema = next(kind for kind in schema["anyOf"] if kind.get("type") != "null")
    return root["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _values(name: str, prompt: str, task: Task, schema: Json) -> Json:
    if name == "Plan":
        item = _plain(schema["properties"]["subtasks"], schema)["items"]
        subtasks = [fill(item, subtask, schema) for subtask in _subtasks(prompt, task)]
        known = [f"{task.k} bins, each looked up once"]
        return {"known": known, "open": ["the stock of each bin"], "subtasks": subtasks, "answer": ""}
    if name == "PlanDiagnosis":
        situation = "The task says which bins there are, and the plan looks after each of them."
        return {"situation": situation, "tool_notes": "The look-up has not failed."}
    if name == "ToolChoice":
        return _move(prompt, task)
    if name == "AnswerDraft":
        steps = list(range(1, task.k + 1))
        return {
            "answer": task.conclusion(task.seen(prompt)),
            "used_steps": steps,
            "findings": [f"{task.k} bins were looked up"],
        }
    raise ValueError(f"the script has no {name}")


def _subtasks(prompt: str, task: Task) -> list[Json]:
    if task.shape == "long":
        return [_subtask("all", "Look up one bin after the other.", [])] if task.following(prompt, 1) else []
    chained = task.shape == "chain"
    return [
        _subtask(
            f"s{n}",
            "Look up the bin that the one before names." if chained and n > 1 else f"Look up {task.bin(n)}.",
            [f"s{n - 1}"] if chained and n > 1 else [],
            None if chained and n > 1 else task.bin(n),
        )
        for n in range(1, task.k + 1)
        if n not in task.seen(prompt)
    ]


def _subtask(key: str, what: str, after: list[str], bin: str | None = None) -> Json:
    """A planned subtask; a bin that is known already makes a planned call."""
    call = {"call": {"tool": "look_up", "arguments": {"bin": bin}}} if bin else {}
    return {
        "id": key,
        "description": what,
        "tool": "look_up",
        "depends_on": after,
        "expected": "the stock",
    } | call


def _move(prompt: str, task: Task) -> Json:
    """The next look-up of the subtask in hand, or its end."""
    key = _SUBTASK.findall(prompt)[-1]
    number = min(task.following(prompt, 1), default=0) if key == "all" else int(key[1:])
    move: Json = {"thought": _THOUGHT, "surprise": "none"}
    if not number:
        return move | {"action": "finish", "result": task.conclusion(task.seen(prompt))}
    if not task.names(prompt, number):
        raise ValueError(f"the prompt of {key} does not name bin {number}")
    call = {"action": "call", "tool": "look_up", "arguments": {"bin": task.bin(number)}}
    return move | call | {"finishes": key != "all", "expected": "the stock of the bin"}
