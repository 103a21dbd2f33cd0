"""WebShop and the small shop as benchmarks: samples, options, scores, and an attempt of our agent."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from forethought.evals.benchmarks.shopping import SMALL_SHOP, WEBSHOP
from forethought.evals.environments.small_shop.goods import catalogue
from forethought.evals.registry import method
from forethought.evals.types import DataError, InfrastructureError
from tests.support.agent import Script
from tests.support.answers import attempt, services
from tests.support.evaluating import Bureau
from tests.support.replies import call, finish, plan, sub
from tests.support.shop_server import serve_shop

NOWHERE = Path("nowhere")
ERRANDS = catalogue()[1]


async def test_webshop_asks_the_running_shop_and_is_played_there() -> None:
    with serve_shop() as url:
        samples = WEBSHOP.samples(NOWHERE, {"url": url})
        small = SMALL_SHOP.samples(NOWHERE, {})
        assert [sample.id for sample in samples] == [f"goal-{number:04}" for number in range(len(ERRANDS))]
        assert [sample.task for sample in samples] == [sample.task for sample in small]
        assert samples[2].data == {"url": url, "goal": 2, "instruction": ERRANDS[2].instruction}
        episode = WEBSHOP.episode(samples[0], services())
        await episode.reset()
        assert "Results: 20" in (await episode.step("search[mug]")).observation
        await episode.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "ftp://x"}, "option url=ftp://x"),
        ({"url": "http://me:secret@x"}, "give an address"),
        ({"split": "train"}, "option split=train"),
        ({"url": "http://127.0.0.1:9"}, "no WebShop answers at http://127.0.0.1:9"),
    ],
)
def test_bad_options_are_reported_in_one_line(options: dict[str, str], message: str) -> None:
    with pytest.raises(DataError, match=re.escape(message)) as error:
        WEBSHOP.samples(NOWHERE, options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("reward", "success"), [(0.0, 0.0), (0.8, 0.0), (1.0, 1.0)])
async def test_the_score_is_the_reward_and_success_the_whole_of_it(reward: float, success: float) -> None:
    sample = SMALL_SHOP.samples(NOWHERE, {})[0]
    score = await SMALL_SHOP.score(sample, attempt(reward=reward), services())
    assert score.values == {"reward": reward, "success": success}
    assert SMALL_SHOP.floor(sample) == 0.0
    with pytest.raises(InfrastructureError, match="no reward"):
        await SMALL_SHOP.score(sample, attempt(reward=None), services())


@pytest.mark.parametrize(("options", "expected"), [(2, 1.0), (1, 0.8)])
async def test_our_agent_shops(options: int, expected: float, bureau: Bureau) -> None:
    """A scripted model that overlooks an option is rewarded less."""
    sample, errand = SMALL_SHOP.samples(NOWHERE, {})[9], ERRANDS[9]
    actions = [f"search[{errand.instruction}]", f"click[{errand.wanted.lower()}]"]
    actions += [f"click[{value}]" for value in errand.options[:options]] + ["click[buy now]"]
    moves = [call("buy", tool="act", finishes=False, action=action) for action in actions]
    script = Script(plans=[plan(sub("buy"))], moves={"buy": [*moves, finish("bought")]})
    episode = SMALL_SHOP.episode(sample, services())
    made = (await bureau.work(method("ours"), script, episode=episode)).attempt
    await episode.close()
    assert made.reward == pytest.approx(expected)
    assert made.status == "answered"
