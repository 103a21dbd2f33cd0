"""Reading TravelPlanner's data folder into samples.

FOLDER/train.csv or validation.csv      (or .jsonl) the rows of the Hugging Face dataset osunlp/TravelPlanner
FOLDER/database/                        the unzipped database, and the repository's train_ref_info.jsonl
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from forethought.evals.benchmarks import reading
from forethought.evals.benchmarks.reading import Source, csv_of, find, jsonl_of
from forethought.evals.benchmarks.travel_planner.database import missing_files
from forethought.evals.benchmarks.travel_planner.query import query_of_row
from forethought.evals.benchmarks.travel_planner.reference import Reference, as_text, check_reference
from forethought.evals.types import DataError, Sample

SOURCE = Source(
    "Get the CSV files of huggingface.co/datasets/osunlp/TravelPlanner (gated), the reference information in "
    "the folder database of github.com/OSU-NLP-Group/TravelPlanner, and the database that it links to"
)
COLUMNS = (
    "org", "dest", "days", "visiting_city_number", "people_number", "local_constraint", "budget", "query",
    "level",
)  # fmt: skip
CHOICES = {
    "split": ("validation", "train"),
    "stage": ("sole-planning", "two-stage"),
    "sandbox": ("auto", "database", "reference"),
}
"""What each option may be; the first is the default."""
FORMAT = (
    "The answer is the plan as a JSON list of one object a day with the keys days (1, 2, ...), current_city, "
    "transportation, breakfast, attraction, lunch, dinner and accommodation, all texts but days. "
    "current_city is a city, or `from A to B` on a day of travel. transportation reads like "
    "`Flight Number: F0123456, from A to B, Departure Time: 05:38, Arrival Time: 07:46`, "
    "`Self-driving, from A to B, duration: 3 hours, distance: 300 km, cost: 15` or `Taxi, from A to B, ...`. "
    "Meals and accommodation read `Name, City`, attraction `Name, City;Name, City;` with a semicolon after "
    "each one. `-` stands where nothing is needed. Where the destination is a state, its cities are written "
    "with it, such as `Dayton(Ohio)`."
)
"""The form alone: the benchmark's rules forbid hints at what its constraints are."""
_SOLE = "Use only the information that is given; every name, number and time in the plan comes from it."
_TWO_STAGE = "Use only what the search tools find; every name, number and time in the plan comes from them."


def read_samples(folder: Path, options: Mapping[str, str]) -> list[Sample]:
    """The samples of a split, numbered as in its file. Raises DataError."""
    chosen = {name: reading.choice(options, name, allowed) for name, allowed in CHOICES.items()}
    split, two_stage = chosen["split"], chosen["stage"] == "two-stage"
    rows = list(_rows(folder, split))
    database = _database(folder, chosen)
    searched = two_stage and bool(database)
    references = [{}] * len(rows) if searched else _references(folder, split, len(rows))
    samples = []
    for number, ((place, row), reference) in enumerate(zip(rows, references, strict=True), 1):
        try:
            samples.append(_sample(f"{split}-{number}", row, reference, database, chosen))
        except DataError as error:
            raise SOURCE.fault(place, str(error)) from error
    return samples


def _database(folder: Path, chosen: Mapping[str, str]) -> str:
    """The database's folder, '' where the reference information stands in for it. Raises DataError."""
    base = folder / "database"
    lacking = missing_files(base)
    if lacking and (
        chosen["sandbox"] == "database" or (chosen["sandbox"], chosen["stage"]) == ("auto", "two-stage")
    ):
        hint = "set sandbox=reference to do with the reference information of each task"
        raise SOURCE.fault(str(base), f"the database lacks {lacking[0]} ({hint})")
    return "" if lacking or chosen["sandbox"] == "reference" else str(base.resolve())


def _sample(
    key: str, row: Mapping[str, Any], reference: Reference, database: str, chosen: Mapping[str, str]
) -> Sample:
    query = query_of_row(row)
    text = str(row.get("query", "")).strip()
    if not text:
        raise DataError("the column query is empty")
    sole = chosen["stage"] == "sole-planning"
    given = f"{_SOLE}\n\n# Given information\n{as_text(reference)}" if sole else _TWO_STAGE
    return Sample(
        id=key,
        task=f"{text}\n\n{given}",
        answer_format=FORMAT,
        target=query.json(),
        groups={"level": query.level, "days": str(query.days)},
        data={"query": text, "reference": reference, "database": database, **chosen},
    )


def _rows(folder: Path, split: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Place and row of each task of a split."""
    path = find(folder, (f"{split}.csv", f"{split}.jsonl"), SOURCE)
    found = csv_of(path, COLUMNS, SOURCE) if path.suffix == ".csv" else jsonl_of(path, SOURCE)
    empty = True
    for place, row in found:
        if not isinstance(row, Mapping):
            raise SOURCE.fault(place, "a task is an object")
        empty = False
        yield place, row
    if empty:
        raise SOURCE.fault(str(path), "there are no tasks in it")


def _references(folder: Path, split: str, tasks: int) -> list[Reference]:
    """The reference information of each task. Raises DataError."""
    path = find(folder, (f"{split}_ref_info.jsonl",), SOURCE, ("database", ""))
    lines = list(jsonl_of(path, SOURCE))
    if len(lines) != tasks:
        raise SOURCE.fault(str(path), f"{len(lines)} lines for {tasks} tasks")
    found = []
    for place, value in lines:
        try:
            found.append(check_reference(value))
        except DataError as error:
            raise SOURCE.fault(place, str(error)) from error
    return found
