"""A model commits to what it writes first: in every reply what was found stands before what rests on it."""

from __future__ import annotations

import base64
from typing import Any

from langgraph.store.memory import InMemoryStore

from tests.support.agent import Drive, Script, World, broken, kind_of
from tests.support.exchange import Answer, SeenRequest
from tests.support.replies import answer, call, diagnosis, plan, revision, sub

Orders = dict[str, str]
_SUBTASK = "id description tool depends_on expected"
_DEFECT = "evidence defect effect mend"
ONLINE: Orders = {
    "Plan": "known open subtasks discard defects",
    "Plan.subtasks": _SUBTASK,
    "Plan.defects": _DEFECT,
    "PlanDiagnosis": "situation tool_notes errors",
    "PlanDiagnosis.errors": "evidence risk error_type",
    "PlanRevision": "changes subtasks",
    "PlanRevision.subtasks": _SUBTASK,
    "ToolChoice": "thought surprise action tool arguments finishes result reason expected defects",
    "ToolChoice.defects": _DEFECT,
    "DocumentAnswer": "details context brief",
    "ForesightVerdict": "difference deviation reflection replan",
    "AnswerDraft": "findings answer used_steps defects expected_reply",
    "AnswerDraft.defects": _DEFECT,
    "RoundReflection": "reflection",
    "LessonDraft": "steps failed why worked error_type",
}
"""The fields of each reply of the agent, and of the objects in its lists."""


def orders(name: str, schema: Any) -> Orders:
    """The fields of `schema`, and of the objects in its lists, in the order in which they are asked for."""
    found = {name: " ".join(schema["properties"])}
    for key, value in schema["properties"].items():
        for option in value.get("anyOf", [value]):
            if "properties" in option.get("items", {}):
                found[f"{name}.{key}"] = " ".join(option["items"]["properties"])
    return found


def asked_for(requests: list[SeenRequest]) -> Orders:
    """The orders of all replies that were asked for."""
    found: Orders = {}
    for seen in requests:
        found |= orders(seen.reply_name, seen.schema)
    return found


async def test_the_agents_replies(drive: Drive) -> None:
    script = Script(
        plans=[plan(sub("a"), sub("read")), plan(sub("b"))],
        diagnoses=[diagnosis("ineffective_tool_selection"), diagnosis()],
        revisions=[revision(sub("a"), sub("read"))],
        moves={
            "a": [call("bad"), call("x", expected="a word")],
            "read": [call(tool="read_file", path="notes.txt", question="What is it?")],
        },
        answers=[answer(score=3), answer()],
    )

    def policy(seen: SeenRequest) -> Answer:
        if kind_of(seen) == "DocumentAnswer":
            return {"details": "text", "context": "a line", "brief": "a note"}
        return script(seen)

    out = await drive(
        policy,
        World({"bad": [broken()]}),
        task={"task": "do it", "files": [{"name": "notes.txt", "data": base64.b64encode(b"text").decode()}]},
        store=InMemoryStore(),
        round_reflection=True,
        lessons=True,
        foresight="both",
        foresight_judgement=True,
    )
    assert asked_for(out.requests) == ONLINE


async def test_a_native_function_takes_its_defects_last(drive: Drive) -> None:
    out = await drive(Script(), proposals="functions")
    for tool in out.asked("ToolChoice")[0].body["tools"]:
        fields = list(tool["function"]["parameters"]["properties"])
        assert (fields[0], fields[-1]) == ("thought", "defects")
