"""The dataset: records to rows of chat messages, scrubbed, without near-duplicates, split by task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from forethought.json_files import FileError, read_records, sha256, write_json, write_records
from forethought.training.errors import TrainingError
from forethought.training.records import RecordStep, ReflectionRecord, normalized
from forethought.training.selection import split_by_task, without_near_duplicates

M = TypeVar("M", bound=BaseModel)
TRAIN, HELD_OUT, ABOUT = "train.jsonl", "held_out.jsonl", "export.json"


class ChatMessage(BaseModel):
    """One message of a row."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Literal["system", "user", "assistant"]
    content: str = Field(min_length=1)


class Row(BaseModel):
    """A row of the dataset: the prompt as a run would put it, and the reflection as the assistant's reply."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    messages: tuple[ChatMessage, ChatMessage, ChatMessage]
    """System, user, assistant."""
    task_id: str
    trajectory_id: str
    task: str
    """The task's normalised text, by which the gate tells what the model was trained on."""

    @property
    def user(self) -> str:
        """The user message's text."""
        return self.messages[1].content

    def with_user(self, text: str) -> Row:
        """The row with another user message."""
        system, user, assistant = self.messages
        return self.model_copy(
            update={"messages": (system, user.model_copy(update={"content": text}), assistant)}
        )


def row_of(record: ReflectionRecord) -> Row:
    """The record as a row."""
    system, user = record.prompt()
    return Row(
        messages=(
            ChatMessage(role="system", content=system),
            ChatMessage(role="user", content=user),
            ChatMessage(role="assistant", content=record.reflection),
        ),
        task_id=record.task_id,
        trajectory_id=record.trajectory_id,
        task=normalized(record.task),
    )


@dataclass(frozen=True)
class ExportSummary:
    """Result of an export. Counts are of rows, but for `tasks`."""

    read: int
    scrubbed: int
    near_duplicates: int
    train: int
    held_out: int
    tasks: tuple[int, int]
    longest: int
    """Characters of the longest prompt and its reflection."""


def export(
    files: Sequence[Path],
    out: Path,
    scrub: Callable[[str], str],
    *,
    held_out: float = 0.1,
    seed: int = 0,
    similar: float = 0.9,
) -> ExportSummary:
    """Write train.jsonl, held_out.jsonl and export.json (the options and counts) into `out`.

    Raises FileError or TrainingError that says what is wrong with which file.
    """
    records = [record for file in files for record in read_rows(file, ReflectionRecord)]
    clean = [_scrubbed(record, scrub) for record in records]
    distinct, dropped = without_near_duplicates(clean, similar)
    sides = split_by_task(distinct, held_out, seed)
    train, away = ([row_of(record) for record in side] for side in sides)
    summary = ExportSummary(
        read=len(records),
        scrubbed=sum(one != other for one, other in zip(records, clean, strict=True)),
        near_duplicates=len(dropped),
        train=len(train),
        held_out=len(away),
        tasks=(len({row.task for row in train}), len({row.task for row in away})),
        longest=max(sum(len(message.content) for message in row.messages) for row in (*train, *away)),
    )
    about: dict[str, Any] = {"held_out": held_out, "seed": seed, "similar": similar, **vars(summary)}
    try:
        write_records(out / TRAIN, train)
        write_records(out / HELD_OUT, away)
        write_json(out / ABOUT, {**about, "left_out": dropped})
    except OSError as error:
        raise FileError(f"{out}: cannot be written to ({error.strerror or error})") from error
    return summary


def read_rows(path: Path, kind: type[M]) -> list[M]:
    """The lines of a file, each a `kind`, at least one. Raises FileError."""
    rows = [row for _, row in read_records(path, kind)]
    if not rows:
        raise FileError(f"{path}: it holds no rows")
    return rows


def _scrubbed(record: ReflectionRecord, scrub: Callable[[str], str]) -> ReflectionRecord:
    texts = ("task_id", "trajectory_id", "task", "background", "plan", "answer", "evaluation", "reflection")
    changes: dict[str, Any] = {name: scrub(getattr(record, name)) for name in texts}
    changes["trajectory"] = (
        scrub(record.trajectory)
        if isinstance(record.trajectory, str)
        else tuple(_scrubbed_step(step, scrub) for step in record.trajectory)
    )
    return record.model_copy(update=changes)


def _scrubbed_step(step: RecordStep, scrub: Callable[[str], str]) -> RecordStep:
    texts = ("subtask", "move", "cause", "observation")
    return step.model_copy(update={name: scrub(getattr(step, name)) for name in texts})


@dataclass(frozen=True)
class Dataset:
    """The rows of an export, and the hash of the training file, by which a run is continued."""

    train: list[Row]
    held_out: list[Row]
    sha256: str


def load_dataset(data: Path) -> Dataset:
    """The dataset of a folder that `export` wrote, or of one file of rows.

    Raises FileError where it is damaged, TrainingError where it is missing.
    """
    train = data / TRAIN if data.is_dir() else data
    away = data / HELD_OUT
    if not train.is_file():
        raise TrainingError(
            f"{train} is missing: make it with `forethought train export RECORDS --out {data}`"
        )
    rows = read_rows(train, Row)
    others = read_rows(away, Row) if data.is_dir() and away.is_file() and away.stat().st_size else []
    return Dataset(rows, others, sha256(train))
