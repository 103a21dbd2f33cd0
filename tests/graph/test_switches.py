"""Each switch off removes exactly its calls and leaves no trace; both ways of proposing do the same."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.support.agent import Drive, Driven, Script, World, broken
from tests.support.replies import answer, ask_replan, call, diagnosis, finish, plan, revision, sub
from tests.support.strict_subset import gemini_faults, openai_faults

KIND = "ineffective_tool_selection"


def eventful() -> tuple[Script, World]:
    """A run in which every mechanism has something to do."""
    world = World({"bad": [broken("locked")]})
    script = Script(
        plans=[
            plan(sub("a"), score=5),
            plan(sub("a"), sub("b", ["a"])),
            plan(sub("c", ["a"])),
            plan(sub("d")),
        ],
        diagnoses=[diagnosis(KIND), diagnosis()],
        revisions=[revision(sub("a"), sub("b", ["a"]))],
        moves={
            "a": [call("low", score=3), call("bad"), call("good")],
            "b": [ask_replan(), finish("done without")],
        },
        answers=[answer("weak", score=2), answer("strong")],
        exact=True,
    )
    return script, world


async def run(drive: Drive, **switches: Any) -> Driven:
    """The eventful run with `switches`."""
    out: Driven = (
        await drive(*eventful(), round_reflection=True, **switches)
        if "round_reflection" not in switches
        else await drive(*eventful(), **switches)
    )
    return out


OFF: list[tuple[dict[str, Any], tuple[str, ...], tuple[str, ...]]] = [
    (
        {"prospective_reflection": False},
        ("PlanDiagnosis", "PlanRevision"),
        ("prospective reflector", "evidence of"),
    ),
    ({"planning_errors": False}, (), ("shallow_content_verification",)),
    ({"short_term_memory": False}, (), ("Short-term memory",)),
    ({"long_term_memory": False}, ("RoundReflection",), ("Long-term memory", "reflected upon")),
    ({"round_reflection": False}, ("RoundReflection",), ("reflected upon",)),
    ({"foresight": "off"}, (), ("Foresight", "surprise", "`expected`: for a call")),
    ({"tool_intra": False}, (), ("what is wrong with this move",)),
    ({"plan_intra": False}, (), ("what is wrong with this plan",)),
    ({"answer_intra": False}, ("RoundReflection",), ("what is wrong with this answer",)),
    ({"replanning": False}, (), ("`replan`",)),
]


@pytest.mark.parametrize(("switch", "calls", "traces"), OFF, ids=[next(iter(item[0])) for item in OFF])
async def test_a_switch_off_takes_its_calls_and_traces_away(
    drive: Drive, switch: dict[str, Any], calls: tuple[str, ...], traces: tuple[str, ...]
) -> None:
    on, off = await run(drive), await run(drive, **switch)
    assert off.status == "answered"
    for kind in calls:
        assert kind in on.kinds
        assert kind not in off.kinds
    for trace in traces:
        assert any(trace in seen.text for seen in on.requests), f"the eventful run must show {trace!r}"
        assert not any(trace in seen.text for seen in off.requests)


@pytest.mark.parametrize(
    ("switch", "fewer"),
    [
        ({"prospective_reflection": False}, {"PlanDiagnosis": None, "PlanRevision": None}),
        ({"tool_intra": False}, {"ToolChoice": 1}),
        ({"round_reflection": False}, {"RoundReflection": 1}),
    ],
    ids=["prospective_reflection", "tool_intra", "round_reflection"],
)
async def test_the_other_calls_stay_as_many(
    drive: Drive, switch: dict[str, Any], fewer: dict[str, int | None]
) -> None:
    """In a run whose moves, but for one low score, do not depend on the switch."""

    def script() -> Script:
        return Script(
            plans=[plan(sub("a")), plan(sub("b"))],
            moves={"a": [call("x", score=3), call("x")]},
            answers=[answer(score=2), answer()],
        )

    on = Counter((await drive(script(), round_reflection=True)).kinds)
    off = Counter((await drive(script(), **{"round_reflection": True, **switch})).kinds)
    for kind in on | off:
        removed = fewer.get(kind, 0)
        assert off[kind] == (0 if removed is None else on[kind] - removed), kind


async def test_function_calling_and_json_lead_to_the_same_run(drive: Drive) -> None:
    json_run, functions = await run(drive), await run(drive, proposals="functions")
    assert json_run.kinds == functions.kinds
    assert json_run.world.calls == functions.world.calls
    timeless = [
        [{k: v for k, v in step.items() if k not in ("seconds", "usage")} for step in out.steps]
        for out in (json_run, functions)
    ]
    assert timeless[0] == timeless[1]
    assert functions.status == "answered"
    for seen in functions.asked("ToolChoice"):
        assert seen.method == "functions"
        assert {"lookup", "read_file", "finish", "replan"} <= set(seen.functions)
        assert "Call exactly one function" in seen.text


@pytest.mark.parametrize(("proposals", "every"), [("json", True), ("functions", False)])
async def test_every_schema_sent_fits_what_hosted_models_accept(
    drive: Drive, proposals: str, every: bool
) -> None:
    """Of the tool agent's, tests/prompts/test_golden_schemas.py checks every combination."""
    names = ("replanning", "plan_intra", "tool_intra", "answer_intra", "planning_errors")
    switches = dict.fromkeys(names, every)
    out = await drive(
        *eventful(),
        foresight="tools" if every else "off",
        proposals=proposals,
        round_reflection=True,
        **switches,
    )
    assert out.status == "answered"
    for seen in out.requests:
        functions = [tool["function"] for tool in seen.body.get("tools", [])]
        assert all(function["strict"] for function in functions)
        shapes = [function["parameters"] for function in functions] or [seen.schema]
        for shape in shapes:
            assert openai_faults(shape) == []
            assert gemini_faults(shape) == []
        if not functions:
            assert seen.body["response_format"]["json_schema"]["strict"] is True
