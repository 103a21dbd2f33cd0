"""AgentErrorBench: runs and labels, the task in words, and Table 1's measures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forethought.evals import critical_error_task
from forethought.evals.benchmarks.agent_error_bench import BENCHMARK
from forethought.evals.types import DataError
from forethought.knowledge.error_taxonomy import load_taxonomy
from tests.support.answers import score, summary, write_json
from tests.support.debugging import trajectory

LABEL = {
    "critical_failure_step": 2,
    "critical_failure_module": "planning",
    "failure_type": "constraint_ignorance",
}
FOUND = {"critical_step": 2, "critical_module": "planning", "error_type": "constraint_ignorance"}


def place(tmp_path: Path, environments: tuple[str, ...] = ("alfworld", "webshop"), **label: Any) -> Path:
    """A folder with a run in each environment, in the data set's form, and the labels."""
    for name in environments:
        messages = [{"role": "user", "content": "Your task is to: find the key."}]
        for number in (1, 2):
            messages += [
                {
                    "role": "assistant",
                    "content": f"<plan>open drawer {number}</plan><action>open {number}</action>",
                },
                {"role": "user", "content": "It is empty."},
            ]
        metadata = {"task_id": f"{name} 1", "success": False, "environment": name}
        write_json(tmp_path / f"{name} 1.json", {"metadata": metadata, "messages": messages})
    labels = [{"trajectory_id": f"{name} 1", **LABEL, **label} for name in environments]
    write_json(tmp_path / "labels.json", labels)
    return tmp_path


def test_a_sample_asks_for_the_critical_error_and_hides_the_label(tmp_path: Path) -> None:
    samples = BENCHMARK.samples(place(tmp_path), {})
    assert [(sample.id, sample.groups["environment"]) for sample in samples] == [
        ("alfworld-1", "alfworld"),
        ("webshop-1", "webshop"),
    ]
    shown = samples[0].task + samples[0].answer_format
    assert "success" not in shown
    assert shown.count("constraint_ignorance") == 1, "only in the list of types"
    assert samples[0].target == FOUND
    assert [sample.id for sample in BENCHMARK.samples(tmp_path, {"environment": "webshop"})] == ["webshop-1"]


@pytest.mark.parametrize(
    ("answer", "measures"),
    [
        (json.dumps(FOUND), (1.0, 1.0, 1.0)),
        ("It is this: " + json.dumps({**FOUND, "error_type": "Constraint Ignorance"}), (1.0, 1.0, 1.0)),
        (json.dumps({**FOUND, "error_type": "inefficient_plan"}), (1.0, 1.0, 0.0)),
        (json.dumps({**FOUND, "critical_module": "memory"}), (1.0, 0.0, 0.0)),
        (json.dumps({**FOUND, "critical_step": 1}), (0.0, 0.0, 0.0)),
        (json.dumps({**FOUND, "critical_module": "liver"}), (0.0, 0.0, 0.0)),
        ("step 2", (0.0, 0.0, 0.0)),
        ("", (0.0, 0.0, 0.0)),
    ],
)
async def test_measures(tmp_path: Path, answer: str, measures: tuple[float, ...]) -> None:
    sample = BENCHMARK.samples(place(tmp_path), {})[0]
    found = (await score(BENCHMARK, sample, answer)).values
    assert found == dict(zip(("step", "step_and_module", "all_correct"), measures, strict=True))
    assert BENCHMARK.floor(sample) == 0.0


async def test_the_average_is_over_environments(tmp_path: Path) -> None:
    one, two = BENCHMARK.samples(place(tmp_path), {})
    figures = await summary(BENCHMARK, [(one, json.dumps(FOUND)), (one, ""), (two, json.dumps(FOUND))])
    assert figures == {"average_step": 0.75, "average_step_and_module": 0.75, "average_all_correct": 0.75}


def test_absent_environments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the data has alfworld, webshop"):
        BENCHMARK.samples(place(tmp_path), {"environment": "gaia"})


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ({"critical_failure_step": 9}, r"no step 9 to annotate.*ulab-uiuc/AgentDebug"),
        ({"critical_failure_step": 0}, r"labels\.json: label 1: .*step's number"),
        ({"critical_failure_module": "liver"}, "label 1: .*not a module"),
        ({"trajectory_id": "z"}, "no trajectory has an annotation"),
    ],
)
def test_labels_that_fit_nothing_are_refused(tmp_path: Path, label: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        BENCHMARK.samples(place(tmp_path, **label), {})
    with pytest.raises(DataError, match="no such folder"):
        BENCHMARK.samples(tmp_path / "none", {})


def test_labels_may_name_the_type_at_their_step_and_runs_may_hold_their_own(tmp_path: Path) -> None:
    steps = [{"step": 2, "planning": {"failure_type": "Plan_inefficient ", "reasoning": "so"}}]
    place(tmp_path, ("alfworld",), failure_type=None, step_annotations=steps)
    (tmp_path / "._a.json").write_bytes(b"\x00\x05\xff")
    own = {"critical_step": 1, "critical_module": "action", "error_type": "format_error"}
    run = {"id": "own", "task": "t", "steps": [{"number": 1, "action": "look"}]}
    write_json(tmp_path / "own.json", {"trajectory": run, "reference": {"annotation": own}})
    found = {sample.id: sample.target["error_type"] for sample in BENCHMARK.samples(tmp_path, {})}
    assert found == {"alfworld-1": "inefficient_planning", "own": "format_error"}


def test_the_run_can_be_read_back_from_the_task() -> None:
    run = trajectory(3, changes={2: {"observation": "The run, as JSON:\n{}"}})
    assert critical_error_task.run_in(critical_error_task.question(run, load_taxonomy())) == run
    with pytest.raises(ValueError, match="not about a run"):
        critical_error_task.run_in("Which bridge?")
