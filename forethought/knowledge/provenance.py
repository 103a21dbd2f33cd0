"""Where distilled planning errors come from: a JSON file beside the file of errors.

It lists every question that was used, so that evaluations can leave it out, every trajectory by id, the
model, the time and the counts of each stage. Of trajectories it holds no text, of questions the beginning
only: the hash tells whether a text is one of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from forethought.json_files import read_object
from forethought.text import one_line
from forethought.trajectories.questions import fingerprint

Json = dict[str, Any]
BEGINNING = 80
"""Maximum characters of a recorded question."""


def provenance_path(errors: Path) -> Path:
    """The file beside a file of errors."""
    return errors.with_name(f"{errors.stem}.provenance.json")


def read_provenance(path: Path) -> Json:
    """The record, or an empty one where there is no file. Raises FileError."""
    known = read_object(path) if path.exists() else {}
    return {"version": 1, "questions": [], "distillations": [], **known}


def used_question(task: str) -> Json:
    """A question as the record names it."""
    return {"question": one_line(task, BEGINNING), "sha256": fingerprint(task)}


def used_fingerprints(errors: Path) -> frozenset[str]:
    """Fingerprints of the questions that the errors in this file were distilled from: an evaluation leaves a
    task out whose `fingerprint` is among them. Raises FileError."""
    questions = read_provenance(provenance_path(errors))["questions"]
    return frozenset(str(item["sha256"]) for item in questions if isinstance(item, dict) and "sha256" in item)
