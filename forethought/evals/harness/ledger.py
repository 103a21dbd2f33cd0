"""What an evaluation paid for, kept call by call: what was broken off is counted, too.

spent.jsonl has a line of usage for each model call of a method, a judge, a simulated user or a training, on
the disk before the reply is made use of. A kill forgets the calls in flight, and no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from forethought.evals.harness.choices import ChoiceError
from forethought.evals.harness.lines import append, mend
from forethought.evals.harness.meter import Meter
from forethought.models.allowance import total
from forethought.models.types import Usage

LEDGER_FILE = "spent.jsonl"
_Figure = Annotated[int | float, Field(ge=0)]
_LINE = TypeAdapter(dict[str, _Figure], config=ConfigDict(strict=True, allow_inf_nan=False))


@dataclass(kw_only=True)
class Ledger(Meter):
    """A meter whose counts are kept in a file."""

    path: Path

    @classmethod
    def open(cls, path: Path, before: Usage) -> Ledger:
        """The ledger at `path`, of which this is the one writer. One that holds nothing yet begins with what
        was spent `before`. Raises ChoiceError for a damaged one, and OSError."""
        mend(path)
        ledger = cls(usage=total(*_kept(path)), path=path)
        if not ledger.usage["calls"] and before["calls"]:
            ledger.add(before)
        return ledger

    def add(self, usage: Usage) -> None:
        """Count what was spent, and have it on the disk. Raises OSError."""
        super().add(usage)
        append(self.path, usage)


def _kept(path: Path) -> Iterator[dict[str, Any]]:
    """What each line says was spent."""
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield _LINE.validate_json(line)
            except ValidationError as error:
                raise ChoiceError(
                    f"{path}:{number}: damaged (no figures of what was spent); remove the line to go on "
                    "without them"
                ) from error
