"""The dataset: records to rows of chat messages, scrubbed, without duplicates, split by task."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forethought.json_files import FileError, read_object, read_records, sha256, write_records
from forethought.training.errors import TrainingError
from forethought.training.records import ReflectionRecord
from forethought.trajectories.questions import normalised

M = TypeVar("M", bound=BaseModel)
TRAIN, HELD_OUT = "train.jsonl", "held_out.jsonl"


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
    """The task's normalized text, by which the gate recognizes training tasks."""

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


class HostedRow(BaseModel):
    """A row as OpenAI's fine-tuning takes it: messages and nothing else. The reply is the JSON object that a
    hosted retrospective model is asked for."""

    messages: tuple[ChatMessage, ...]

    @classmethod
    def of(cls, row: Row) -> HostedRow:
        """The row with its reflection as JSON."""
        system, user, assistant = row.messages
        reply = json.dumps({"reflection": assistant.content}, ensure_ascii=False)
        return cls(messages=(system, user, ChatMessage(role="assistant", content=reply)))


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
        task=normalised(record.task),
    )


@dataclass(frozen=True)
class ExportSummary:
    """Result of an export. Counts are of rows, but for `tasks`."""

    read: int
    scrubbed: int
    duplicates: int
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
    hosted: bool = False,
) -> ExportSummary:
    """Write train.jsonl and held_out.jsonl into `out`, as OpenAI's fine-tuning takes them where `hosted`.

    Raises FileError or TrainingError that says what is wrong with which file.
    """
    records = [record for file in files for record in _records_in(file)]
    clean = [_scrubbed(record, scrub) for record in records]
    # One try told twice would count twice. Like reflections on different tries stay: that errors recur is
    # what the model is to learn (SAMULE 3.2.1, inter-task).
    distinct: dict[tuple[str, str], ReflectionRecord] = {}
    for record in clean:
        distinct.setdefault((normalised(record.reflection), normalised(record.prompt()[1])), record)
    sides = split_by_task(list(distinct.values()), held_out, seed)
    train, away = ([row_of(record) for record in side] for side in sides)
    try:
        for name, rows in ((TRAIN, train), (HELD_OUT, away)):
            write_records(out / name, map(HostedRow.of, rows) if hosted else rows)
    except OSError as error:
        raise FileError(f"{out}: cannot be written to ({error.strerror or error})") from error
    return ExportSummary(
        read=len(records),
        scrubbed=sum(one != other for one, other in zip(records, clean, strict=True)),
        duplicates=len(records) - len(distinct),
        train=len(train),
        held_out=len(away),
        tasks=(len({row.task for row in train}), len({row.task for row in away})),
        longest=max(sum(len(message.content) for message in row.messages) for row in (*train, *away)),
    )


def _records_in(file: Path) -> list[ReflectionRecord]:
    """The records of a synthesis, or of what `eval run --method samule` learned. Raises FileError."""
    if file.suffix != ".json":
        return read_rows(file, ReflectionRecord)
    try:
        return [ReflectionRecord.model_validate(item) for item in read_object(file)["learned"]["records"]]
    except (KeyError, TypeError, ValidationError) as error:
        raise FileError(f"{file}: give OUT/learned/samule.json of an evaluation, or JSON Lines") from error


def _scrubbed(record: ReflectionRecord, scrub: Callable[[str], str]) -> ReflectionRecord:
    texts = {name: scrub(value) for name, value in record if isinstance(value, str)}
    return record.model_copy(update=texts)


def split_by_task(
    records: Sequence[ReflectionRecord], held_out: float, seed: int
) -> tuple[list[ReflectionRecord], list[ReflectionRecord]]:
    """(training, held-out) records. The share `held_out` of the tasks is held out, at least one.

    Which ones is told by their texts and the seed alone, whatever the order of the records. Raises
    TrainingError where there is but one task.
    """
    if held_out <= 0:
        return list(records), []
    tasks = same_tasks(records)
    order = sorted(set(tasks), key=lambda task: hashlib.sha256(f"{seed}\0{task}".encode()).digest())
    if len(order) < 2:
        raise TrainingError(
            "all records are of one task, so none can be held out; add tasks or use --held-out 0"
        )
    away = set(order[: min(max(1, round(held_out * len(order))), len(order) - 1)])
    train = [record for record, task in zip(records, tasks, strict=True) if task not in away]
    return train, [record for record, task in zip(records, tasks, strict=True) if task in away]


def same_tasks(records: Sequence[ReflectionRecord]) -> list[str]:
    """A name for each record's task, the same where records share an id or a text (or do so over others)."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    for record in records:
        one, other = sorted((root(f"text {normalised(record.task)}"), root(f"~id {record.task_id}")))
        # The smaller becomes the root, so that a group goes by the first of its texts.
        parent[other] = one
    return [root(f"~id {record.task_id}") for record in records]


def read_rows(path: Path, kind: type[M]) -> list[M]:
    """The lines of a file, each a `kind`, at least one. Raises FileError."""
    rows = [row for _, row in read_records(path, kind)]
    if not rows:
        raise FileError(f"{path}: it has no rows; export records to it first")
    return rows


@dataclass(frozen=True)
class Dataset:
    """The rows of an export, and the hash of the training file, by which a run is continued."""

    train: list[Row]
    held_out: list[Row]
    sha256: str


def load_dataset(data: Path) -> Dataset:
    """The dataset of a folder that `export` wrote. Raises FileError where it is damaged, TrainingError where
    it is missing."""
    train, away = data / TRAIN, data / HELD_OUT
    if not train.is_file():
        raise TrainingError(
            f"{train} is missing: make it with `forethought train export RECORDS --out {data}`"
        )
    others = [row for _, row in read_records(away, Row)] if away.is_file() else []
    return Dataset(read_rows(train, Row), others, sha256(train))
