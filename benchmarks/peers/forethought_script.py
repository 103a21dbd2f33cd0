"""The scripted model in Forethought's protocol: replies that fit the schemas sent, whatever they ask.

Independent bins are the calls of one subtask where a plan may carry them, else a subtask each; so are chained
ones, each after the one before. A long task is one subtask. Fields that the script does not know are left
empty, so a new one does no harm.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from benchmarks.peers.task import Task

Json = dict[str, Any]
_SUBTASK = re.compile(r'<subtask id="(\w+)"')


def reply(shape: Json, prompt: str, task: Task) -> Json:
    """The reply of the type that `shape` ({name, schema}) asks for. Raises ValueError."""
    name, schema = shape["name"], shape["schema"]
    if name == "Plan":
        item = _plain(schema["properties"]["subtasks"])["items"]
        subtasks = [
            _fill(item, subtask) for subtask in _subtasks(prompt, task, "calls" in item["properties"])
        ]
        known = [f"{task.k} bins, each looked up once"]
        values = {"known": known, "open": ["the stock of each bin"], "subtasks": subtasks, "answer": ""}
    elif name == "PlanDiagnosis":
        situation = "The task says which bins there are, and the plan looks after each of them."
        values = {"situation": situation, "tool_notes": "The look-up has not failed."}
    elif name == "ToolChoice":
        values = _move(prompt, task)
    elif name == "AnswerDraft":
        answer, steps = task.conclusion(task.seen(prompt)), list(range(1, task.k + 1))
        values = {"answer": answer, "used_steps": steps, "findings": [f"{task.k} bins were looked up"]}
    else:
        raise ValueError(f"the script has no {name}")
    return dict(_fill(schema, values))


def _fill(schema: Json, values: Mapping[str, Any]) -> Any:
    """The emptiest value that fits a strict schema, with `values` for those of an object's fields."""
    if not values and _plain(schema) is not schema:
        return None
    schema = _plain(schema)
    if "enum" in schema:
        return schema["enum"][0]
    if "properties" in schema:
        fields = schema["properties"].items()
        return {name: values[name] if name in values else _fill(part, {}) for name, part in fields}
    return {"array": [], "string": "", "boolean": False, "integer": 0, "number": 0}[schema["type"]]


def _plain(schema: Json) -> Json:
    """The schema without null, where it allows that."""
    if isinstance(schema.get("type"), list):
        return {**schema, "type": schema["type"][0]}
    return schema["anyOf"][0] if "anyOf" in schema else schema


def _subtasks(prompt: str, task: Task, calls: bool) -> list[Json]:
    """What is left to plan, given what a prompt shows. `calls`: whether a subtask may carry some."""
    left = [n for n in range(1, task.k + 1) if n not in task.seen(prompt)]
    if task.shape == "long":
        return [_subtask("all", "Look up one bin after the other.", [])] if left else []
    if task.shape == "independent":
        if calls and left:
            return [_subtask("s", "Look up each bin.", [], *map(task.bin, left))]
        return [_subtask(f"s{n}", f"Look up {task.bin(n)}.", []) for n in left]
    first = [_subtask("s1", f"Look up {task.bin(1)}.", [], task.bin(1))] if 1 in left else []
    later = [n for n in left if n > 1]
    return first + [
        _subtask(f"s{n}", "Look up the bin that the one before names.", [f"s{n - 1}"]) for n in later
    ]


def _subtask(key: str, what: str, after: list[str], *bins: str) -> Json:
    """A planned subtask; each bin that is known already makes a planned call."""
    calls = [{"tool": "look_up", "arguments": {"bin": bin}} for bin in bins]
    return {"id": key, "description": what, "depends_on": after, "expected": "the stock"} | {
        "calls": calls,
        "finishes": True,
    }


def _move(prompt: str, task: Task) -> Json:
    """The next look-up of the subtask in hand, or its end."""
    key = _SUBTASK.findall(prompt)[-1]
    number = next(iter(task.following(prompt, 1)), 0) if key == "all" else int(key[1:])
    if not number:
        return {"thought": "All are seen.", "action": "finish", "result": task.conclusion(task.seen(prompt))}
    if not task.names(prompt, number):
        raise ValueError(f"the prompt of {key} does not name bin {number}")
    call = {"action": "call", "tool": "look_up", "arguments": {"bin": task.bin(number)}}
    thought = "The bin is known and not looked up yet."
    return call | {"thought": thought, "finishes": key != "all", "expected": "the stock of the bin"}
