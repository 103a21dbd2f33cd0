"""The record of where errors come from, and what evaluations read of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from forethought.json_files import FileError
from forethought.knowledge.provenance import (
    provenance_path,
    read_provenance,
    used_fingerprints,
    used_question,
    write_provenance,
)
from forethought.trajectories.questions import fingerprint


def test_questions_are_named_by_their_beginning_and_a_hash(tmp_path: Path) -> None:
    errors = tmp_path / "errors.yaml"
    task = "Which of the bridges? " + "and why " * 40
    record = read_provenance(provenance_path(errors))
    record["questions"].append(used_question(task))
    write_provenance(provenance_path(errors), record)
    assert used_fingerprints(errors) == {fingerprint(task.upper())}
    assert len(read_provenance(provenance_path(errors))["questions"][0]["question"]) <= 80
    assert [path.name for path in tmp_path.iterdir()] == ["errors.provenance.json"]


def test_no_record_means_that_nothing_was_used(tmp_path: Path) -> None:
    assert used_fingerprints(tmp_path / "errors.yaml") == frozenset()


@pytest.mark.parametrize(("text", "said"), [("{", "broken JSON"), ("[]", "no JSON object")])
def test_a_damaged_record_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "errors.provenance.json").write_text(text)
    with pytest.raises(FileError, match=said):
        used_fingerprints(tmp_path / "errors.yaml")
