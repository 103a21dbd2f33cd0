"""Planning errors that failed tasks have named and the known ones lack: proposed for a person's review.

One file of JSON lines in the data folder, which is only ever added to; nothing in it reaches a prompt. A
person who agrees writes the error into the file of planning errors (docs/planning_errors.md), and it is
listed no more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path

from pydantic import BaseModel, Field

from forethought.json_files import read_records


class Proposal(BaseModel):
    """One naming of an error type that is not known."""

    error_type: str = Field(min_length=1, max_length=200)
    evidence: str = ""
    by: str
    """Who named it: reflector or retrospective."""
    thread: str
    number: int
    """Which task of the thread, from 1."""
    origin: str
    time: str


class Candidate(BaseModel):
    """An error type with all its namings."""

    error_type: str
    tasks: int
    """Different tasks that named it."""
    named: list[Proposal]


def review_file(data_dir: Path) -> Path:
    """Where proposals are kept."""
    return data_dir / "proposed_errors.jsonl"


def plain_name(name: str) -> str:
    """An error type as names are compared: `Shallow check` and shallow_check are one."""
    return re.sub(r"[\W_]+", "_", name.casefold()).strip("_")


def propose(path: Path, proposals: Sequence[Proposal], known: Collection[str]) -> None:
    """Add the proposals that are neither known nor listed for the same task.

    Raises OSError, and FileError where the file is damaged.
    """
    excluded = {"", *(plain_name(name) for name in known)}
    new = {_key(item): item for item in proposals if plain_name(item.error_type) not in excluded}
    listed = {_key(item) for item in read_proposals(path)}
    lines = [f"{item.model_dump_json()}\n" for key, item in new.items() if key not in listed]
    if lines:
        path.parent.mkdir(parents=True, exist_ok=True)
        # One write in append mode, so that the lines of two tasks that end at once do not mix.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "ab", buffering=0) as file:
            file.write("".join(lines).encode())


def read_proposals(path: Path) -> list[Proposal]:
    """All proposals. Raises FileError."""
    return [proposal for _, proposal in read_records(path, Proposal)] if path.exists() else []


def candidates(path: Path, known: Collection[str]) -> list[Candidate]:
    """The error types that are still unknown, those that most tasks named first. Raises FileError."""
    names = {plain_name(name) for name in known}
    groups: dict[str, list[Proposal]] = {}
    for proposal in read_proposals(path):
        name = plain_name(proposal.error_type)
        if name not in names:
            groups.setdefault(name, []).append(proposal)
    found = [
        Candidate(error_type=name, tasks=len({(p.thread, p.number) for p in group}), named=group)
        for name, group in groups.items()
    ]
    return sorted(found, key=lambda item: (-item.tasks, item.error_type))


def _key(proposal: Proposal) -> tuple[str, int, str]:
    return proposal.thread, proposal.number, plain_name(proposal.error_type)
