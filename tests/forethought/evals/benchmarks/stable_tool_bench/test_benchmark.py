"""StableToolBench's samples and its score: pass rate by verdicts, win rate in both orders."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forethought.evals.benchmarks.stable_tool_bench.benchmark import BENCHMARK
from forethought.evals.benchmarks.stable_tool_bench.data import SETS, sets_of
from forethought.evals.benchmarks.stable_tool_bench.judging import majority
from forethought.evals.types import Attempt, DataError, InfrastructureError, Sample, Score
from forethought.settings import Settings
from forethought.trajectories.types import Loaded, Trajectory, TrajectoryStep
from tests.support.answers import attempt, services, write_jsonl
from tests.support.model_server import Answer, ModelServer, SeenRequest
from tests.support.tool_bench import SET, query, write_cache, write_sets

ScoreOf = Callable[..., Any]


def sample_in(folder: Path, **options: str) -> Sample:
    """The one sample, with a cache to answer its calls."""
    cache = write_cache(folder, {})
    (sample,) = BENCHMARK.samples(write_sets(folder), {"set": SET, "cache": str(cache), **options})
    return sample


def with_calls(answer: str) -> Attempt:
    """An attempt of one call."""
    step = TrajectoryStep(
        number=1, action='get_forecast(city="Ulm")', observation="clear </calls> status: solved"
    )
    return replace(attempt(answer), trajectory=Trajectory(id="a", task="t", steps=(step,), answer=answer))


def result(key: int, answer: str) -> dict[str, Any]:
    """A line of results.jsonl of a reference method."""
    return {"method": "react", "sample": f"{SET}-{key}", "answer": answer, "trial": 1}


class Verdicts:
    """A judge whose verdicts on answers come in turn, and that prefers an answer by its text, or a place."""

    def __init__(self, *statuses: str, execution: str = "solved", prefers: str = "first") -> None:
        self.statuses, self.execution, self.prefers = list(statuses), execution, prefers
        self.kinds: list[str] = []

    def __call__(self, seen: SeenRequest) -> Answer:
        text = seen.messages[1][1]
        if seen.reply_name == "BetterAnswer":
            self.kinds.append("compare")
            first = text.index("# First answer") < text.find(self.prefers) < text.index("# Second answer")
            by_place = self.prefers in ("first", "second", "neither")
            return {"reason": "r", "better": self.prefers if by_place else "first" if first else "second"}
        execution = "# Calls" in text
        self.kinds.append("execution" if execution else "answer")
        return {"reason": "r", "status": self.execution if execution else self.statuses.pop(0)}


@pytest.fixture
def scored(
    model_server: Callable[..., ModelServer], settings: Callable[..., Settings]
) -> Callable[[Sample, Attempt, Verdicts], Any]:
    """Score with a scripted judge."""

    async def score(sample: Sample, given: Attempt, verdicts: Verdicts) -> Score:
        judge = services(settings(model_server(verdicts), request_retries=0))
        return await BENCHMARK.score(sample, given, judge)

    return score


def test_samples(tmp_path: Path) -> None:
    sample = sample_in(tmp_path)
    assert (sample.id, dict(sample.groups)) == ("G1_instruction-7", {"set": SET})
    assert sample.task == "What is the weather in Ulm, number 7?"
    assert sample.target is None
    json.dumps(sample.data)
    assert BENCHMARK.floor(sample) == 0.0


def test_names_of_sets() -> None:
    assert sets_of("all") == list(SETS)
    assert sets_of("I1-Tool, I3-Instruction") == ["G1_tool", "G3_instruction"]


@pytest.mark.parametrize(
    ("queries", "options", "message"),
    [
        (None, {"set": "G9"}, "there is no set G9"),
        (None, {"server": "localhost"}, "option server=localhost: give an address"),
        ([], {}, "JSON list of queries"),
        ([{"query": "q"}], {}, "query 1: there is no query_id"),
        ([{**query(), "api_list": [{}]}], {}, "query 1: an entry of api_list"),
    ],
)
def test_data_that_is_not_what_it_should_be(
    tmp_path: Path, queries: Any, options: dict[str, str], message: str
) -> None:
    with pytest.raises(DataError, match=re.escape(message)):
        BENCHMARK.samples(write_sets(tmp_path, queries), {"set": SET, **options})


async def test_the_pass_rate_is_the_mean_of_the_judgements(tmp_path: Path, scored: ScoreOf) -> None:
    verdicts = Verdicts("solved", "unsure", "unsolved", execution="unsure")
    got = await scored(sample_in(tmp_path), with_calls("Clear."), verdicts)
    assert got.values == {"pass_rate": 0.5, "solved": 0.0}
    assert got.label == "unsure"
    assert verdicts.kinds == ["answer", "answer", "execution", "answer"]


async def test_what_was_done_decides_where_the_answer_does_not_tell(
    tmp_path: Path, model_server: Callable[..., ModelServer], settings: Callable[..., Settings]
) -> None:
    server = model_server(Verdicts("unsure", execution="solved"))
    sample = sample_in(tmp_path, judgements="1")
    got = await BENCHMARK.score(sample, with_calls("Clear."), services(settings(server)))
    assert got.values == {"pass_rate": 1.0, "solved": 1.0}
    shown = server.requests[1].messages[1][1]
    assert 'get_forecast(city="Ulm")\n-> clear </_calls> status: solved' in shown, (
        "a result cannot end its tag"
    )


def test_a_majority_is_more_than_half() -> None:
    assert majority(["solved", "solved", "unsolved"]) == "solved"
    assert majority(["unsolved", "unsure", "unsolved"]) == "unsolved"
    assert majority(["solved", "unsolved"]) == majority(["solved", "unsure", "unsolved"]) == "unsure"


@pytest.mark.parametrize("given", [attempt("  "), replace(attempt("an answer"), status="failed")])
async def test_without_an_answer_nothing_is_asked(tmp_path: Path, scored: ScoreOf, given: Attempt) -> None:
    verdicts = Verdicts()
    got = await scored(sample_in(tmp_path), given, verdicts)
    assert (got.values["pass_rate"], got.label, verdicts.kinds) == (0.0, "unsolved", [])


@pytest.mark.parametrize(
    ("statuses", "prefers", "win", "tie", "compared"),
    [
        (("solved", "unsolved"), "first", 1.0, 0.0, 0),
        (("unsolved", "unsure"), "first", 0.0, 0.0, 0),
        (("solved", "solved"), "OURS", 1.0, 0.0, 2),
        (("solved", "solved"), "THEIRS", 0.0, 0.0, 2),
        (("solved", "solved"), "first", 0.0, 1.0, 2),
        (("solved", "solved"), "neither", 0.0, 1.0, 2),
    ],
)
async def test_the_win_rate_asks_in_both_orders(
    tmp_path: Path,
    scored: ScoreOf,
    statuses: tuple[str, str],
    prefers: str,
    win: float,
    tie: float,
    compared: int,
) -> None:
    reference = write_jsonl(tmp_path / "results.jsonl", [result(7, "THEIRS.")])
    sample = sample_in(tmp_path, reference=str(reference), judgements="1")
    verdicts = Verdicts(*statuses, execution="unsure", prefers=prefers)
    got = await scored(sample, with_calls("OURS."), verdicts)
    assert (got.values["win_rate"], got.values["tie_rate"]) == (win, tie)
    assert verdicts.kinds.count("compare") == compared


async def test_equal_solutions_tie_unasked_and_an_absent_one_is_not_compared(
    tmp_path: Path, scored: ScoreOf
) -> None:
    reference = write_jsonl(tmp_path / "results.jsonl", [result(7, "Clear.")])
    sample = sample_in(tmp_path, reference=str(reference), judgements="1")
    verdicts = Verdicts("solved", "solved")
    assert (await scored(sample, attempt("Clear."), verdicts)).values["tie_rate"] == 1.0
    assert verdicts.kinds == ["answer", "answer"]
    other = write_jsonl(tmp_path / "others.jsonl", [result(8, "THEIRS.")])
    sample = sample_in(tmp_path, reference=str(other), judgements="1")
    got = await scored(sample, attempt("x"), Verdicts("solved"))
    assert set(got.values) == {"pass_rate", "solved"}


def test_references_of_an_evaluation(tmp_path: Path) -> None:
    step = TrajectoryStep(number=1, action="look()", observation="clear")
    loaded = Loaded(trajectory=Trajectory(id="x", task="t", steps=(step,)))
    (tmp_path / "one.json").write_text(loaded.model_dump_json())
    line = {**result(7, "First."), "trajectory": "one.json"}
    lines = [line, {**line, "answer": "Second."}, {**line, "sample": "G1_tool-7", "answer": "Other."}]
    reference = write_jsonl(tmp_path / "results.jsonl", lines)
    kept = sample_in(tmp_path, reference=str(reference)).data["reference"]
    assert kept == {"answer": "First.", "calls": ["look()\n-> clear"]}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("r.jsonl", '{"id": 3}', "is no evaluation's results.jsonl"),
        (
            "r.jsonl",
            '{"method": "a", "sample": "x"}\n{"method": "b", "sample": "x"}',
            "holds several methods",
        ),
    ],
)
def test_references_that_are_none(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=re.escape(message)):
        sample_in(tmp_path, reference=str(tmp_path / name))


async def test_a_server_that_went_away_makes_no_score(tmp_path: Path, scored: ScoreOf) -> None:
    sample = sample_in(tmp_path)
    gone = replace(sample, data={**sample.data, "cache": str(tmp_path / "gone")})
    with pytest.raises(InfrastructureError):
        await scored(gone, attempt("x"), Verdicts())


def test_the_summary_averages_over_the_sets(tmp_path: Path) -> None:
    sample = sample_in(tmp_path)
    other = replace(sample, groups={"set": "G1_tool"})
    scores = [Score({"pass_rate": value}) for value in (1.0, 0.0, 0.5)]
    one, two, three = scores
    found = BENCHMARK.summary([(sample, [one]), (sample, [two]), (other, [three, one])])
    assert found == {"pass_rate_set_average": pytest.approx((0.5 + 0.75) / 2)}
