"""What an evaluation paid for, kept call by call: what was broken off is counted, too.

spent.jsonl has a line of usage for each model call of a method, a judge, a simulated user or a training, on
the disk before the reply is made use of. A kill forgets the calls in flight, and no other.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from forethought.evals.harness.budget import Meter
from forethought.models.allowance import total
from forethought.models.types import Usage

_LINE = TypeAdapter(
    dict[str, Annotated[int | float, Field(ge=0)]], config=ConfigDict(strict=True, allow_inf_nan=False)
)


@dataclass(kw_only=True)
class Ledger(Meter):
    """A meter whose counts are kept in a file, of which it is the one writer."""

    path: Path

    @classmethod
    def open(cls, path: Path) -> Ledger:
        """The ledger at `path`. Raises ValueError for a damaged one, and OSError."""
        mend(path)
        return cls(usage=total(*_recorded(path)), path=path)

    def add(self, usage: Usage) -> None:
        """Count what was spent, and have it on the disk. Raises OSError."""
        super().add(usage)
        append(self.path, usage)


def _recorded(path: Path) -> Iterator[dict[str, Any]]:
    """What each line says was spent."""
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield _LINE.validate_json(line)
            except ValidationError as error:
                raise ValueError(
                    f"{path}:{number}: damaged (no figures of what was spent); remove the line to go on "
                    "without them"
                ) from error


def append(path: Path, record: Mapping[str, Any]) -> None:
    """Add a line of JSON, and have it on the disk. Raises OSError, and ValueError for what is no JSON."""
    line = json.dumps(record, ensure_ascii=False, allow_nan=False)
    with path.open("ab") as file:
        file.write(line.encode("utf-8", "replace") + b"\n")
        file.flush()
        os.fsync(file.fileno())


def mend(path: Path) -> None:
    """Drop half a last line, which a kill may leave. Raises OSError."""
    if not path.exists():
        return
    with path.open("r+b") as file:
        data = file.read()
        torn = data.rpartition(b"\n")[2]
        try:
            json.loads(torn or b"{}")
        except (ValueError, RecursionError):
            file.truncate(len(data) - len(torn))
        else:
            file.write(b"\n" if torn else b"")
