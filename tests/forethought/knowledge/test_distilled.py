"""The packaged result of a distillation: it loads, and says where everything in it comes from."""

from __future__ import annotations

import json
from pathlib import Path

import forethought.knowledge
from forethought.knowledge.planning_errors import load_planning_errors

FOLDER = Path(forethought.knowledge.__file__).parent / "distilled"
FILE = FOLDER / "planning_errors.yaml"


def test_it_can_be_used_as_it_is_and_every_pattern_names_a_run_and_a_question_that_is_listed() -> None:
    provenance = json.loads(FILE.with_suffix(".provenance.json").read_text("utf-8"))
    questions = [item["question"] for item in provenance["questions"]]
    errors = load_planning_errors(FILE)
    assert len(errors) == 5
    for error in errors:
        for pattern in (*error.failures, *error.successes):
            assert pattern.provenance.trajectory, error.name
            assert any(asked.startswith(pattern.provenance.question[:40]) for asked in questions)
