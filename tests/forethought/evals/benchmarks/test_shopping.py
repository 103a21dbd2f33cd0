"""WebShop and the small shop as benchmarks: samples, options, scores, and an attempt of our agent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from forethought.evals.benchmarks.shopping import SMALL_SHOP as SMALL
from forethought.evals.benchmarks.shopping import WEBSHOP
from forethought.evals.environments.small_shop.goods import ERRANDS, catalogue
from forethought.evals.environments.small_shop.shop import Shop
from forethought.evals.registry import method
from forethought.evals.types import DataError, InfrastructureError
from tests.support.agent import Script
from tests.support.answers import attempt, services
from tests.support.evaluating import Bureau
from tests.support.replies import call, finish, plan, sub
from tests.support.shop_server import serve_shop

NOWHERE = Path("nowhere")


@pytest.fixture
def url() -> Iterator[str]:
    with serve_shop(Shop(catalogue(1))) as address:
        yield address


def test_the_small_shop_needs_no_data() -> None:
    samples = SMALL.samples(NOWHERE, {})
    assert len(samples) == len({sample.id for sample in samples}) == ERRANDS
    assert samples == SMALL.samples(NOWHERE, {"seed": "1"})
    assert samples[0].id == "seed1-00"
    assert "dollars" in samples[0].task
    assert samples[0].task != SMALL.samples(NOWHERE, {"seed": "2"})[0].task


def test_webshop_asks_the_running_shop(url: str) -> None:
    samples = WEBSHOP.samples(NOWHERE, {"url": url, "observation": "text", "max_steps": "15"})
    assert [sample.id for sample in samples] == [f"goal-{number:04}" for number in range(ERRANDS)]
    assert [sample.task for sample in samples] == [sample.task for sample in SMALL.samples(NOWHERE, {})]
    given = {"url": url, "rendering": "text", "max_steps": 15}
    assert samples[2].data == {**given, "goal": 2, "instruction": catalogue(1).errands[2].instruction}


async def test_webshop_is_played_over_http(url: str) -> None:
    sample = WEBSHOP.samples(NOWHERE, {"url": url, "observation": "text", "max_steps": "1"})[0]
    episode = WEBSHOP.episode(sample, services())
    assert " [SEP] " in (await episode.reset()).observation
    assert (await episode.step("search[mug]")).done
    await episode.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "ftp://x"}, "option url=ftp://x"),
        ({"url": "http://me:secret@x"}, "give an address"),
        ({"split": "train"}, "option split=train"),
        ({"observation": "html"}, "option observation=html"),
        ({"url": "http://127.0.0.1:9"}, "there is no WebShop at http://127.0.0.1:9"),
    ],
)
def test_bad_options_are_reported_in_one_line(options: dict[str, str], message: str) -> None:
    with pytest.raises(DataError, match=re.escape(message)) as error:
        WEBSHOP.samples(NOWHERE, options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("reward", "success"), [(0.0, 0.0), (0.8, 0.0), (1.0, 1.0)])
async def test_the_score_is_the_reward_and_success_the_whole_of_it(reward: float, success: float) -> None:
    sample = SMALL.samples(NOWHERE, {})[0]
    score = await SMALL.score(sample, attempt(reward=reward), services())
    assert score.values == {"reward": reward, "success": success}
    assert SMALL.floor(sample) == 0.0
    with pytest.raises(InfrastructureError, match="no reward"):
        await SMALL.score(sample, attempt(reward=None), services())


@pytest.mark.parametrize(("options", "expected"), [(2, 1.0), (1, 0.8)])
async def test_our_agent_shops(options: int, expected: float, bureau: Bureau) -> None:
    """A scripted model that overlooks an option is rewarded less."""
    sample = SMALL.samples(NOWHERE, {})[9]
    errand = catalogue(1).errands[9]
    actions = [f"search[{errand.instruction}]", f"click[{errand.wanted.lower()}]"]
    actions += [f"click[{value}]" for value in list(errand.options)[:options]] + ["click[buy now]"]
    moves = [call("buy", tool="act", finishes=False, action=action) for action in actions]
    script = Script(plans=[plan(sub("buy", tool="act"))], moves={"buy": [*moves, finish("bought")]})
    episode = SMALL.episode(sample, services())
    made = (await bureau.work(method("ours"), script, episode=episode)).attempt
    await episode.close()
    assert made.reward == pytest.approx(expected)
    assert made.status == "answered"
