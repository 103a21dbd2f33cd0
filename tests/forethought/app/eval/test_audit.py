"""An audit convicts the rules whose skips cost right answers, and no others."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.planted_faults.model import planted
from benchmarks.planted_faults.world import BENCHMARK
from forethought.evals.types import Attempt, Benchmark, Episode, Sample, Score, Services
from forethought.trajectories.types import Loaded
from tests.forethought.app.conftest import Cli, Outcome
from tests.support.evaluating import HouseEpisode, expert
from tests.support.household import Household
from tests.support.model_server import Answer, SeenRequest

NAME = "benchmarks.planted_faults.world:BENCHMARK"
RULES = Path(__file__).with_name("audited_rules.yaml")
FAULTS = ("condition", "move", "none")
SAMPLES = ",".join(f"{fault}-{n}" for fault in FAULTS for n in range(1, 5))
HOUSE = Household(3)


class House(Benchmark):
    """One household, which all trials share."""

    name = title = about = "house"
    main_metric = "reward"

    def samples(self, data: Path, options: Any) -> list[Sample]:
        """The household's task."""
        return [Sample("home", HOUSE.task)]

    def episode(self, sample: Sample, services: Services) -> Episode:
        """The household, to be reset."""
        return HouseEpisode(HOUSE)

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """Its reward."""
        return Score({"reward": attempt.reward or 0.0})


HOUSES = House()


@pytest.fixture
def auto(monkeypatch: pytest.MonkeyPatch) -> None:
    """The frozen rules decide."""
    monkeypatch.setenv("FORETHOUGHT_EFFORT", "auto")
    monkeypatch.setenv("FORETHOUGHT_EFFORT_FILE", str(RULES))


def hasty(seen: SeenRequest) -> Answer:
    """The model of the planted faults, if its plans leave the choice of each call to the workers."""
    reply = planted(BENCHMARK.samples(Path(), {}))(seen)
    for subtask in reply.get("subtasks", []) if isinstance(reply, dict) else []:
        subtask["calls"] = []
    return reply


def evaluate(cli: Cli, out: str) -> Outcome:
    """Twelve tasks of the planted faults, with answers that no check mends."""
    flags = ("--set", "answer_checks=false", "--out", out, "--scripted", "--yes", "--json")
    return cli("eval", "run", NAME, "--sample", SAMPLES, *flags)


def test_it_convicts_the_rules_that_cost_right_answers(
    cli: Cli, served: Callable[..., Any], auto: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = served(hasty)
    assert evaluate(cli, "o").json["rows"][0]["main"]["mean"] == pytest.approx(4 / 12)
    audit = ("eval", "audit", "o", "--benchmark", NAME, "--trials", "1", "--write", "mine.yaml", "--yes")
    made = cli(*audit, "--json")
    assert made.code == 0, made.err
    found = made.json["rules"]
    guilty = {name for name, rule in found.items() if rule["convicted"]}
    assert guilty == {"plan_is_short", "subtask_only_reads"}
    for rule in (found[name] for name in guilty):
        assert (rule["tasks"], rule["won"], rule["lost"]) == (12, pytest.approx(1 / 3), 0)
        assert rule["interval"][0] > 0
        assert rule["tokens_per_flip"] == pytest.approx(3 * rule["tokens"], rel=1e-3)
    assert (found["checks_replace_score"]["flips"], found["checks_replace_score"]["usd"]) == (0, None)

    asked = len(server.requests)
    monkeypatch.setenv("COLUMNS", "120")
    again = cli(*audit)
    assert len(server.requests) == asked, "what was run is not run again"
    assert re.search(r"plan_is_short +12 \(12\) +33.3 \[", again.out)
    assert "above 0: plan_is_short, subtask_only_reads." in again.out

    monkeypatch.setenv("FORETHOUGHT_EFFORT_FILE", "mine.yaml")
    assert evaluate(cli, "fitted").json["rows"][0]["main"]["mean"] == 1


def test_a_world_is_brought_to_where_the_skip_was(
    cli: Cli, served: Callable[..., Any], auto: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path("always.yaml")
    path.write_text("rules: [{id: always, mechanism: tool_intra, skip_if: [], why: a test}]\n", "utf-8")
    monkeypatch.setenv("FORETHOUGHT_EFFORT_FILE", str(path))
    served(expert(HOUSE))
    named, one = f"{__name__}:HOUSES", ("--parallel", "1", "--yes", "--json")
    run = cli("eval", "run", named, "--out", "o", *one)
    steps = run.json["rows"][0]["spend"]["steps"]
    made = cli("eval", "audit", "o", "--benchmark", named, "--trials", "1", *one)
    assert made.code == 0, made.err
    assert made.json["rules"]["always"]["skips"] > steps / 2
    rows = cli("eval", "report", "o/audit", "--benchmark", named, "--json").json["rows"]
    assert [row["main"]["mean"] for row in rows] == [1, 1]
    runs = [Loaded.model_validate_json(path.read_text()) for path in Path("o/audit").rglob("home*.json")]
    acts = {sum(step.changes_world for step in run.trajectory.steps) for run in runs}
    assert acts == {steps}, "no action is made twice"


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("o",), "--benchmark"),
        (("o", "--benchmark", NAME, "--out", "o"), "another folder"),
        (("o", "--benchmark", NAME), "with auto"),
        (("nowhere",), "eval run"),
    ],
)
def test_what_cannot_be_audited_is_refused_in_one_line(
    cli: Cli, served: Callable[..., Any], flags: tuple[str, ...], says: str
) -> None:
    served(planted(BENCHMARK.samples(Path(), {})))
    assert cli("eval", "run", NAME, "--sample", "none-1", "--out", "o", "--yes").code == 0
    out = cli("eval", "audit", *flags, "--yes")
    assert (out.code, out.err.count("\n")) == (2, 1)
    assert says in out.err


def test_a_broken_file_of_rules_is_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    rule = "{id: a, mechanism: tool_intra, skip_if: [], limits: {steps: 3}, why: a test}"
    Path("wrong.yaml").write_text(f"rules:\n  - {rule}\n", "utf-8")
    for name, says in (("gone.yaml", "cannot be read"), ("wrong.yaml", "no limit 'steps'; use: subtasks")):
        monkeypatch.setenv("FORETHOUGHT_EFFORT_FILE", name)
        out = cli("run", "a task")
        assert (out.code, out.err.count("\n")) == (2, 1)
        assert name in out.err
        assert says in out.err
