"""The review of a plan, without a graph."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forethought import Settings, review_plan
from tests.support.hasty_clerk import TASK, HastyClerk, fee, price
from tests.support.model_server import ModelServer
from tests.support.replies import diagnosis, sub

SOUND = {"errors": [], "subtasks": []}


async def test_a_flawed_plan_comes_back_revised() -> None:
    model = HastyClerk()
    seen = await review_plan(TASK, ["Find the price.", "Answer."], [price, fee], model=model)
    assert [error["error_type"] for error in seen.errors] == ["insufficient_constraint_verification"]
    assert "2. Find the market's fee with fee." in seen.plan
    assert seen.usage["calls"] == 2
    assert not seen.problem
    _, prompt = model.asked[0]
    assert "part_2 [pending, after part_1]\nAnswer." in prompt
    assert "price(item: string): The price of an item in Arden." in prompt


async def test_a_sound_plan_comes_back_as_it_was() -> None:
    seen = await review_plan(TASK, "First this, then that.", model=HastyClerk(replies={"reflector": SOUND}))
    assert (seen.errors, seen.plan, seen.usage["calls"]) == ([], "First this, then that.", 1)


async def test_tools_may_come_in_any_form() -> None:
    def weigh(item: str) -> str:
        """Weigh an item."""
        return item

    model = HastyClerk(replies={"reflector": SOUND})
    described = {
        "type": "function",
        "function": {"name": "ship", "description": "Ship it.", "parameters": {}},
    }
    await review_plan(
        TASK, "A plan.", [weigh, described, {"name": "note", "description": "A note."}], model=model
    )
    for line in ("weigh(item: string): Weigh an item.", "ship(): Ship it.", "note(): A note."):
        assert line in model.asked[0][1]


async def test_a_model_is_asked_by_its_name(
    model_server: Callable[..., ModelServer], settings: Callable[..., Settings]
) -> None:
    server = model_server(lambda seen: diagnosis("shallow_content_verification", subtasks=[sub("read")]))
    made = settings(base_url=server.url)
    seen = await review_plan(TASK, "A plan.", model="openai:scripted", settings=made)
    assert seen.plan == "1. do read"
    assert server.requests[0].body["model"] == "scripted"


async def test_a_review_that_cannot_be_had_says_why() -> None:
    seen = await review_plan(TASK, "A plan.", model=HastyClerk(replies={"reflector": "no"}))
    assert (seen.errors, seen.plan) == ([], "A plan.")
    assert "no valid diagnosis" in seen.problem


async def test_an_empty_plan_is_refused() -> None:
    with pytest.raises(ValueError, match="the plan is empty"):
        await review_plan(TASK, [" "], model=HastyClerk())
