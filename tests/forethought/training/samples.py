"""Records of failed tries for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from forethought.json_files import write_records as write_rows
from forethought.training.gate import Retry
from forethought.training.records import ReflectionRecord
from tests.support.evaluations import result_record, write_folder

CITIES = ("Lima", "Oslo", "Quito", "Cairo", "Delhi", "Perth", "Turin", "Sofia", "Accra", "Dakar")


def record(number: int = 0, **changes: Any) -> ReflectionRecord:
    """A failed try at the task about city `number`."""
    city = CITIES[number % len(CITIES)]
    steps = (
        f'step 1 [find] search({{"q": "{city} hotels"}}): ok: {city}: 3 hotels\n'
        "step 2 [book] book({}): FAILED (input): no date given"
    )
    given: dict[str, Any] = {
        "task_id": f"t{number}",
        "trajectory_id": f"t{number}.1",
        "task": f"Book a hotel in {city} for {number + 2} nights.",
        "background": f"Policy {number}: every booking needs a date.",
        "trajectory": steps,
        "answer": f"Nothing was booked in {city}.",
        "reflection": f"The booking in {city} had no date (step 2). Ask for the date before any booking.",
    }
    return ReflectionRecord.model_validate({**given, **changes})


def write_records(path: Path, records: Sequence[ReflectionRecord]) -> Path:
    """The records as the synthesizer's file."""
    write_rows(path, records)
    return path


def trial(task: int, before: str, after: str, number: int = 1) -> Retry:
    """A trial whose error types are letters."""
    return Retry(
        task_id=f"h{task}", trajectory_id=f"h{task}.{number}", before=tuple(before), after=tuple(after)
    )


def write_retries(name: str, *retries: tuple[str, Retry]) -> str:
    """A folder of `eval run --method error-reduction`: retries by reflector."""
    rows = [{"reflector": reflector, "solved": False, **one.model_dump()} for reflector, one in retries]
    write_folder(Path(name), [result_record("error-reduction", "s1", 0.0, retries=rows)])
    return name
