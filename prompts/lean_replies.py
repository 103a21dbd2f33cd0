"""The lean replies of small models, and their translation to the full types.

A lean reply has at most six fields and no union of schemas. Parsing fills in ids and corrects harmless
mistakes of form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from forethought.models.schema import json_schema
from forethought.models.types import ReplySpec, reply_spec, without
from forethought.prompts.replies import (
    AnswerDraft,
    Check,
    Flag,
    ListOf,
    Plan,
    PlannedSubtask,
    Reply,
    Shown,
    Text,
)
from forethought.tools.base import Tool

Json = dict[str, Any]
REPAIRS = 1
"""How often a bad lean reply is sent back: a small model seldom mends it."""
_NOTHING = re.compile(r"\W*((nothing|none|no|null|n/?a)( is missing)?)?\W*", re.IGNORECASE)
"""Words that mean an empty text."""


def _subtasks(value: Any) -> Any:
    """Subtasks with an id each, that depend on earlier ones only."""
    if not isinstance(value, list):
        return [] if value is None else value
    items, ids = [], list[str]()
    for number, item in enumerate(value, 1):
        item = dict(item) if isinstance(item, dict) else {"description": item}
        key = str(item.get("id") or "").strip()
        key = key if key and key not in ids else f"s{number}"
        after = item.get("depends_on")
        kept = [name for name in after if name in ids] if isinstance(after, list) else []
        items.append({**item, "id": key, "depends_on": kept})
        ids.append(key)
    return items


def _numbers(value: Any) -> list[int]:
    """The numbers in a list of numbers or of texts such as 'step 2'."""
    return [int(number) for number in re.findall(r"\d{1,9}", str(value))]


class LeanSubtask(Reply):
    """A subtask of a lean plan."""

    id: str
    description: Shown
    depends_on: ListOf[str] = Field(default_factory=list)


class LeanPlan(Reply):
    """A plan, or the answer if no tool is needed."""

    subtasks: Annotated[list[LeanSubtask], BeforeValidator(_subtasks)]
    answer: Text = ""


class LeanMove(Reply):
    """A worker's move: `action` is a tool's name, finish or replan."""

    thought: Text = ""
    action: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    finishes: Flag = False
    result: Text = ""


class LeanAnswer(Reply):
    """The answer, after the gaps in it."""

    missing: Text = ""
    answer: Shown
    used_steps: Annotated[list[int], BeforeValidator(_numbers)] = Field(default_factory=list)


def lacking(missing: Any) -> str:
    """The gap that a model names; '' also if it writes that nothing is missing."""
    text = missing.strip() if isinstance(missing, str) else ""
    return "" if _NOTHING.fullmatch(text) else text


def _lean(spec: ReplySpec[Any], name: str, parse: Any) -> ReplySpec[Any]:
    return replace(spec, name=name, parse=lambda value: parse(spec.parse(value)), repairs=REPAIRS)


def lean_plan_spec(*, answers: bool) -> ReplySpec[Plan]:
    """The spec of a lean plan. `answers`: the planner may answer in place of a plan."""
    spec = reply_spec(LeanPlan) if answers else without(reply_spec(LeanPlan), "answer")

    def full(lean: LeanPlan) -> Plan:
        subtasks = [PlannedSubtask(**subtask.model_dump()) for subtask in lean.subtasks]
        return Plan(subtasks=subtasks, answer=lean.answer, defects=[])

    return _lean(spec, "Plan", full)


def lean_answer_spec(*, mends: bool) -> ReplySpec[AnswerDraft]:
    """The spec of a lean answer. `mends`: the work that is missing can still be done."""

    def full(lean: LeanAnswer) -> AnswerDraft:
        gap = lacking(lean.missing)
        checks = [Check(about=gap, ok="no")] if gap else []
        work = f"Find out: {gap}" if gap and mends else ""
        return AnswerDraft(
            checks=checks, answer=lean.answer, work=work, used_steps=lean.used_steps, defects=[]
        )

    return _lean(reply_spec(LeanAnswer), "AnswerDraft", full)


def lean_move_schema(tools: Mapping[str, Tool], actions: list[str]) -> Json:
    """The schema of a LeanMove: `arguments` may hold each argument that one of the tools takes."""
    raw = json_schema(LeanMove)
    known: Json = {}
    for tool in tools.values():
        for name, entry in json_schema(tool.arguments).get("properties", {}).items():
            known.setdefault(name, _plain(entry))
    properties = {name: {"type": entry["type"]} for name, entry in raw["properties"].items()}
    properties["action"] = {"type": "string", "enum": [*tools, *actions]}
    properties["arguments"] = {"type": "object", "properties": known, "additionalProperties": False}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _plain(entry: Json) -> Json:
    """An argument's schema as one type without words; anything if it has several."""
    options = [option for option in entry.get("anyOf", [entry]) if option.get("type") != "null"]
    if len(options) != 1 or not isinstance(kind := options[0].get("type"), str):
        return {}
    plain: Json = {"type": kind}
    plain |= {"enum": options[0]["enum"]} if "enum" in options[0] else {}
    return plain | ({"items": _plain(options[0].get("items", {}))} if kind == "array" else {})


def full_move(value: Any, actions: tuple[str, ...]) -> Json:
    """A LeanMove as the fields of a ToolChoice."""
    move = dict(value) if isinstance(value, dict) else {}
    action = str(move.get("action") or "")
    if action in actions:
        return {**move, "reason": move.get("reason") or move.get("result")}
    return move if action == "call" else {**move, "action": "call", "tool": action}


def example_move(tools: Mapping[str, Tool]) -> Json:
    """A move for the prompt, a call of the first tool; {} without tools."""
    if not tools:
        return {}
    name, tool = next(iter(tools.items()))
    schema = json_schema(tool.arguments)
    arguments = dict.fromkeys(schema.get("required", ()), "...")
    return {"thought": "...", "action": name, "arguments": arguments, "finishes": False, "result": ""}
