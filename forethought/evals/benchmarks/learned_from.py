"""Leaving out the questions that planning errors were distilled from: what was learned from is not evaluated
on (PreFlect 3.2.1)."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from forethought.evals.types import DataError, Sample
from forethought.json_files import FileError
from forethought.knowledge import provenance
from forethought.trajectories.questions import fingerprint

SHIPPED = Path(provenance.__file__).parent / "distilled" / "planning_errors.yaml"
OPTION = "leave_out"
ABOUT = (
    "a file of planning errors whose source questions are left out (default: the packaged "
    "file); none keeps all questions"
)
_log = logging.getLogger(__name__)


def without_learned_from(
    samples: Sequence[Sample], questions: Sequence[str], options: Mapping[str, str]
) -> list[Sample]:
    """The samples whose question (the same place in `questions`) was not learned from; the log says how many
    were left out. Raises DataError when the file that the option names cannot be read."""
    option = options.get(OPTION)
    if option == "none":
        return list(samples)
    errors = SHIPPED if option is None else Path(option)
    record = provenance.provenance_path(errors)
    if not record.is_file():
        raise DataError(
            f"{record}: not found, but it lists the source questions of {errors.name}: name another "
            f"file with {OPTION}, or keep all questions with {OPTION}=none"
        )
    try:
        used = provenance.used_fingerprints(errors)
    except FileError as error:
        raise DataError(str(error)) from error
    remaining = [
        sample
        for sample, question in zip(samples, questions, strict=True)
        if fingerprint(question) not in used
    ]
    if left := len(samples) - len(remaining):
        _log.warning(
            "left out %d of %d questions, from which %s was distilled", left, len(samples), errors.name
        )
    return remaining
