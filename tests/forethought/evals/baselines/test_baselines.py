"""What holds for every baseline: it solves what can be solved, keeps to the budget, says what it cost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as with_settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver

from forethought.evals.registry import method
from forethought.evals.toolset import make_toolset
from forethought.evals.types import Budget, InfrastructureError, Sample, TrialContext
from forethought.models.ask import Models
from forethought.models.types import ModelReply, ModelRequest, TransportError
from forethought.settings import Settings
from forethought.tools.base import make_tool
from tests.support.evaluating import Bureau, HouseEpisode, Replies, SafeEpisode, done, expert, move
from tests.support.household import Household
from tests.support.model_server import Answer, Fault, Reply, SeenRequest

BASELINES = ("react", "plan-and-act", "reflexion", "self-refine", "best-of-n", "expel", "inter-task")
GRAPHS = BASELINES[:5]
"""Those with a graph of their own: what is learned beforehand is only shown to ReAct's."""
Json = dict[str, Any]


def step_plan(house: Household) -> Callable[[SeenRequest], Answer]:
    """A planner of one step, which answers once that is done."""

    def planned(seen: SeenRequest) -> Answer:
        over = "# Steps of the plan that were carried out" in seen.last
        return {"thought": "", "steps": [] if over else ["Do it."], "answer": "done" if over else ""}

    return planned


def knowing(house: Household, **others: Any) -> Replies:
    """An expert in all roles of all baselines."""
    return expert(
        house,
        **{
            "StepPlan": step_plan(house),
            "SelfJudgement": lambda seen: {"reasoning": "", "solved": house.solved(house.world)},
            "SelfReflection": [{"reflection": "I was too slow."}],
            "DraftFeedback": [{"feedback": "All is done.", "good": True}],
            "Selection": [{"reasoning": "", "choice": 1}],
            "ClosingAnswer": [{"answer": "what there is"}],
            **others,
        },
    )


@pytest.mark.parametrize("name", BASELINES)
async def test_it_solves_a_household(bureau: Bureau, name: str) -> None:
    house = Household(3)
    episode = HouseEpisode(house)
    out = await bureau.work(method(name), knowing(house), episode=episode, budget=Budget(max_steps=60))
    attempt = out.attempt
    assert (attempt.status, attempt.reward) == ("answered", 1)
    assert attempt.steps == len(episode.steps) >= 5
    assert {**attempt.usage, "seconds": 0} == {**out.meter.usage, "seconds": 0}
    assert attempt.usage["calls"] == len(out.server.requests)
    assert attempt.usage["input_tokens"] == 100 * len(out.server.requests)
    assert attempt.seconds > 0
    assert [step.action for step in attempt.trajectory.steps if step.action][-1].startswith("put ")
    assert attempt.trajectory.environment == "household"
    assert episode.resets == attempt.tries


@pytest.mark.parametrize("name", [*GRAPHS, "ours"])
async def test_it_stops_at_the_step_budget(bureau: Bureau, name: str) -> None:
    house = Household(3)
    episode = HouseEpisode(house)
    out = await bureau.work(method(name), knowing(house), episode=episode, budget=Budget(max_steps=5))
    assert out.attempt.steps == len(episode.steps) <= 5
    assert (out.attempt.status, out.attempt.reward) == ("budget_exhausted", 0)
    assert out.attempt.trajectory.halted
    assert not out.asked("ClosingAnswer"), "in a world of text actions no answer is asked for"


