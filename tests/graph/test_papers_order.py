"""With effort=paper every mechanism runs at its paper's moment: the order of one eventful task."""

from __future__ import annotations

import base64
from typing import Any

from forethought.knowledge.planning_errors import load_planning_errors
from tests.support.agent import Drive, Driven, Script, World, broken, kind_of, subtask_of
from tests.support.replies import answer, ask_replan, call, diagnosis, finish, plan, revision, sub

KIND = load_planning_errors(None)[0].name
ORDER = """
Plan            the first scores too low
Plan            revised by its author (MIRROR 3.4)
PlanDiagnosis   before the first step (PreFlect 3.2.2)
PlanRevision    in a second turn (PreFlect 3.2.2)
PlanDiagnosis   of the revised plan
to tools: ready: a
ToolChoice a    scores too low
ToolChoice a    revised by its author (MIRROR 3.4); the call fails
to tools: ready: a
ToolChoice a    with short-term memory of the failure (MIRROR 3.5)
to tools: ready: b
ToolChoice b    asks for a new plan
to planner: At step 3 [b] the acting agent asked for a new plan
Plan            during execution (PreFlect 3.3)
PlanDiagnosis   of every plan
to tools: ready: c
ToolChoice c
to tools: ready: c
ToolChoice c
to tools: ready: c
ToolChoice c
to tools: ready: c
ToolChoice c
to planner: 6 calls were made, and a new plan was due by call 6
Plan            forced (PreFlect A.1)
PlanDiagnosis
to tools: ready: c
ToolChoice c
to answer: no subtask is left
AnswerDraft     scores too low, and facts are missing (MIRROR 3.4)
Plan            of the next round, with long-term memory (MIRROR 3.5)
PlanDiagnosis
to tools: ready: d
ToolChoice d
to answer: no subtask is left
AnswerDraft
"""


def eventful() -> tuple[Script, World]:
    script = Script(
        plans=[
            plan(sub("x"), score=5),
            plan(sub("a")),
            plan(sub("c", ["a"])),
            plan(sub("c", ["a"])),
            plan(sub("d", ["a"])),
        ],
        diagnoses=[diagnosis(KIND), diagnosis()],
        revisions=[revision(sub("a"), sub("b", ["a"]))],
        moves={
            "a": [call("low", score=3), call("bad"), call("good")],
            "b": [ask_replan()],
            "c": [*(call(f"c{n}", finishes=False) for n in range(1, 5)), finish("done")],
        },
        answers=[answer("weak", score=2), answer("strong")],
    )
    return script, World({"bad": [broken("locked")]})


FILE = {"name": "costs.txt", "data": base64.b64encode(b"A 1\nB 2, unless corrected\n").decode()}


async def events(drive: Drive, **switches: Any) -> tuple[Driven, list[str]]:
    """The run, with its model calls and the trigger's decisions in their order."""
    out: Driven = await drive(*eventful(), task=None, **switches)
    lines: list[str] = []
    given = {"task": "Which is dearest?", "files": [FILE]}
    async for update in out.graph.astream(given, out.config, context=out.context, stream_mode="updates"):
        told = len([line for line in lines if not line.startswith(("to ", "asks "))])
        for seen in out.requests[told:]:
            kind = kind_of(seen)
            lines.append(f"{kind} {subtask_of(seen)}" if kind == "ToolChoice" else kind)
        for change in update.values():
            decision = (change or {}).get("decision")
            if decision:
                lines.append(f"to {decision['to']}: {decision['reason']}")
    await out.look()
    return out, lines


async def test_the_papers_order(drive: Drive) -> None:
    out, lines = await events(drive, effort="paper", forced_replans=(4, 6))
    expected = [line.partition("  ")[0] for line in ORDER.strip().splitlines()]
    assert [line[: len(start)] for line, start in zip(lines, expected, strict=True)] == expected
    assert out.status == "answered"
    assert out.state.get("skipped", []) == []
    first = out.asked("Plan")[0].text
    assert "unless corrected" not in first, "no file is looked at"
    assert "# Signs" not in first


async def test_auto_goes_through_the_same_task_with_fewer_calls(drive: Drive) -> None:
    _, paper = await events(drive, effort="paper", forced_replans=(4, 6))
    auto, lines = await events(drive, effort="auto", thread="auto")
    assert auto.status == "answered"
    assert len(lines) < len(paper)
    assert "unless corrected" in auto.asked("Plan")[0].text
