"""The debugger's graph: algorithm 1's order, resuming, and a thread that is used again."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from forethought.graph.debugger import build_debugger
from forethought.models.types import TransportError
from forethought.state.debugger import DebuggerContext
from tests.support.debugging import (
    GOLD,
    Debug,
    Reader,
    TruthfulWorld,
    asked_step,
    critical,
    labels,
    trajectory,
)
from tests.support.model_server import Answer, Fault, SeenRequest

RUN = trajectory(4)
ERRORS = {2: {"planning": "constraint_ignorance"}}
BEHIND = "Look on the shelf, then behind it."
REFINED = {"CriticalError": [critical(2), critical(2, correction_guidance=BEHIND)]}


async def nodes(out: Any) -> list[str]:
    """The nodes that ran, in order, of each superstep once."""
    history = [state async for state in out.graph.aget_state_history(out.config)]
    ran = [state.next for state in reversed(history) if state.next]
    return [names[0] for names in ran if names[0] != "__start__"]


async def test_the_stages_come_in_the_order_of_algorithm_1(debug: Debug) -> None:
    world = TruthfulWorld(RUN, {2: [False, True]})
    chosen: dict[str, Any] = {"method": "agentdebug", "rerun": "agentdebug", "expect": GOLD}
    out = await debug(RUN, Reader(ERRORS, REFINED), rollouts=lambda *_: world, **chosen)
    assert await nodes(out) == [
        "take",
        "label_wave",
        "label_step",
        "label_wave",
        "label_step",
        "label_wave",
        "find_critical",
        "rerun",
        "judge",
        "locate_again",
        "rerun",
        "judge",
    ]
    assert out.kinds == ["StepLabels"] * 4 + ["CriticalError"] * 2
    assert world.calls == [(2, "Look on the shelf first."), (2, BEHIND)]
    assert out["status"] == "fixed"
    assert [(branch["attempt"], branch["success"]) for branch in out["branches"]] == [(1, False), (2, True)]
    assert json.loads(json.dumps(out.state, allow_nan=False)) == out.state, "all that is kept is plain JSON"


async def test_after_a_failed_re_run_the_error_is_located_again_with_what_the_attempt_showed(
    debug: Debug,
) -> None:
    """A.5: the prompt holds the index of the attempt and the instructions that were issued before."""
    world = TruthfulWorld(RUN, {1: [True]})
    earlier = critical(1, correction_guidance=BEHIND)
    reader = Reader(ERRORS, {"CriticalError": [critical(2), critical(0, error_type="no_error"), earlier]})
    out = await debug(RUN, reader, rollouts=lambda *_: world, rerun="agentdebug", expect=GOLD)
    assert world.calls == [(2, "Look on the shelf first."), (1, BEHIND)]
    assert (out["status"], out["critical"]["critical_step"]) == ("fixed", 1)
    assert [(branch["from_step"], branch["guidance"]) for branch in out["branches"]] == [
        (2, ["Look on the shelf first."]),
        (1, [BEHIND]),
    ]
    first, again, mended = (seen.messages[1][1] for seen in out.asked("CriticalError"))
    assert "Debug attempt" not in first
    assert "Debug attempt 2" in again
    assert "from step 2" in again
    assert "Look on the shelf first." in again
    assert "still no key" in again, "the attempt's own answer"
    assert "step 2, planning: constraint_ignorance." in again, "the labels are there too"
    assert "critical_step is 0" not in out.asked("CriticalError")[1].text
    assert "known to have failed" in out.asked("CriticalError")[2].last
    assert mended


async def test_the_head_is_put_back_once_however_much_was_run(debug: Debug) -> None:
    """Each time makes a checkpoint, of which the second would count as a branch of its own."""
    world = TruthfulWorld(RUN, {2: [True, True, True, True, False]})
    chosen: dict[str, Any] = {"method": "counterfactual", "rerun": "agentdebug", "max_reruns": 1}
    out = await debug(RUN, rollouts=lambda *_: world, expect=GOLD, fine_grained=False, **chosen)
    assert (out["status"], world.restored) == ("not_fixed", 1)
    found = await debug(RUN, rollouts=lambda *_: world, expect=GOLD, method="counterfactual")
    assert (found["status"], world.restored) == ("not_found", 2)


@pytest.mark.parametrize("method", ["direct", "binary_search"])
async def test_other_methods_locate_again_in_their_own_way(debug: Debug, method: str) -> None:
    point = {"step": 1, "module": "action", "error_type": "format_error", "reason": "r", "suggestion": "s"}
    replies: Any = {
        "FailurePoint": [point, {**point, "step": 3, "suggestion": "t"}],
        "Salvage": [{"reasoning": "", "saved": False}, {"reasoning": "", "saved": True}],
        "CriticalError": [critical(2), critical(1), critical(2, correction_guidance="t")],
    }
    world = TruthfulWorld(RUN, {})
    options: Any = {"rollouts": lambda *_: world, "rerun": "agentdebug", "expect": GOLD, "max_reruns": 2}
    out = await debug(RUN, Reader(replies=replies), method=method, **options)
    if method == "direct":
        assert world.calls == [(1, "s"), (3, "t")]
        assert "Debug attempt 2" in out.asked("FailurePoint")[1].last
    else:
        assert world.calls == [(2, "Look on the shelf first."), (2, "t")], "the step was found by trying"
        assert "critical_step must be 2" in out.asked("CriticalError")[2].last
        assert out.kinds.count("Salvage") == 2


async def test_without_a_usable_reply_the_last_guidance_is_tried_again(debug: Debug) -> None:
    reader = Reader(ERRORS, {"CriticalError": [critical(2), Fault("refusal")]})
    world = TruthfulWorld(RUN, {2: [False, True]})
    out = await debug(RUN, reader, rollouts=lambda *_: world, rerun="agentdebug", expect=GOLD)
    assert (out["status"], world.calls) == ("fixed", [(2, "Look on the shelf first.")] * 2)
    assert any("retrying with the last guidance" in note for note in out["notes"])


async def test_a_failed_re_run_is_put_aside_and_what_it_changed_outside_is_said(debug: Debug) -> None:
    run = trajectory(4, changes={3: {"changes_world": True}})
    world = TruthfulWorld(run, {})
    out = await debug(
        run, Reader(ERRORS, REFINED), rollouts=lambda *_: world, rerun="agentdebug", expect=GOLD, max_reruns=1
    )
    assert (out["status"], world.restored) == ("not_fixed", 1)
    assert "re-run 1 changed something outside in step 3; undo it by hand if it must not stay" in out["notes"]


@pytest.mark.parametrize("method", ["direct", "brute_force", "binary_search", "counterfactual"])
async def test_without_labels_the_critical_error_is_looked_for_at_once(debug: Debug, method: str) -> None:
    point = {"step": 2, "module": "action", "error_type": "format_error", "reason": "r", "suggestion": "s"}
    reader = Reader(replies={"FailurePoint": [point], "Salvage": [{"reasoning": "", "saved": True}]})
    options: dict[str, Any] = {}
    if method == "counterfactual":
        world = TruthfulWorld(RUN, {2: [True]})
        options = {"rollouts": lambda *_: world, "expect": GOLD, "fine_grained": False}
    out = await debug(RUN, reader, method=method, **options)
    assert await nodes(out) == ["take", "find_critical"]
    assert out["status"] == "found"


async def test_resuming_after_a_crash_repeats_no_label_of_the_failed_one_s_siblings(
    debug: Debug, tmp_path: Path, settings: Any, model_server: Any
) -> None:
    down = True

    def reply(seen: SeenRequest) -> Answer:
        number = asked_step(seen)
        return Fault("503") if down and number == 3 else labels(number)

    def finishing(seen: SeenRequest) -> Answer:
        if seen.reply_name == "StepLabels" and asked_step(seen) != 3 and down:
            time.sleep(0.3)  # they are in flight when step 3 fails
        return Reader(ERRORS, {"StepLabels": reply})(seen)

    server = model_server(finishing)
    made = settings(server, request_retries=0)
    config: Any = {"configurable": {"thread_id": "t"}}
    context = DebuggerContext.model_validate({})
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        graph: Any = build_debugger(made, saver)
        with pytest.raises(TransportError):
            await graph.ainvoke({"trajectory": RUN.model_dump()}, config, context=context)
    assert sorted(asked_step(seen) for seen in server.requests) == [1, 2, 3, 4]
    server.requests.clear()
    down = False
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        graph = build_debugger(made, saver)
        out = await graph.ainvoke(None, config, context=context)
    assert server.names == ["StepLabels", "CriticalError"]
    assert asked_step(server.requests[0]) == 3
    assert set(out["labels"]) == {"1", "2", "3", "4"}
    assert out["usage"]["label"]["calls"] == 4


async def test_a_context_may_be_a_dict_and_is_held_to_the_operators_bounds(
    settings: Any, model_server: Any
) -> None:
    server = model_server(Reader(ERRORS))
    made = settings(server, allowed_models=("openai:scripted",))
    graph: Any = build_debugger(made)
    given = {"trajectory": RUN.model_dump()}
    out = await graph.ainvoke(given, context={"fine_grained": False})
    assert server.names == ["CriticalError"]
    assert out["critical"]["critical_step"] == 2
    with pytest.raises(ValueError, match="model openai:other is not allowed here"):
        await graph.ainvoke(given, context={"model": "openai:other"})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rerun": "agentdebug"}, r"about 5 calls, [\d,]+ tokens, price unknown; at most 5 re-runs$"),
        ({"rerun": "best_of_n"}, r"re-runs until one succeeds or 5,000,000 tokens are spent$"),
        ({"rerun": "best_of_n", "max_tokens": None, "max_reruns": 3}, r"at most 3 re-runs$"),
        ({"method": "counterfactual"}, r"about 9 calls, .* unknown; at most 16 re-runs plus controls$"),
    ],
)
async def test_re_runs_are_announced_before_a_model_is_asked(
    debug: Debug, options: dict[str, Any], said: str
) -> None:
    world = TruthfulWorld(RUN, {1: [True]})
    out = await debug({"thread_id": ""}, rollouts=lambda *_: world, **options)
    told = await out.told({"trajectory": RUN.model_dump(), "expect": GOLD})
    assert re.match(f"estimate: {said}", told[0]), told[0]


async def test_it_streams_what_it_is_at(debug: Debug) -> None:
    out = await debug(RUN, Reader(ERRORS))
    told = [
        event
        async for event in out.graph.astream(
            {"trajectory": RUN.model_dump()},
            {"configurable": {"thread_id": "u"}},
            context=DebuggerContext(),
            stream_mode="custom",
        )
    ]
    assert [event["role"] for event in told] == ["label"] * 4 + ["critical"]
    assert told[0] == {"event": "thinking", "role": "label", "about": "1"}