@pytest.mark.parametrize("name", GRAPHS)
async def test_it_answers_within_its_tokens(bureau: Bureau, name: str) -> None:
    cost = 2_000

    def dear(seen: SeenRequest) -> Answer:
        replies: dict[str, Json] = {
            "ReactMove": move("lookup", key=f"k{seen.n}"),
            "StepPlan": {"thought": "", "steps": ["Look it up."], "answer": ""},
            "ClosingAnswer": {"answer": "what there is"},
            "SelfJudgement": {"reasoning": "", "solved": False},
            "SelfReflection": {"reflection": "I was too slow."},
            "DraftFeedback": {"feedback": "Be quicker.", "good": False},
        }
        return Reply(replies[seen.reply_name], prompt_tokens=cost - 100, completion_tokens=100)

    budget = Budget(max_steps=100, max_tokens=30_000)
    out = await bureau.work(method(name), dear, tools=[make_tool(lookup)], budget=budget)
    tokens = out.meter.tokens
    assert 14_000 <= tokens <= 30_000 + cost, "only the call in flight may go beyond"
    assert (out.attempt.answer, out.attempt.status) == ("what there is", "budget_exhausted")
    assert out.attempt.trajectory.steps[-1].action == "answer: what there is"


def lookup(key: str) -> str:
    """Look something up.

    Args:
        key: What.
    """
    return f"value of {key}"


@pytest.mark.parametrize("name", GRAPHS)
async def test_without_any_means_it_ends_without_an_error(bureau: Bureau, name: str) -> None:
    out = await bureau.work(
        method(name), Replies({"ReactMove": [done("42")]}), budget=Budget(max_tokens=0), task="What?"
    )
    assert (out.attempt.answer, out.attempt.status, out.server.requests) == ("", "failed", [])


@pytest.mark.parametrize("name", [*GRAPHS, "ours"])
async def test_a_world_that_breaks_is_no_failed_task(bureau: Bureau, name: str) -> None:
    house = Household(3)
    with pytest.raises(InfrastructureError, match="burnt down"):
        await bureau.work(method(name), knowing(house), episode=HouseEpisode(house, breaks_at=2))


@pytest.mark.parametrize("name", [*GRAPHS, "ours"])
async def test_a_model_that_cannot_be_reached_is_no_failed_task(bureau: Bureau, name: str) -> None:
    with pytest.raises(TransportError):
        await bureau.work(method(name), lambda seen: Fault("503"), task="What?")


@pytest.mark.parametrize("name", ["react", "best-of-n"])
async def test_it_uses_the_tools_of_an_episode(bureau: Bureau, name: str) -> None:
    def opens(seen: SeenRequest) -> Answer:
        shown = seen.last
        missing = next((w for w in ("first", "second", "third") if f'{{"which": "{w}"}}' not in shown), None)
        return move("read_digit", which=missing) if missing else move("open_safe", code="407")

    replies = Replies({"ReactMove": opens, "Selection": [{"reasoning": "", "choice": 2}]})
    out = await bureau.work(method(name), replies, episode=SafeEpisode())
    assert (out.attempt.reward, out.attempt.steps) == (1, 4 * out.attempt.tries)
    last = out.attempt.trajectory.steps[-1]
    assert last.action == '{"arguments": {"code": "407"}, "name": "open_safe"}', "as a replay reads it"
    assert (last.tool, last.changes_world) == ("open_safe", True)
    assert not out.attempt.trajectory.steps[0].changes_world


async def test_files_and_built_in_tools_are_at_hand(bureau: Bureau, tmp_path: Path) -> None:
    (tmp_path / "prices.txt").write_text("A pear costs 3 euros.")
    replies = Replies(
        {
            "ReactMove": [
                move("read_file", path="prices.txt", part=None, question=None),
                move("python", code="print(files['prices.txt'], read_file('prices.txt')[:6], 2 * 3)"),
                done("6 euros"),
            ]
        }
    )
    out = await bureau.work(
        method("react"),
        replies,
        builtin=["read_file", "python"],
        files=[tmp_path / "prices.txt"],
        answer_format="an amount",
    )
    first, _, last = out.asked("ReactMove")
    assert "prices.txt (1 kB)" in first.last
    assert "The answer's form: an amount" in first.last
    assert "A pear costs 3 euros. " in last.last
    assert (out.attempt.answer, out.attempt.steps, out.attempt.reward) == ("6 euros", 2, None)


