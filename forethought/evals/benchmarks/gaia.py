"""GAIA: questions for assistants with tools, at three levels, some with a file (Mialon et al. 2023).

PreFlect (Table 4) and AgentDebug (Figure 6) report it. The data is gated and never bundled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from forethought.evals.benchmarks.gaia_scorer import kind_of, quasi_exact_match
from forethought.evals.benchmarks.reading import Source, check_unique, choice, find, jsonl_of, row_of
from forethought.evals.types import (
    Attempt,
    Benchmark,
    DataError,
    Sample,
    Score,
    Services,
    UnscoredError,
)

SOURCE = Source(
    "GAIA is gated: accept its terms at https://huggingface.co/datasets/gaia-benchmark/GAIA, download it "
    "with `hf download gaia-benchmark/GAIA --repo-type dataset --local-dir DIR`, and give DIR. Its terms "
    "forbid passing it on"
)
ANSWER_FORMAT = (
    "The answer alone, with as few words as possible: a number, a few words, or a list of these separated by "
    "commas. A number in digits, without thousands separators, and without a unit or a sign such as $ or % "
    "unless the question asks for one. Words without articles and abbreviations, digits as digits. In a list "
    "each element keeps these rules."
)
_SPLITS, _LEVELS = ("validation", "test"), ("all", "1", "2", "3")
_HIDDEN = "?"
"""What the test split has in place of an answer."""


class _Row(BaseModel):
    id: str = Field(alias="task_id", min_length=1)
    question: str = Field(alias="Question", min_length=1)
    level: Annotated[str, BeforeValidator(str)] = Field(alias="Level", pattern="^[123]$")
    answer: str = Field(default=_HIDDEN, alias="Final answer", min_length=1)
    file_name: str | None = None


class Gaia(Benchmark):
    """See the module."""

    name = "gaia"
    title = "GAIA"
    about = "165 questions with tools and files at three levels (validation); gated; PreFlect Table 4"
    main_metric = "correct"
    builtin_tools: Sequence[str] = (
        "read_file",
        "inspect_image",
        "inspect_audio",
        "python",
        "web_search",
        "visit_webpage",
    )
    options: Mapping[str, str] = {
        "split": "validation (default), or test, whose answers are not public: nothing is scored, and the "
        "answers in results.jsonl can be sent to the leaderboard",
        "level": "1, 2 or 3 (default: all)",
    }

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """See `Benchmark`."""
        split, level = choice(options, "split", _SPLITS), choice(options, "level", _LEVELS)
        folders = (f"2023/{split}", split, "")
        path = find(data, ("metadata.jsonl", "metadata.parquet"), SOURCE, folders)
        reader = _parquet if path.suffix == ".parquet" else _jsonl
        samples = [_sample(row, path.parent, split, place) for place, row in reader(path)]
        if not samples:
            raise SOURCE.fault(str(path), "the file is empty")
        check_unique([sample.id for sample in samples], path, SOURCE)
        return [sample for sample in samples if level in ("all", sample.groups["level"])]

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """1 for a quasi-exact match. Raises UnscoredError for the test split."""
        if sample.target is None:
            raise UnscoredError(
                "GAIA's test answers are not public: send the answers in results.jsonl to the leaderboard, "
                "https://huggingface.co/spaces/gaia-benchmark/leaderboard"
            )
        expected = str(sample.target)
        correct = quasi_exact_match(attempt.answer, expected)
        return Score({"correct": float(correct)}, f"compared as a {kind_of(expected)}")

    def floor(self, sample: Sample) -> float | None:
        """0 for an empty answer; None where answers are not public."""
        return None if sample.target is None else float(quasi_exact_match("", str(sample.target)))


def _jsonl(path: Path) -> Iterator[tuple[str, _Row]]:
    for place, value in jsonl_of(path, SOURCE):
        yield place, row_of(_Row, value, place, SOURCE)


def _parquet(path: Path) -> Iterator[tuple[str, _Row]]:
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise DataError(f"{path}: reading Parquet needs pyarrow: pip install pyarrow") from error
    try:
        values: list[Any] = parquet.read_table(path).to_pylist()
    except (OSError, ValueError) as error:
        raise SOURCE.fault(str(path), f"no readable Parquet file ({error})") from error
    for number, value in enumerate(values, 1):
        place = f"{path}, row {number}"
        yield place, row_of(_Row, value, place, SOURCE)


def _sample(row: _Row, folder: Path, split: str, place: str) -> Sample:
    file = folder / row.file_name if row.file_name else None
    if file is not None and (file.parent != folder or not file.is_file()):
        raise SOURCE.fault(place, f"its file {row.file_name} is not in {folder}")
    known = split == "validation"
    if known and row.answer == _HIDDEN:
        raise SOURCE.fault(place, "there is no Final answer: this is not the validation split")
    return Sample(
        id=row.id,
        task=row.question,
        files=() if file is None else (file,),
        answer_format=ANSWER_FORMAT,
        target=row.answer if known else None,
        groups={"level": row.level, "file": file.suffix.lstrip(".").lower() if file else "none"},
    )


BENCHMARK = Gaia()
