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


def test_questions_are_named_by_their_beginning_and_a_hash(tmp_path: Path) -> None:
    errors = tmp_path / "errors.yaml"
    assert used_fingerprints(errors) == frozenset(), "no record: nothing was used"
    question = used_question("Which of the bridges? " + "and why " * 40)
    assert len(question["question"]) <= 80
    record = read_provenance(provenance_path(errors))
    write_provenance(provenance_path(errors), {**record, "questions": [question]})
    assert used_fingerprints(errors) == {question["sha256"]}


@pytest.mark.parametrize(("text", "said"), [("{", "broken JSON"), ("[]", "no JSON object")])
def test_a_damaged_record_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "errors.provenance.json").write_text(text)
    with pytest.raises(FileError, match=said):
        used_fingerprints(tmp_path / "errors.yaml")
