"""Reading TravelPlanner's data folder into samples.

FOLDER/train.csv or validation.csv      (or .jsonl) the rows of the Hugging Face dataset osunlp/TravelPlanner
FOLDER/database/                        the unzipped database; also train_ref_info.jsonl and the like
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from forethought.evals.benchmarks import reading
from forethought.evals.benchmarks.reading import Source, csv_of, find, jsonl_of
from forethought.evals.benchmarks.travel_planner.database import missing_files
from forethought.evals.benchmarks.travel_planner.query import query_of_row
from forethought.evals.benchmarks.travel_planner.reference import Reference, as_text, reference_of
from forethought.evals.types import DataError, Sample

SOURCE = Source(
    "Get the CSV files of huggingface.co/datasets/osunlp/TravelPlanner (gated), and the database that "
    "github.com/OSU-NLP-Group/TravelPlanner links to"
)
COLUMNS = (
    "org", "dest", "days", "visiting_city_number", "people_number", "local_constraint", "budget", "query",
    "level",
)  # fmt: skip
CHOICES = {
    "split": ("validation", "train"),
    "stage": ("sole-planning", "two-stage"),
    "information": ("task", "tool"),
    "sandbox": ("auto", "database", "reference"),
    "parse": ("model", "strict"),
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
    references = _references(folder, split, rows)
    database = _database(folder, chosen)
    samples = []
    for number, ((place, row), reference) in enumerate(zip(rows, references, strict=True), 1):
        if reference is None and not (two_stage and database):
            raise SOURCE.fault(place, "there is no reference information for this task")
        try:
            samples.append(_sample(f"{split}-{number}", row, reference or {}, database, chosen))
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
    sole, as_tool = chosen["stage"] == "sole-planning", chosen["information"] == "tool"
    task = f"{text}\n\n{_SOLE if sole else _TWO_STAGE}"
    if sole and as_tool:
        titles = "\n".join(f"- {title}" for title in reference)
        task += f"\n\n# Given information, by title: given_information reads it\n{titles}"
    elif sole:
        task += f"\n\n# Given information\n{as_text(reference)}"
    kept = reference if sole or not database else {}
    return Sample(
        id=key,
        task=task,
        answer_format=FORMAT,
        target=query.json(),
        groups={"level": query.level, "days": str(query.days)},
        data={"query": text, "reference": kept, "database": database, **chosen},
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


def _references(
    folder: Path, split: str, rows: list[tuple[str, Mapping[str, Any]]]
) -> list[Reference | None]:
    """The JSON form where it lies in the database folder, else the dataset's column. Raises DataError."""
    path = folder / "database" / f"{split}_ref_info.jsonl"
    given = [(place, row.get("reference_information")) for place, row in rows]
    if path.is_file():
        given = list(jsonl_of(path, SOURCE))
        if len(given) != len(rows):
            raise SOURCE.fault(str(path), f"{len(given)} lines for {len(rows)} tasks")
    found = []
    for place, value in given:
        try:
            found.append(reference_of(value) if value else None)
        except DataError as error:
            raise SOURCE.fault(place, str(error)) from error
    return found
