"""The record of where errors come from, and what evaluations read of it."""

from __future__ import annotations

from pathlib import Path

from forethought.json_files import write_json
from forethought.knowledge.provenance import (
    provenance_path,
    read_provenance,
    used_fingerprints,
    used_question,
)


def test_questions_are_named_by_their_beginning_and_a_hash(tmp_path: Path) -> None:
    errors = tmp_path / "errors.yaml"
    assert used_fingerprints(errors) == frozenset(), "no record: nothing was used"
    question = used_question("Which of the bridges? " + "and why " * 40)
    assert len(question["question"]) <= 80
    record = read_provenance(provenance_path(errors))
    write_json(provenance_path(errors), {**record, "questions": [question]})
    assert used_fingerprints(errors) == {question["sha256"]}
