"""The service desk over both tiny checkouts: tools, the customer, the reward, resets and replays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from forethought.evals.actions import call_text
from forethought.evals.benchmarks.service import TAU2, TAU_BENCH, ServiceBenchmark
from forethought.evals.environments.process import WorkerProcess
from forethought.evals.environments.service_desk.desk import ENDED, ServiceDesk
from forethought.evals.types import InfrastructureError, Sample, Services
from forethought.models.ask import Models
from forethought.settings import Settings
from tests.support import tiny_checkouts
from tests.support.model_server import Answer, Fault, ModelServer, SeenRequest

Json = dict[str, Any]
LEND = call_text("lend_book", tiny_checkouts.LEND)
LOOK = call_text("get_book", {"book_id": "b2"})
ASK = call_text("respond", {"message": "Who are you?"})
Desk = tuple[ServiceBenchmark, list[Sample], WorkerProcess]


@pytest.fixture(scope="module", params=["tau_bench", "tau2"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A benchmark, its samples, and one process that serves all tests."""
    benchmark, write = {
        "tau_bench": (TAU_BENCH, tiny_checkouts.tau_bench),
        "tau2": (TAU2, tiny_checkouts.tau2),
    }[request.param]
    samples = benchmark.samples(write(tmp_path_factory.mktemp("checkout")), {"domain": "retail"})
    with benchmark.checkout(samples[0]) as lent:
        yield benchmark, samples, lent


tau2_only = pytest.mark.parametrize("made", ["tau2"], indirect=True)
"""For what does not depend on the checkout, or what only tau2 has."""


def says(message: str, state: str = "continues") -> Json:
    """A CustomerReply."""
    return {"thought": "A thought.", "state": state, "message": message}


@pytest.fixture
def open_desk(
    made: Desk, model_server: Callable[..., ModelServer], settings: Callable[..., Settings]
) -> Callable[..., tuple[ServiceDesk, ModelServer]]:
    """`open_desk(task, replies)`: an episode whose customer says `replies`, and the model's server."""

    def opened(task: int = 0, replies: Sequence[Answer] = (says("A book, please."),)) -> Any:
        said = iter(replies)

        def policy(seen: SeenRequest) -> Answer:
            if seen.reply_name == "AssertionVerdicts":
                holds = "m7 has it" in seen.last
                return {"verdicts": [{"number": 1, "reasoning": "See there.", "holds": holds}]}
            return next(said, says("I have said all.", "done"))

        server = model_server(policy)
        given = settings(server, request_retries=0)
        services = Services(given, Models(given), "openai:judge", "openai:user")
        return made[0].episode(made[1][task], services, made[2]), server

    return opened


async def test_the_gold_actions_are_worth_1(open_desk: Any) -> None:
    desk, server = open_desk(0, [says("Emma, please.")])
    first = await desk.reset()
    assert (first.observation, first.done) == ("The customer writes: Emma, please.", False)
    assert '"lent_to": "m1"' in (await desk.step(LEND)).observation
    end = await desk.finish("It is yours.")
    assert (end.reward, end.done) == (1.0, True)
    assert end.observation == f"I have said all.\n\n{ENDED}"
    assert {seen.body["model"] for seen in server.requests} == {"user"}


async def test_doing_nothing_is_worth_the_floor(made: Desk, open_desk: Any) -> None:
    benchmark, samples, _ = made
    floors = []
    for number, sample in enumerate(samples):
        desk, _ = open_desk(number)
        await desk.reset()
        floors.append((await desk.finish("")).reward)
        assert floors[-1] == benchmark.floor(sample)
    assert floors == [0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("task", "action", "words", "worth"),
    [
        (0, call_text("lend_book", {"book_id": "b1", "member": "m9"}), "Done.", 0.0),
        (1, LOOK, "It costs 30; m7 has it.", 1.0),
        (1, LOOK, "It is dear; m7 has it.", 0.0),
        (2, call_text("lend_book", {"book": "b1"}), "No.", 1.0),
        (2, call_text("burn_book", {}), "No.", 1.0),
        (2, "lend me a book", "No.", 1.0),
        (2, call_text("respond", {"message": " "}), "No.", 1.0),
    ],
)
async def test_the_reward_is_for_what_was_done_and_said(
    open_desk: Any, task: int, action: str, words: str, worth: float
) -> None:
    desk, _ = open_desk(task)
    await desk.reset()
    reply = await desk.step(action)
    assert not reply.done
    assert ("Error" in reply.observation or "no tool" in reply.observation) == (task == 2)
    assert (await desk.finish(words)).reward == worth


