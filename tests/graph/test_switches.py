"""Off is as if the mechanism had nothing to say, prompt for prompt; both ways of proposing do the same."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import pytest

from forethought.nodes.support.intra_reflection import evaluation_of
from forethought.prompts.replies import AnswerDraft
from forethought.state.context import Context
from tests.support.agent import Drive, Driven, Script, World, broken, kind_of
from tests.support.exchange import ROLE, SeenRequest
from tests.support.replies import answer, ask_replan, call, diagnosis, finish, plan, revision, sub, verdict
from tests.support.strict_subset import gemini_faults, openai_faults

Json = dict[str, Any]
KIND = "ineffective_tool_selection"
WEAK = answer("weak", score=4, evaluation="unsupported")


def story(move: Json | None = None, *, fails: bool = True, replans: bool = True, **replies: Any) -> Script:
    """A failed call, a new plan, a round that does not pass, and a second task; every call is made with
    `move`."""
    made = move or {}
    tried = [call("bad", **made)] if fails else []
    asked = [ask_replan()] if replans else [call("b", **made)]
    others = [plan(sub("c", ["a"]))] if replans else []
    values: Json = {
        "plans": [plan(sub("a"), sub("b", ["a"])), *others, plan(sub("d")), plan(sub("e"))],
        "moves": {
            "a": [*tried, call("good", **made)],
            "b": asked,
            **{key: [call(key, **made)] for key in "cde"},
        },
        "answers": [WEAK, answer("strong"), answer("next")],
    }
    return Script(**{**values, **replies})


@dataclass(frozen=True)
class Case:
    """A switch off, where the model says what the mechanism would act on, against on, where it does not."""

    off: Json
    on: Json = field(default_factory=dict)
    loud: Json = field(default_factory=dict)
    """The story of the run with the mechanism off."""
    quiet: Json = field(default_factory=dict)
    """The story of the run with the mechanism on."""
    calls: tuple[str, ...] = ()
    """Replies that the mechanism asks for."""
    instructs: tuple[str, ...] = ()
    """Replies whose instructions and schema speak of the mechanism where it is on."""
    words: tuple[str, ...] = ()
    """What these instructions and schemas say, and no prompt where it is off."""


def answers(score: int, evaluation: str) -> list[Json]:
    return [answer(text, score=score, evaluation=evaluation) for text in ("strong", "next")]


CASES = [
    Case(
        {"prospective_reflection": False},
        calls=("PlanDiagnosis", "PlanRevision"),
        words=("prospective reflector", "PlanDiagnosis"),
    ),
    Case(
        {"planning_errors": False},
        instructs=("PlanDiagnosis", "LessonDraft"),
        words=("shallow_content_verification", "Planning errors"),
    ),
    Case(
        {"replanning": False},
        loud={"replans": False},
        quiet={"replans": False},
        instructs=("ToolChoice", "Plan"),
        words=("replan",),
    ),
    Case(
        {"plan_intra": False},
        loud={"plans": [plan(sub("a"), score=5), plan(sub("d"), score=5), plan(sub("e"), score=5)]},
        quiet={"plans": [plan(sub("a")), plan(sub("d")), plan(sub("e"))]},
        instructs=("Plan",),
        words=("the faults of this plan",),
    ),
    Case(
        {"tool_intra": False},
        loud={"move": {"score": 3, "evaluation": "a poor call"}},
        instructs=("ToolChoice",),
        words=("the faults of this move",),
    ),
    Case(
        {"answer_intra": False},
        loud={"answers": answers(2, "unsupported")},
        quiet={"answers": answers(10, "")},
        instructs=("AnswerDraft",),
        words=("the faults of this answer",),
    ),
    Case(
        {"round_reflection": False},
        {"round_reflection": True},
        quiet={"reflections": [{"reflection": evaluation_of(AnswerDraft.model_validate(WEAK))}]},
        calls=("RoundReflection",),
        words=("You look back on one failed try",),
    ),
    Case(
        {"foresight": "off"},
        loud={"move": {"expected": 'the word "gold"', "surprise": "serious"}, "fails": False},
        quiet={"fails": False},
        instructs=("ToolChoice",),
        words=("`surprise`", "`expected`, with a call"),
    ),
    Case(
        {"foresight": "tools"},
        {"foresight": "both"},
        loud={"move": {"expected": "a value"}},
        quiet={"move": {"expected": "a value"}},
        instructs=("ToolChoice", "AnswerDraft"),
        words=("the answer that you expect from the person", "expected_reply"),
    ),
    Case(
        {"foresight_judgement": False},
        {"foresight_judgement": True},
        loud={"move": {"expected": "a value"}},
        quiet={"move": {"expected": "a value"}},
        calls=("ForesightVerdict",),
        words=("You compare what an agent expected",),
    ),
]


async def told(drive: Drive, script: Script, **switches: Any) -> Driven:
    """The story, with all that can be compared word for word."""
    world = World({"bad": [broken("locked")]})
    switches = {"max_tokens": None, "forced_replans": (), **switches}
    out: Driven = await drive(script, world, **switches)
    await out.go("and then?")
    assert out.status == "answered"
    return out


def prompts(out: Driven, without: Sequence[str] = (), changing: Sequence[str] = ()) -> list[Any]:
    """What was asked but for the replies `without`; of those `changing`, neither instructions nor schema."""
    asked = [(kind_of(seen), seen) for seen in out.requests]
    return [
        (kind, ROLE.sub("", seen.messages[1][1])) if kind in changing else (kind, seen.messages, seen.schema)
        for kind, seen in asked
        if kind not in without
    ]


def whole(seen: SeenRequest) -> str:
    """A request with its schema."""
    return json.dumps(seen.body, ensure_ascii=False)


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, *case.off.items())))
async def test_off_is_as_if_the_mechanism_had_nothing_to_say(drive: Drive, case: Case) -> None:
    off = await told(drive, story(**case.loud), **case.off)
    on = await told(drive, story(**case.quiet), **case.on)
    assert set(case.calls) <= {*on.kinds, "PlanRevision"}
    assert prompts(off, (), case.instructs) == prompts(on, case.calls, case.instructs)
    for word in case.words:
        assert any(word in whole(seen) for seen in on.requests), f"where it is on, {word!r} is said"
        assert not any(word in whole(seen) for seen in off.requests)


def test_every_switch_is_compared() -> None:
    switches = {
        name
        for name, field in Context.model_fields.items()
        if bool in (field.annotation, *get_args(field.annotation))
    }
    memories = {"short_term_memory", "long_term_memory"}  # below: what they hold is never nothing
    compared = {name for case in CASES for name in case.off}
    in_auto = {"first_look", "signs", "answer_checks", "experience"}
    assert switches == (memories | compared | in_auto | {"approve_plan"}) - {"foresight"}


NOTES = {"name": "notes.txt", "data": base64.b64encode(b"Order 7 costs 5. Order 8 was cancelled.").decode()}
SIGNED = {"task": "Add the invoices, unless an order was cancelled.", "files": [NOTES]}


async def test_without_a_first_look_the_files_are_named_and_their_signs_unknown(drive: Drive) -> None:
    on = await drive(Script(), task=SIGNED, effort="auto", thread="on")
    off = await drive(Script(), task=SIGNED, effort="auto", first_look=False)
    assert "Order 7 costs 5." in on.asked("Plan")[0].text
    assert not any("Order 7 costs 5." in seen.text for seen in off.requests)
    assert "notes.txt" in off.asked("Plan")[0].text
    assert [file["signs"] for file in on.state["look"]["files"]] == [1]
    assert off.state["look"] == {"files": [], "unseen": 0}


async def test_without_signs_the_files_are_shown_and_no_prompt_speaks_of_signs(drive: Drive) -> None:
    off = await drive(Script(), task=SIGNED, effort="auto", signs=False)
    assert "Order 7 costs 5." in off.asked("Plan")[0].text
    assert not any("[sign: " in whole(seen) for seen in off.requests)


async def test_without_checks_an_answer_is_scored_unless_that_is_off_too(drive: Drive) -> None:
    for scored in (None, False):
        out = await drive(
            Script(), effort="auto", answer_checks=False, answer_intra=scored, thread=str(scored)
        )
        fields = set(out.asked("AnswerDraft")[0].schema["properties"])
        assert fields == {"findings", "answer", "used_steps", *(["defects"] if scored is None else [])}


NUMBERS = re.compile(r'(?<=[Ss]tep )\d+|(?<=step=")\d+|(?<=number=")\d+|(?<=# What is left\n).*')


def numberless(seen: SeenRequest) -> list[str]:
    """The messages without the numbers of steps and what is left, which run on over rounds and attempts."""
    return [NUMBERS.sub("N", text) for _, text in seen.messages]


async def test_without_long_term_memory_a_round_begins_as_the_first_did(drive: Drive) -> None:
    """MIRROR's ablation: nothing of the old round is shown, and what failed may be tried again."""
    world = World({"bad": [broken("locked")]})
    script = Script(
        plans=2 * [plan(sub("a"), sub("b", ["a"])), plan(sub("c", ["a"]))],
        diagnoses=2 * [diagnosis(KIND), diagnosis(), diagnosis()],
        revisions=[revision(sub("a"), sub("b", ["a"]), changes="better")],
        moves={"a": 2 * [call("bad"), call("x", finishes=False), call("y")], "b": [ask_replan()]},
        answers=[answer("weak", [3], score=5, evaluation="unsupported"), answer("worse", score=2)],
    )
    out = await drive(
        script, world, long_term_memory=False, max_tokens=None, max_rounds=2, forced_replans=()
    )  # fmt: skip
    assert world.calls == 2 * ["bad", "x", "y", "c"]
    asked = out.requests
    first, second = asked[: len(asked) // 2], asked[len(asked) // 2 :]
    assert [numberless(seen) for seen in first] == [numberless(seen) for seen in second]
    assert len(out.steps) == 10, "the record keeps every step"
    assert (out.state["answer"], out.state["sources"][0]["n"]) == ("weak", 3)


async def test_without_long_term_memory_an_answer_outlives_a_round_without_a_plan(drive: Drive) -> None:
    script = Script(plans=[plan(sub("a")), plan()], answers=[answer("weak", score=5)])
    out = await drive(script, long_term_memory=False, max_rounds=2)
    assert (out.status, out.state["answer"]) == ("best_effort", "weak")


async def test_without_short_term_memory_an_attempt_begins_as_the_first_did(drive: Drive) -> None:
    world = World({"bad": [broken("locked")]})
    low = call("low", score=3, evaluation="a poor call")
    moves = {"a": [low, call("bad"), call("odd", expected="gold"), call("good")]}
    out = await drive(
        Script(moves=moves, verdicts=[verdict("significant", "look for silver"), verdict()]), world,
        short_term_memory=False, max_revisions=0, max_tokens=None, foresight_judgement=True,
    )  # fmt: skip
    first, *others = [numberless(seen) for seen in out.asked("ToolChoice")]
    assert others[:2] == [first, first]
    assert out.status == "answered"
    for text in (seen.text for seen in out.asked("ToolChoice")):
        assert not any(trace in text for trace in ("a poor call", "locked", "Short-term memory"))


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


async def test_function_calling_and_json_lead_to_the_same_run(drive: Drive) -> None:
    json_run, functions = await drive(*eventful()), await drive(*eventful(), proposals="functions")
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
        assert {"lookup", "python", "finish", "replan"} <= set(seen.functions)
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
