"""Samples, scores and floors of tau-bench and tau2, read from tiny checkouts of our own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.tau2_scripted import played
from forethought.evals.benchmarks.service import TAU2, TAU_BENCH, ServiceBenchmark
from forethought.evals.toolset import make_toolset
from forethought.evals.types import Budget, DataError, InfrastructureError, Sample, Score
from forethought.settings import Settings
from tests.support import tiny_checkouts
from tests.support.answers import attempt, services

RETAIL = {"domain": "retail"}
WRITERS: dict[str, tuple[ServiceBenchmark, Callable[[Path], Path], str]] = {
    "tau_bench": (TAU_BENCH, tiny_checkouts.tau_bench, "tau_bench/envs/base.py"),
    "tau2": (TAU2, tiny_checkouts.tau2, "data/tau2/domains/retail/tasks.json"),
}


@pytest.fixture(scope="module", params=WRITERS)
def found(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[ServiceBenchmark, list[Sample]]:
    """A benchmark and its samples."""
    benchmark, write, _ = WRITERS[request.param]
    return benchmark, benchmark.samples(write(tmp_path_factory.mktemp("checkout")), RETAIL)


def test_samples(found: tuple[ServiceBenchmark, list[Sample]]) -> None:
    benchmark, samples = found
    split = benchmark.splits["retail"][0]
    assert [sample.id for sample in samples] == [f"retail-{split}-{number}" for number in range(3)]
    assert {sample.groups["domain"] for sample in samples} == {"retail"}
    for sample, task in zip(samples, tiny_checkouts.TASKS, strict=True):
        assert tiny_checkouts.POLICY in sample.task
        assert str(task["instruction"]) not in sample.task
        assert sample.data["scenario"] == task["instruction"]


def test_tools_say_whether_they_change_something(found: tuple[ServiceBenchmark, list[Sample]]) -> None:
    benchmark, samples = found
    episode = benchmark.episode(samples[0], services())
    tools = make_toolset(Settings(base_url=None), Budget(), episode)
    writes = {name for name, tool in tools.items() if tool.effect == "write"}
    assert writes - {"transfer_to_human_agents"} == {"lend_book", "respond"}
    assert tools["lend_book"].arguments.model_json_schema()["required"] == ["book_id", "member"]


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("options", [{}, {"domain": "bank"}])
def test_absent_data_is_reported_in_one_line(name: str, options: dict[str, str], tmp_path: Path) -> None:
    benchmark, write, _ = WRITERS[name]
    with pytest.raises(DataError) as caught:
        benchmark.samples(write(tmp_path), options)
    message = str(caught.value)
    assert "\n" not in message
    assert ("git clone" in message) == (not options)


@pytest.mark.parametrize("name", WRITERS)
def test_a_broken_checkout_is_reported_in_one_line(name: str, tmp_path: Path) -> None:
    benchmark, write, file = WRITERS[name]
    folder = write(tmp_path / "checkout")
    (folder / file).write_text("({")
    with pytest.raises(DataError, match=f"git clone https://github.com/{benchmark.repository}") as caught:
        benchmark.samples(folder, RETAIL)
    assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match=r"is missing\): get it with: git clone"):
        benchmark.samples(tmp_path, RETAIL)


def test_a_package_that_is_not_installed_is_named_with_its_extra(tmp_path: Path) -> None:
    folder = tiny_checkouts.tau2(tmp_path)
    module = folder / "src/tau2/domains/retail/environment.py"
    module.write_text("import not_there\n" + module.read_text())
    with pytest.raises(DataError, match=r"'not_there'\): pip install .*\[evals\]'$"):
        TAU2.samples(folder, RETAIL)


async def test_the_score_is_the_reward(found: tuple[ServiceBenchmark, list[Sample]]) -> None:
    benchmark, samples = found
    assert (await benchmark.score(samples[0], attempt(reward=0.5), services())).values == {"reward": 0.5}
    with pytest.raises(InfrastructureError, match="did not end"):
        await benchmark.score(samples[0], attempt(), services())


def test_the_summary_is_pass_hat_k() -> None:
    sample = Sample("s", "t")
    scored = [(sample, [Score({"reward": reward}) for reward in rewards]) for rewards in ((1, 0), (1, 1))]
    summary = TAU2.summary([*scored, (sample, [])])  # a sample that could never be tried counts nowhere
    assert summary == {"pass^1": 0.75, "pass^2": 0.5}


async def test_our_agent_runs_tau2_end_to_end_with_a_scripted_model(tmp_path: Path) -> None:
    samples = TAU2.samples(tiny_checkouts.tau2(tmp_path), RETAIL)
    settings = Settings(base_url=None, data_dir=tmp_path / "data", model="scripted")
    with TAU2.checkout(samples[0]) as lent:
        runs = [await played(TAU2, sample, lent, settings) for sample in samples]
        assert [made.reward for made, _ in runs] == [1.0] * 3
        first = runs[0][0]
        assert [step.tool for step in first.trajectory.steps if step.tool] == ["respond", "lend_book"]
        assert first.status == "answered"
        assert runs[0][1].asked.count("CustomerReply") == 3  # the first message, a reply, the last one
        # The same agent for another task's gold actions: what it does is not what is asked.
        swapped = Sample(samples[0].id, samples[0].task, target=samples[2].target, data=samples[0].data)
        made, _ = await played(TAU2, swapped, lent, settings)
        assert made.reward == 0.0


def test_the_reference_is_what_a_right_run_does_and_says(
    found: tuple[ServiceBenchmark, list[Sample]],
) -> None:
    benchmark, samples = found
    lend, tell, refuse = ("\n".join(benchmark.references(sample)) for sample in samples)
    call = {"arguments": {"book_id": "b1", "member": "m1"}, "name": "lend_book"}
    assert lend.startswith(f"The calls: {json.dumps(call)}.")
    assert "The customer is told: 30." in tell
    assert (tiny_checkouts.ASSERTED in tell) == (benchmark is TAU2)
    assert refuse == "The calls: none that changes anything."
