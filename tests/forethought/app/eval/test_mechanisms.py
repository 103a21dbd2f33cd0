"""An evaluation's table says what each mechanism of our agent cost and changed, and how often for the
better."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.planted_faults.model import planted
from benchmarks.planted_faults.world import BENCHMARK
from tests.forethought.app.conftest import Cli
from tests.support.evaluations import result_record, write_folder

Json = dict[str, Any]


def lines_of(cli: Cli, folder: str, method: str) -> dict[str, Json]:
    """A method's mechanisms, as `eval report --json` prints them."""
    (row,) = [row for row in cli("eval", "report", folder, "--json").json["rows"] if row["method"] == method]
    return {one["mechanism"]: one for one in row["mechanisms"]}


def test_a_mechanism_is_held_against_the_same_samples_without_it(
    cli: Cli, served: Callable[..., Any]
) -> None:
    served(planted(BENCHMARK.samples(Path(), {})))
    done = cli(
        *("eval", "run", "benchmarks.planted_faults.world:BENCHMARK", "--method", "ours-paper,no-plan-intra"),
        *("--sample", "plan-1,plan-2,none-1", "--out", "o", "--yes"),
    )
    assert done.code == 0, done.err
    plans = lines_of(cli, "o", "ours-paper")["plan_intra"]
    assert (plans["trials"], plans["changed"], plans["solved_changed"], plans["solved_others"]) == (
        3,
        2,
        2,
        1,
    )
    assert (plans["better"], plans["worse"], plans["calls"]) == (2, 0, pytest.approx(2 / 3))
    reflection = lines_of(cli, "o", "ours-paper")["prospective_reflection"]
    assert (reflection["changed"], reflection["better"]) == (0, None), "its ablation was not run"
    assert "plan_intra" not in lines_of(cli, "o", "no-plan-intra")
    text = Path("o/table.md").read_text()
    assert "What each mechanism of ours-paper cost" in text
    assert "mechanism of no-plan-intra" not in text, "an ablation is there to be compared with"


def cost(mechanism: str, changed: int | None = 0, **figures: Any) -> Json:
    """A mechanism's part in a trial."""
    spent = {
        "calls": 2,
        "input_tokens": 90,
        "cached_tokens": 0,
        "output_tokens": 10,
        "usd": 0.5,
        "seconds": 1,
    }
    return {"mechanism": mechanism, **spent, "changed": changed, "skipped": 0, "note": "", **figures}


def test_a_change_for_the_worse_is_counted_too(cli: Cli) -> None:
    revised, same = [cost("tool_intra", 1)], [cost("tool_intra", usd=None)]
    results = [
        result_record("ours-paper", "a", 0.0, costs=revised),
        result_record("ours-paper", "b", 1.0, costs=revised),
        result_record("ours-paper", "c", 0.0, costs=same),
        result_record("ours-paper", "d", 1.0, costs=[cost("moves", None)]),
        *(result_record("no-tool-intra", sample, 1.0, costs=[cost("moves", None)]) for sample in "abc"),
    ]
    write_folder(Path("o"), results, methods=["ours-paper", "no-tool-intra"])
    found = lines_of(cli, "o", "ours-paper")
    moves = found["tool_intra"]
    assert (moves["better"], moves["worse"]) == (0, 1), "what it did not change does not count"
    assert (moves["calls"], moves["tokens"], moves["usd"]) == (1.5, 75, None)
    assert (found["moves"]["changed"], found["moves"]["better"]) == (None, None)
    assert cli("eval", "report", "o", "--html").code == 0
    line = "| tool intra | 1.5 | 75 | ? | 0.8 |  | 2 of 4 | 1 of 2 | 1 of 2 | 0 | 1 |"
    assert line in Path("o/table.md").read_text()
    assert (
        "<td>2 of 4</td><td>1 of 2</td><td>1 of 2</td><td>0</td><td>1</td>"
        in Path("o/report.html").read_text()
    )


def test_results_of_other_methods_have_no_mechanisms(cli: Cli) -> None:
    write_folder(Path("o"), [result_record("react", "a", 1.0)], methods=["react"])
    assert lines_of(cli, "o", "react") == {}
    assert "mechanism" not in Path("o/table.md").read_text()
