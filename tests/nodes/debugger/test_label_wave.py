"""Which steps are labelled together: the first alone, then side by side, and none beyond the budget."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import pytest

from forethought.knowledge.error_taxonomy import load_taxonomy
from forethought.nodes.debugger.budget import exhausted, reserve_tokens
from forethought.nodes.debugger.messages import PROMPT_CHARS, critical_messages, label_messages
from forethought.state.debugger import DebuggerContext
from tests.support.debugging import Debug, Reader, asked_step, labels, trajectory
from tests.support.model_server import Reply, SeenRequest


async def test_the_first_step_goes_alone_and_the_others_side_by_side(debug: Debug) -> None:
    reader = Reader(seconds=0.05)
    out = await debug(trajectory(8), reader, max_parallel=4)
    asked = [asked_step(seen) for seen in out.asked("StepLabels")]
    assert asked[0] == 1
    assert sorted(asked[1:5]) == [2, 3, 4, 5]
    assert sorted(asked[5:]) == [6, 7, 8]
    assert reader.widest == 4
    assert set(out["labels"]) == {str(n) for n in range(1, 9)}
    assert out["wave"] == []


async def test_thirty_steps_are_labelled_in_under_five_seconds_at_half_a_second_a_call(debug: Debug) -> None:
    reader = Reader(seconds=0.5)
    started = time.monotonic()
    out = await debug(trajectory(30), reader, max_parallel=16)
    seconds = time.monotonic() - started
    assert len(out["labels"]) == 30
    assert out.kinds.count("StepLabels") == 30
    print(f"30 steps and stage 2: {seconds:.2f} s")
    assert seconds < 5


async def test_the_prompts_of_steps_share_their_beginning(debug: Debug) -> None:
    out = await debug(trajectory(30))
    texts = [seen.text for seen in out.asked("StepLabels")]
    shares = []
    for one, other in pairwise(texts):
        common = next((at for at, pair in enumerate(zip(one, other, strict=False)) if len(set(pair)) > 1), 0)
        shares.append(common / len(other))
    print(f"shared beginning: {min(shares):.1%} of a prompt at least")
    assert min(shares) >= 0.8
    schemas = {str(seen.schema) for seen in out.asked("StepLabels")}
    assert len(schemas) == 1


async def test_a_spent_budget_ends_stage_1_and_leaves_stage_2_its_share(debug: Debug) -> None:
    def dear(seen: SeenRequest) -> Reply:
        return Reply(labels(asked_step(seen)), prompt_tokens=20_000)

    reader = Reader({1: {}}, {"StepLabels": dear})
    out = await debug(trajectory(20), reader, max_tokens=100_000, max_parallel=16)
    assert out.kinds.count("StepLabels") == 4, "one, and as many as the rest of the budget allows"
    assert out["status"] == "found"
    assert set(out["labels"]) == {"1", "2", "3", "4"}
    assert "the budget of 100000 tokens" in out["label_problems"]["5"]
    assert "16 of 20 steps were not labelled" in out["notes"][0]


async def test_a_long_run_is_shown_by_windows(debug: Debug) -> None:
    out = await debug(trajectory(120), Reader({95: {"planning": "impossible_action"}}), window=20)
    assert len(out["labels"]) == 120
    assert any("120 steps" in note and "windows of 20" in note for note in out["notes"])
    by_step = {asked_step(seen): seen.messages[1][1] for seen in out.asked("StepLabels")}
    assert "recalled fact number 51" in by_step[51]
    assert "recalled fact number 90" not in by_step[51], "a far step is one line"
    assert "step 90: open drawer 90" in by_step[51]
    (last,) = out.asked("CriticalError")
    assert "recalled fact number 95" in last.text, "steps with errors are whole"
    assert "recalled fact number 96" in last.text, "and so are their neighbours"
    assert "recalled fact number 60" not in last.text
    assert "step 60: open drawer 60" in last.text


def test_prompts_of_500_full_steps_stay_within_bounds() -> None:
    part = "word " * 800
    run = trajectory(500, changes={n: {"observation": part, "given": part} for n in range(1, 501)})
    context, taxonomy = DebuggerContext.model_validate({}), load_taxonomy()
    for number in (1, 251, 500):
        assert len(label_messages(run, number, context, taxonomy)[1].text) < PROMPT_CHARS + 150_000
    assert len(critical_messages(run, {}, context, taxonomy)[1].text) < PROMPT_CHARS + 150_000


@pytest.mark.parametrize(
    ("spent", "limits", "said"),
    [
        ({"input_tokens": 900, "output_tokens": 100}, {"max_tokens": 1000}, "1000 tokens is spent"),
        ({"input_tokens": 900, "output_tokens": 99}, {"max_tokens": 1000}, ""),
        ({"usd": 0.5}, {"max_usd": 0.5}, "0.5 dollars is spent"),
        ({"usd": 0.4}, {"max_usd": 0.5}, ""),
        ({"input_tokens": 10**9}, {"max_tokens": None}, ""),
    ],
)
def test_what_is_spent(spent: Any, limits: dict[str, Any], said: str) -> None:
    context = DebuggerContext.model_validate(limits)
    why = exhausted({"usage": {"label": spent}}, context)
    assert why.endswith(said) if said else not why


@pytest.mark.parametrize(("text", "a_character"), [("x", 1 / 3.5), ("观", 1.2)])
def test_the_run_in_any_script_is_left_room_in_stage_2(text: str, a_character: float) -> None:
    run = trajectory(1, changes={1: {"observation": text * 3_000}})
    bare = reserve_tokens(trajectory(1, changes={1: {"observation": ""}}), DebuggerContext())
    more = reserve_tokens(run, DebuggerContext()) - bare
    assert more == pytest.approx(3_000 * a_character, abs=2)


async def test_megabytes_in_one_observation_are_cut_and_said_so(debug: Debug) -> None:
    huge = {2: {"observation": "drawer 2 holds " + "x" * 3_000_000 + " the last words"}}
    started = time.monotonic()
    out = await debug(trajectory(3, changes=huge), Reader({2: {"system": "environment_error"}}))
    assert time.monotonic() - started < 10
    assert max(len(seen.text) for seen in out.server.requests) < 60_000
    assert "characters left out" in out.asked("StepLabels")[0].text
    assert any("cut in step 2" in note for note in out["notes"])
