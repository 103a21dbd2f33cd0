"""Folders of trajectories with labels of their critical errors."""

import json
from pathlib import Path
from typing import Any

import pytest

from forethought.evals.annotations import labels, read_annotated
from forethought.knowledge.error_taxonomy import load_taxonomy
from tests.forethought.trajectories import examples
from tests.forethought.trajectories.test_read import CHAT, put


def test_labels_that_cannot_be_meant_are_refused():
    with pytest.raises(ValueError, match=r"label 1: .*step's number"):
        labels([{**examples.LABELS[0], "critical_failure_step": 0}], load_taxonomy())
    with pytest.raises(ValueError, match=r"label 1: .*no module"):
        labels([{**examples.LABELS[0], "critical_failure_module": "liver"}], load_taxonomy())


def bench(won: bool = False) -> dict[str, Any]:
    return {"metadata": {"task": "t", "won": won}, "messages": CHAT}


def label(
    name: str, step: int = 1, module: str = "planning", kind: str = "inefficient_plan"
) -> dict[str, Any]:
    row = {"trajectory_id": name, "critical_failure_step": step, "critical_failure_module": module}
    return {**row, "failure_type": kind}


def test_a_folder_of_annotated_trajectories_is_measured(tmp_path):
    for name in "abc":
        put(tmp_path / "runs" / f"{name}.json", bench())
    put(tmp_path / "Label" / "labels.json", [label("a"), label("b", module="memory", kind="false_memory")])
    (tmp_path / "._a.json").write_bytes(b"\x00\x05\xff")
    found = read_annotated(tmp_path, load_taxonomy())
    assert [loaded.trajectory.id for loaded in found] == ["a", "b"]
    known = [loaded.reference.annotation for loaded in found]
    assert [each.error_type for each in known if each] == ["inefficient_planning", "hallucination"]


@pytest.mark.parametrize(
    ("written", "reason"),
    [(None, "no annotations"), ([label("z")], "no trajectory has"), ([label("a", step=9)], "no step 9")],
)
def test_annotations_that_fit_nothing_are_refused(tmp_path, written, reason):
    put(tmp_path / "a.json", bench())
    if written:
        put(tmp_path / "labels.json", written)
    with pytest.raises(ValueError, match=reason):
        read_annotated(tmp_path, load_taxonomy())
    with pytest.raises(ValueError, match="no such folder"):
        read_annotated(tmp_path / "none", load_taxonomy())


def test_an_annotation_beside_its_trajectory_needs_no_labels_file(tmp_path: Path) -> None:
    run = {"id": "a", "task": "t", "steps": [{"number": 1, "action": "look"}]}
    found = {"critical_step": 1, "critical_module": "action", "error_type": "format_error"}
    (tmp_path / "a.json").write_text(json.dumps({"trajectory": run, "reference": {"annotation": found}}))
    (loaded,) = read_annotated(tmp_path, load_taxonomy())
    assert loaded.reference.annotation is not None
