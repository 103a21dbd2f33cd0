"""The records of a run: a line for each answer and for each correction."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Answered:
    """An answer to a task."""

    method: str
    task: str
    family: str
    position: int
    verdict: str
    """right, plain (as without the rule) or other."""
    answer: str
    wanted: str
    told: int
    """Corrections that the family's earlier answers had."""
    calls: int
    tokens: int
    seconds: float
    kind: str = "answer"


@dataclass(frozen=True)
class Corrected:
    """A correction after a wrong answer."""

    method: str
    task: str
    family: str
    words: str
    calls: int
    tokens: int
    kind: str = "correction"


@dataclass
class Records:
    """The lines of results.jsonl, and their one writer."""

    path: Path
    answers: dict[tuple[str, str], Answered] = field(default_factory=dict)
    """By method and task."""
    corrections: dict[tuple[str, str], Corrected] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, settings: Json) -> Records:
        """Open a run, or continue it. Raises ValueError if it was begun with other settings."""
        folder.mkdir(parents=True, exist_ok=True)
        begun = folder / "run.json"
        if not begun.exists():
            begun.write_text(json.dumps(settings, indent=1) + "\n", "utf-8")
        if (known := json.loads(begun.read_text("utf-8"))) != settings:
            raise ValueError(f"{folder} has a run with {known}: use the same values, or name another --out")
        records = cls(folder / "results.jsonl")
        for line in records.path.read_text("utf-8").splitlines() if records.path.exists() else ():
            records._take(json.loads(line))
        return records

    def keep(self, record: Answered | Corrected) -> None:
        """Append a line, and have it on the disk."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(record), ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._take(asdict(record))

    def told(self, method: str, family: str) -> int:
        """The number of corrections that a family has had."""
        return sum(made.method == method and made.family == family for made in self.corrections.values())

    def _take(self, line: Json) -> None:
        key = line["method"], line["task"]
        if line["kind"] == "answer":
            self.answers[key] = Answered(**line)
        else:
            self.corrections[key] = Corrected(**line)
