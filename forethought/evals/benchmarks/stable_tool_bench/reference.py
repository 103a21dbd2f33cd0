"""Answers of a reference method, which the win rate compares with: the results of an evaluation with one
method."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forethought.evals.types import DataError
from forethought.trajectories.types import Loaded, Trajectory


@dataclass(frozen=True)
class Solution:
    """An answer to a query, and the calls that led to it."""

    answer: str
    calls: tuple[str, ...] = ()
    """Each as text: the call and what came back."""

    def json(self) -> dict[str, Any]:
        """Plain JSON, for a sample's data."""
        return {"answer": self.answer, "calls": list(self.calls)}


def read_references(file: Path, set_name: str) -> dict[str, Solution]:
    """The first trial at each query of a set, by the query's id, out of a results.jsonl. Raises DataError,
    one line."""
    try:
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
        if len({line["method"] for line in lines}) > 1:
            raise DataError(f"the reference {file} holds several methods: keep the lines of one")
        found: dict[str, Solution] = {}
        for line in lines:
            its_set, _, key = str(line["sample"]).rpartition("-")
            if its_set == set_name and key not in found:
                found[key] = _solution(file, line)
        return found
    except OSError as error:
        raise DataError(f"the reference {file} cannot be read ({error.strerror or error})") from error
    except DataError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(f"the reference {file} is no evaluation's results.jsonl") from error


def _solution(file: Path, line: Mapping[str, Any]) -> Solution:
    answer = str(line.get("answer") or "")
    if not line.get("trajectory"):
        return Solution(answer)
    text = (file.parent / str(line["trajectory"])).read_text("utf-8")
    return Solution(answer, calls_of(Loaded.model_validate_json(text).trajectory))


def calls_of(trajectory: Trajectory) -> tuple[str, ...]:
    """The steps of a run as a judge is shown them."""
    return tuple(f"{step.action}\n-> {step.observation}" for step in trajectory.steps if step.action)
