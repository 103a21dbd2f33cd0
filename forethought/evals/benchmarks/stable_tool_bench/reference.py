"""Answers of a reference method, which the win rate compares with.

Read is a file of the benchmark's own converted predictions (query id -> {answer: {final_answer,
answer_details}}), a folder with one such file a set, or the results.jsonl of an evaluation with one method.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forethought.evals.types import DataError
from forethought.trajectories.types import Loaded

_DEEPEST = 500
"""Steps of a recorded answer that are read."""


@dataclass(frozen=True)
class Solution:
    """An answer to a query, and the calls that led to it."""

    answer: str
    calls: tuple[str, ...] = ()
    """Each as text: the call and what came back."""

    def json(self) -> dict[str, Any]:
        """Plain JSON, for a sample's data."""
        return {"answer": self.answer, "calls": list(self.calls)}


def read_references(path: Path, set_name: str) -> dict[str, Solution]:
    """The reference's solutions of a set by query id. Raises DataError, one line."""
    file = path / f"{set_name}.json" if path.is_dir() else path
    try:
        text = file.read_text("utf-8")
        if file.suffix == ".jsonl":
            return _of_results(
                file, [json.loads(line) for line in text.splitlines() if line.strip()], set_name
            )
        return {str(key): _converted(item) for key, item in json.loads(text).items()}
    except OSError as error:
        raise DataError(f"the reference {file} cannot be read ({error.strerror or error})") from error
    except DataError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        wanted = "the benchmark's converted predictions nor an evaluation's results.jsonl"
        raise DataError(f"the reference {file} is neither {wanted}") from error


def _of_results(file: Path, lines: Sequence[Mapping[str, Any]], set_name: str) -> dict[str, Solution]:
    """The first trial of each query of the set."""
    if len({line.get("method") for line in lines}) > 1:
        raise DataError(f"the reference {file} holds several methods: keep the lines of one")
    found: dict[str, Solution] = {}
    for line in lines:
        its_set, _, key = str(line["sample"]).rpartition("-")
        if its_set == set_name:
            kept = line.get("trajectory")
            calls = _steps(file.parent / str(kept)) if kept else ()
            found.setdefault(key, Solution(str(line.get("answer") or ""), calls))
    return found


def _steps(path: Path) -> tuple[str, ...]:
    trajectory = Loaded.model_validate_json(path.read_text("utf-8")).trajectory
    return tuple(f"{step.action}\n-> {step.observation}" for step in trajectory.steps if step.action)


def _converted(item: Mapping[str, Any]) -> Solution:
    answer = item["answer"]
    return Solution(final_answer(str(answer["final_answer"])), tuple(_calls(answer.get("answer_details"))))


def final_answer(text: str) -> str:
    """The text of a `Finish` call; '' where it gave up; the text itself where it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return "" if "give_up_and_restart" in text else text
    if not isinstance(value, dict) or "return_type" not in value:
        return text
    return str(value.get("final_answer") or "") if value["return_type"] == "give_answer" else ""


def _calls(details: Any) -> Iterator[str]:
    """The calls along the first path of the tree of nodes."""
    for _ in range(_DEEPEST):
        if not isinstance(details, list) or not details or not isinstance(details[0], dict):
            return
        message = details[0].get("message")
        if details[0].get("role") == "tool" and isinstance(message, dict) and message.get("name") != "Finish":
            yield f"{message.get('name')}({message.get('arguments')})\n-> {message.get('response')}"
        details = details[0].get("next")