async def test_the_customer_ends_the_conversation_and_the_reward_is_settled(open_desk: Any) -> None:
    desk, _ = open_desk(0, [says("Emma."), says("I am m1."), says("", "done")])
    await desk.reset()
    assert (await desk.step(ASK)).observation == "I am m1."
    await desk.step(LEND)
    end = await desk.step(call_text("respond", {"message": "Here you are."}))
    assert (end.observation, end.reward, end.done) == (ENDED, 1.0, True)


@tau2_only
async def test_the_customer_knows_the_scenario_and_hears_messages_alone(open_desk: Any) -> None:
    desk, server = open_desk(0, [says("Emma."), says("I am m1.")])
    assert "only when asked" not in desk.task + "".join(tool.description for tool in desk.tools)
    await desk.reset()
    await desk.step(call_text("get_book", {"book_id": "b1"}))
    await desk.step(ASK)
    heard = server.requests[-1].last
    assert "You give your number only when asked." in heard
    assert "<agent>\nWho are you?\n</agent>" in heard
    assert "<customer>\nEmma.\n</customer>" in heard
    assert "get_book" not in heard


async def test_after_a_reset_all_is_as_it_was(open_desk: Any) -> None:
    desk, server = open_desk(0, [says("Emma."), says("I am m1."), says("Thanks.")])
    one, two = [
        [await desk.reset(), await desk.step(ASK), await desk.step(LEND), await desk.finish("There.")]
        for _ in range(2)
    ]
    assert one == two
    assert '"lent_to": "m1"' in two[2].observation
    assert len(server.requests) == 3  # the same conversation is not asked about again


@tau2_only
async def test_a_model_that_fails_is_no_failure_of_the_agent(open_desk: Any) -> None:
    desk, _ = open_desk(0, [Fault("401")])
    with pytest.raises(InfrastructureError, match="plays the customer"):
        await desk.reset()


@tau2_only
async def test_a_desk_ends_the_process_that_it_started(open_desk: Any) -> None:
    desk, _ = open_desk()
    desk._lent = None
    await desk.reset()
    process = desk._own._process
    assert process.poll() is None
    await desk.close()
    assert process.poll() is not None


async def test_handing_over_to_a_person_ends_the_episode_in_tau_bench(made: Desk, open_desk: Any) -> None:
    desk, _ = open_desk(2)
    await desk.reset()
    reply = await desk.step(call_text("transfer_to_human_agents", {"summary": "The moon."}))
    assert reply.done == (made[0].name == "tau-bench")
    assert reply.reward == float(reply.done)


@tau2_only
async def test_an_assertion_is_judged_on_the_whole_conversation(open_desk: Any) -> None:
    desk, server = open_desk(1)
    await desk.reset()
    await desk.step(LOOK)
    assert (await desk.finish("30. I cannot say who has it.")).reward == 0.0
    (judged,) = [seen for seen in server.requests if seen.reply_name == "AssertionVerdicts"]
    assert judged.body["model"] == "judge"
    assert tiny_checkouts.ASSERTED in judged.last
    assert '{"name": "get_book", "arguments": {"book_id": "b2"}}' in judged.last


@tau2_only
async def test_without_a_judge_there_is_no_reward(open_desk: Any) -> None:
    desk, _ = open_desk(1)
    desk.case = replace(desk.case, statements=())
    await desk.reset()
    with pytest.raises(InfrastructureError, match="1 assertions need the same number of verdicts"):
        await desk.finish("30")
