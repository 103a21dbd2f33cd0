"""Sessions in the small shop, within the process and over HTTP: the episode that WebShop is played with."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import httpx
import pytest

from forethought.evals.environments.small_shop.goods import Errand, catalogue
from forethought.evals.environments.small_shop.shop import INSIDE
from forethought.evals.environments.small_shop.shop import Shop as SmallShop
from forethought.evals.environments.webshop.episode import OVER, SEARCH, Shop, ShopEpisode
from forethought.evals.environments.webshop.page import BOUGHT
from forethought.evals.types import InfrastructureError
from forethought.rollouts.environment import replay_prefix
from forethought.rollouts.types import EnvironmentReply
from forethought.trajectories.types import TrajectoryStep
from tests.support.shop_server import serve_shop

SEED, GOAL = 1, 3


@lru_cache
def small_shop() -> SmallShop:
    return SmallShop(catalogue(SEED))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serve_shop(small_shop()) as address:
        yield address


def errand(goal: int = GOAL) -> Errand:
    return catalogue(SEED).errands[goal]


def inside(goal: int = GOAL, **options: Any) -> ShopEpisode:
    return ShopEpisode(Shop(INSIDE, httpx.MockTransport(small_shop())), goal, **options)


async def acted(episode: ShopEpisode, actions: Sequence[str]) -> list[EnvironmentReply]:
    """What a new session shows for `actions`, which are carried out in turn."""
    replies = [await episode.reset()]
    for action in actions:
        replies.append(await episode.step(action))  # noqa: PERF401 - one after the other
    replies.append(await episode.finish(""))
    await episode.close()
    return replies


async def way_to(goal: int = GOAL, options: int = 2) -> list[str]:
    """The actions that buy what is asked for, with the first so many of its options."""
    asked = errand(goal)
    episode, actions = inside(goal), [f"search[{asked.instruction}]"]
    await episode.reset()
    reply = await episode.step(actions[0])
    while (open_it := f"click[{asked.wanted.lower()}]") not in reply.admissible:
        actions.append("click[next >]")
        reply = await episode.step(actions[-1])
    await episode.close()
    chosen = [f"click[{value}]" for value in list(asked.options)[:options]]
    return [*actions, open_it, *chosen, "click[Features]", "click[< Prev]", "click[Buy Now]"]


async def test_the_right_purchase_earns_the_whole_reward() -> None:
    replies = await acted(inside(), await way_to())
    assert [reply.done for reply in replies] == [False] * (len(replies) - 2) + [True, True]
    assert replies[-2].observation == BOUGHT
    assert (replies[-2].reward, replies[-1].reward) == (1.0, 1.0)
    assert not any("score" in reply.observation.lower() for reply in replies)


async def test_over_http_it_is_the_same_shop(url: str) -> None:
    actions = await way_to()
    assert await acted(ShopEpisode(Shop(url), GOAL), actions) == await acted(inside(), actions)


async def test_a_session_begins_anew_and_goes_the_same_way(url: str) -> None:
    actions = (await way_to())[:3]
    seen = await acted(ShopEpisode(Shop(url), GOAL), actions)
    steps = [
        TrajectoryStep(number=number, action=action, observation=reply.observation)
        for number, (action, reply) in enumerate(zip(actions, seen[1:-1], strict=True), 1)
    ]
    episode = ShopEpisode(Shop(url), GOAL)
    for _ in range(2):
        replayed = await replay_prefix(episode, steps)
        assert (replayed.diverged, replayed.reply) == ("", seen[3])
    await episode.close()


async def test_several_sessions_do_not_disturb_each_other(url: str) -> None:
    goals = range(6)
    ways = await asyncio.gather(*(way_to(goal) for goal in goals))
    episodes = [ShopEpisode(Shop(url), goal) for goal in goals]
    replies = await asyncio.gather(*(acted(*pair) for pair in zip(episodes, ways, strict=True)))
    assert [last[-1].reward for last in replies] == [1.0] * len(goals)


async def test_what_can_be_done_is_what_is_shown() -> None:
    way = await way_to()
    replies = await acted(inside(), way[:-1])
    assert replies[0].admissible == (SEARCH,)
    assert "click[next >]" in replies[1].admissible
    item = replies[-2]
    assert {"click[buy now]", "click[features]", "click[< prev]"} <= set(item.admissible)
    for value in errand().options:
        assert f"[{value}] (chosen)" in item.observation


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ("look around", "an action is search[...] or click[...]"),
        ("click[buy now]", "there is no 'buy now' to click here"),
        ("search[ / < > ]", "there is nothing to search for"),
    ],
)
async def test_what_cannot_be_done_changes_nothing(action: str, why: str) -> None:
    replies = await acted(inside(), [action])
    assert replies[1].observation == f"Nothing happened: {why}.\n\n{replies[0].observation}"
    assert replies[1].admissible == replies[0].admissible


@pytest.mark.parametrize("query", ["a/b <a> x 50% off? #1 & more é 'quoted\" \\ x", "x" * 5_000])
async def test_any_query_can_be_searched(query: str, url: str) -> None:
    replies = await acted(ShopEpisode(Shop(url), GOAL), [f"search[{query}]"])
    assert "Total results" in replies[1].observation


async def test_a_session_ends_after_its_last_action() -> None:
    episode = inside(max_steps=2)
    with pytest.raises(ValueError, match="reset"):
        await episode.step("search[mug]")
    await episode.reset()
    assert not (await episode.step("nonsense")).done
    last = await episode.step("search[mug]")
    assert (last.done, last.admissible, last.reward) == (True, (), 0.0)
    assert await episode.step("click[next >]") == EnvironmentReply(OVER, done=True)
    assert not (await episode.reset()).done
    await episode.close()


async def test_a_dead_shop_is_no_failure_of_the_task() -> None:
    with serve_shop(small_shop()) as gone:
        pass
    dead = ShopEpisode(Shop(gone), GOAL)
    with pytest.raises(InfrastructureError, match="does not answer"):
        await dead.reset()
    await dead.close()


async def test_a_shop_that_asks_for_something_else_now_is_noticed() -> None:
    episode = inside(instruction="what it asked for before")
    with pytest.raises(InfrastructureError, match="started anew"):
        await episode.reset()
    await episode.close()


@pytest.mark.parametrize(
    "path", ["/x_99999", "/x_0/item?id=none", f"/x_{GOAL}/buy?id={errand().wanted}&o=size=nosuch"]
)
def test_the_shop_has_no_other_pages(path: str) -> None:
    assert small_shop()(httpx.Request("GET", INSIDE + path)).status_code == 404


def answering(status: int, body: str, **headers: str) -> Shop:
    """A shop whose server answers everything alike."""
    same = httpx.MockTransport(lambda request: httpx.Response(status, text=body, headers=headers))
    return Shop("http://shop", same)


@pytest.mark.parametrize(
    ("status", "body", "headers", "message"),
    [
        (200, "<h1>It works!</h1>", {}, "is no WebShop"),
        (500, "oops", {}, "status 500"),
        (302, "", {"location": "http://127.0.0.2:1/away"}, "leads elsewhere"),
        (302, "", {"location": "/again"}, "redirects without end"),
    ],
)
async def test_another_server_is_no_shop(
    status: int, body: str, headers: dict[str, str], message: str
) -> None:
    episode = ShopEpisode(answering(status, body, **headers), GOAL)
    with pytest.raises(InfrastructureError, match=message):
        await episode.reset()
    await episode.close()


async def test_no_link_leads_out_of_the_shop() -> None:
    page = (
        '<div id="instruction-text"><h4>x</h4></div><a class="product-link" href="http://127.0.0.2/">A1</a>'
    )
    episode = ShopEpisode(answering(200, page), GOAL)
    await episode.reset()
    with pytest.raises(InfrastructureError, match="leads elsewhere"):
        await episode.step("click[a1]")
    await episode.close()