@pytest.mark.parametrize("name", ["react", "ours"])
async def test_a_missing_file_is_no_failed_task(bureau: Bureau, tmp_path: Path, name: str) -> None:
    with pytest.raises(InfrastructureError, match=r"s1: .*gone\.txt"):
        await bureau.work(method(name), Replies({}), files=[tmp_path / "gone.txt"])


@pytest.mark.parametrize("name", ["react", "ours"])
async def test_a_thread_that_was_broken_off_begins_anew(bureau: Bureau, name: str) -> None:
    saver, house = InMemorySaver(), Household(3)
    broken, episode = HouseEpisode(house, breaks_at=3), HouseEpisode(house)
    with pytest.raises(InfrastructureError):
        await bureau.work(method(name), knowing(house), episode=broken, saver=saver)
    out = await bureau.work(method(name), knowing(house), episode=episode, saver=saver)
    assert out.attempt.reward == 1
    assert out.attempt.steps == len(episode.steps)


async def test_unusable_replies_cost_no_step_and_end_it(bureau: Bureau) -> None:
    replies = Replies({"ReactMove": ["no JSON"], "ClosingAnswer": [{"answer": "a guess"}]})
    out = await bureau.work(method("react"), replies, tools=[make_tool(lookup)])
    assert (out.attempt.answer, out.attempt.status, out.attempt.steps) == ("a guess", "best_effort", 0)
    assert [step.failure for step in out.attempt.trajectory.steps] == ["llm_limit"] * 3 + [""]
    assert [bool(step.action) for step in out.attempt.trajectory.steps] == [False] * 3 + [True]


class Wild:
    """A transport that says what it is told to, over and over."""

    def __init__(self, texts: list[str]) -> None:
        self.texts, self.sent = texts, 0

    async def send(self, request: ModelRequest) -> ModelReply:
        """The next text."""
        self.sent += 1
        return ModelReply(self.texts[self.sent % len(self.texts)], input_tokens=50, output_tokens=5)


_VALUES = st.none() | st.booleans() | st.integers(-3, 9) | st.text(max_size=5)
_TEXTS = ("thought", "answer", "solved", "choice", "feedback", "reflection")
_MOVES = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(_TEXTS, _VALUES),
        "action": st.sampled_from(["call", "finish", "replan", None]),
        "tool": st.sampled_from(["lookup", "act", "other"]) | _VALUES,
        "arguments": st.dictionaries(st.sampled_from(["key", "action", "x"]), _VALUES) | _VALUES,
        "steps": st.lists(_VALUES, max_size=3),
    },
)


@with_settings(max_examples=20)
@given(
    st.lists(_MOVES.map(json.dumps) | st.text(max_size=20), min_size=1, max_size=6),
    st.sampled_from(BASELINES),
    st.integers(0, 4),
    st.booleans(),
)
async def test_whatever_the_model_says(texts: list[str], name: str, max_steps: int, world: bool) -> None:
    made = Settings(data_dir=Path("never-written"))
    episode = HouseEpisode(Household(1)) if world else None
    wild, budget = Wild(texts), Budget(max_steps=max_steps, max_tokens=20_000)
    workshop = TrialContext(
        sample=Sample("s1", "What?"),
        tools=make_toolset(made, budget, episode, [make_tool(lookup)]),
        episode=episode,
        models=Models(made, wild),
        model="openai:wild",
        settings=made,
        budget=budget,
        checkpointer=InMemorySaver(),
        thread="t",
        seed=1,
    )
    attempt = await method(name).run(workshop)
    assert attempt.steps <= max_steps
    assert len(episode.steps) <= max_steps if episode else True
    assert attempt.usage["calls"] == wild.sent
    assert attempt.usage["input_tokens"] + attempt.usage["output_tokens"] <= 20_000 + 55
    assert attempt.status in ("answered", "best_effort", "budget_exhausted", "failed")
    assert attempt.answer or attempt.status == "failed" or world
    assert attempt.tries >= 1
