"""Sessions in the small shop, within the process and over HTTP: the episode that WebShop is played with."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from forethought.evals.environments.small_shop.goods import Errand, Offer, catalogue, reward
from forethought.evals.environments.small_shop.shop import INSIDE, search, serve
from forethought.evals.environments.webshop.episode import SEARCH, Shop, ShopEpisode
from forethought.evals.environments.webshop.page import BOUGHT, Control, parse_page
from forethought.evals.types import InfrastructureError
from forethought.rollouts.types import EnvironmentReply
from tests.support.shop_server import serve_shop

GOAL = 3
OFFERS, ERRANDS = catalogue()


def inside(goal: int = GOAL, **options: Any) -> ShopEpisode:
    return ShopEpisode(Shop(INSIDE, httpx.MockTransport(serve)), goal, **options)


async def acted(episode: ShopEpisode, actions: Sequence[str]) -> list[EnvironmentReply]:
    """What a new session shows for `actions`, which are carried out in turn."""
    replies = [await episode.reset()]
    for action in actions:
        replies.append(await episode.step(action))  # noqa: PERF401 - one after the other
    await episode.close()
    return replies


def way_to(goal: int = GOAL) -> list[str]:
    """The actions that buy what is asked for."""
    asked = ERRANDS[goal]
    open_it, chosen = f"click[{asked.wanted.lower()}]", [f"click[{value}]" for value in asked.options]
    find_it = [f"search[{asked.instruction}]", open_it]
    return [*find_it, "click[< Prev]", open_it, *chosen, "click[Buy Now]"]


def best(offer: Offer, errand: Errand) -> float:
    """The most that buying `offer` can earn: with the options asked for, where it has them."""
    options = [value for value in errand.options if any(value in own for own in offer.options.values())]
    return reward(offer, options, errand)


def test_every_errand_can_be_done_and_each_constraint_overlooked_costs_its_share() -> None:
    for errand in ERRANDS:
        texts = [errand.noun, *errand.attributes, *errand.options, f"{errand.limit:.2f}"]
        assert all(text in errand.instruction for text in texts)
        assert best(OFFERS[errand.wanted], errand) == 1.0
        short = 1 - 1 / (len(texts) - 1)
        assert reward(OFFERS[errand.wanted], errand.options[1:], errand) == pytest.approx(short)
        earned = [best(offer, errand) for offer in OFFERS.values() if offer.noun == errand.noun]
        assert sum(each == pytest.approx(short) for each in earned) >= len(texts) - 1, "its twins"
        assert errand.wanted in {offer.id for offer in search(errand.instruction)}
    assert search("zzz") == search("") == []


def test_the_goods_are_the_same_in_another_process() -> None:
    code = "from forethought.evals.environments.small_shop.goods import catalogue; print(catalogue())"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert other.strip() == str(catalogue())


async def test_the_right_purchase_earns_the_whole_reward() -> None:
    replies = await acted(inside(), way_to())
    assert [reply.done for reply in replies] == [False] * (len(replies) - 1) + [True]
    assert (replies[-1].observation, replies[-1].reward) == (BOUGHT, 1.0)
    assert not any("score" in reply.observation.lower() for reply in replies)


async def test_over_http_it_is_the_same_shop_and_every_session_begins_anew() -> None:
    actions = way_to()
    seen = await acted(inside(), actions)
    with serve_shop() as url:
        episode = ShopEpisode(Shop(url), GOAL)
        for _ in range(2):
            assert [await episode.reset(), *[await episode.step(action) for action in actions]] == seen
        await episode.close()


ITEM = """<html><head><title>T</title></head><body><div id="instruction-text">
<h4>Instruction:<br>buy &lt;a&gt; mug</h4></div><!-- unseen -->
<form method="post" action="/back"><button class="btn btn-success">Back to Search</button></form>
<h4>color</h4>
<input type="radio" id="r0" name="color" value="Red" data-url="/item?o=red"><label for="r0">Red</label>
<h2>A  mug</h2><h4><a class="product-link" href="/item/B1">B0X</a></h4></body></html>"""


def test_a_page_as_webshop_sends_it() -> None:
    page = parse_page(ITEM)
    assert (page.instruction, page.search, page.reward) == ("buy <a> mug", None, None)
    assert page.controls == {
        "back to search": Control("/back", posts=True),
        "red": Control("/item?o=red", option="color"),
        "b0x": Control("/item/B1", opens_product=True),
    }
    assert page.text({"color": "red"}) == "[Back to Search]\ncolor\n  [Red] (chosen)\nA mug\n[B0X]"


async def test_what_can_be_done_is_what_is_shown() -> None:
    replies = await acted(inside(), way_to()[:-1])
    assert replies[0].admissible == (SEARCH,)
    assert {"click[back to search]", f"click[{ERRANDS[GOAL].wanted.lower()}]"} <= set(replies[1].admissible)
    item = replies[-1]
    assert {"click[buy now]", "click[< prev]"} <= set(item.admissible)
    for value in ERRANDS[GOAL].options:
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
async def test_any_query_can_be_searched(query: str) -> None:
    with serve_shop() as url:
        replies = await acted(ShopEpisode(Shop(url), GOAL), [f"search[{query}]"])
    assert "Results: " in replies[1].observation


async def test_a_session_without_a_purchase_is_worth_nothing() -> None:
    episode = inside()
    with pytest.raises(ValueError, match="reset"):
        await episode.step("search[mug]")
    await episode.reset()
    ended = await episode.finish("bought")
    assert (ended.reward, ended.done) == (0.0, True)
    assert not (await episode.reset()).done
    await episode.close()


async def test_a_shop_that_asks_for_something_else_now_is_noticed() -> None:
    episode = inside(instruction="what it asked for before")
    with pytest.raises(InfrastructureError, match="was restarted"):
        await episode.reset()
    await episode.close()


@pytest.mark.parametrize(
    "path", ["/x_99999", "/x_0/item?q=&id=none", f"/x_0/buy?q=&id={ERRANDS[0].wanted}&o=size=nosuch"]
)
def test_the_shop_has_no_other_pages(path: str) -> None:
    assert serve(httpx.Request("GET", INSIDE + path)).status_code == 404


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (200, "<h1>It works!</h1>", "is not a WebShop"),
        (500, "oops", "500 Internal"),
        (0, "", "does not answer"),
    ],
)
async def test_another_server_is_no_shop(status: int, body: str, message: str) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if not status:
            raise httpx.ConnectError("gone")
        return httpx.Response(status, text=body)

    episode = ShopEpisode(Shop("http://shop", httpx.MockTransport(answer)), GOAL)
    with pytest.raises(InfrastructureError, match=message):
        await episode.reset()
    await episode.close()
