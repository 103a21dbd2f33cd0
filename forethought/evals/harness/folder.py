"""The folder of an evaluation, and how it goes on after a stop.

run.json            what it was begun with
results.jsonl       a line for each finished trial, on the disk before the next one counts as begun
trajectories/METHOD/SAMPLE--TRIAL.json
learned/METHOD.json what a method learned before it was evaluated
threads.sqlite      our checkpoints
logs/               inspect's logs, of every sitting
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from forethought.evals.harness.budget import Meter
from forethought.evals.harness.plan import EvaluationPlan
from forethought.evals.results import RESULTS_FILE, RUN_FILE, Evaluation, Result, read_evaluation
from forethought.json_files import read_object, write_json
from forethought.models.allowance import total
from forethought.text import one_line
from forethought.trajectories.questions import fingerprint
from forethought.trajectories.types import Loaded

Json = dict[str, Any]
_SAME = (
    "benchmark", "options", "seed", "model", "judge_model", "user_model", "budget", "seconds", "context",
    "scripted",
)  # fmt: skip


@dataclass
class RunFolder:
    """An evaluation's folder, and its one writer."""

    root: Path
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def database(self) -> Path:
        """Where the checkpoints are."""
        return self.root / "threads.sqlite"

    @property
    def logs(self) -> Path:
        """inspect's logs."""
        return self.root / "logs"

    def open(self, plan: EvaluationPlan) -> Evaluation:
        """Begin the evaluation, or go on with it: methods, trials and samples may be added, nothing else may
        differ. Returns what is finished. Raises ValueError, ResultsError and OSError."""
        path = self.root / RUN_FILE
        described = _described(plan)
        if path.exists():
            known = read_object(path)
            _refuse_changes(self.root, known, described)
            described = _merged(known, described)
        self.logs.mkdir(parents=True, exist_ok=True)
        write_json(path, described)
        _mend(self.root / RESULTS_FILE)
        return read_evaluation(self.root)

    def spent(self, plan: EvaluationPlan, evaluation: Evaluation) -> Meter:
        """What its trials and trainings cost so far; a kill forgets what was under way. Raises ValueError."""
        trained = (self.learned(method.name) for method in plan.methods if method.needs_training)
        return Meter(total(evaluation.spent, *(record["usage"] for record in trained if record)))

    def keep(self, result: Result) -> None:
        """Append a line, and have it on the disk. Raises OSError."""
        with self._lock:
            _append(self.root / RESULTS_FILE, result.model_dump(mode="json"))

    def keep_trajectory(self, method: str, sample: str, trial: int, loaded: Loaded) -> str:
        """Write a trajectory; its path within the folder. Raises OSError."""
        path = Path("trajectories") / method / f"{sample}--{trial}.json"
        write_json(self.root / path, loaded.model_dump(mode="json", exclude_defaults=True))
        return path.as_posix()

    def learned(self, method: str) -> Json | None:
        """{samples, learned, usage, seconds} of a method that was trained. Raises ValueError."""
        path = self._learned(method)
        return read_object(path) if path.exists() else None

    def keep_learned(self, method: str, learned: Mapping[str, Any]) -> None:
        """Keep what a method learned. Raises OSError, and TypeError or ValueError for what is no JSON."""
        write_json(self._learned(method), learned)

    def _learned(self, method: str) -> Path:
        return self.root / "learned" / f"{method}.json"


def _described(plan: EvaluationPlan) -> Json:
    try:
        release = version("forethought")
    except PackageNotFoundError:
        release = ""
    same = ("options", "trials", "limit", "seed", "model", "judge_model", "user_model", "seconds", "context")
    return {
        **{name: getattr(plan, name) for name in same},
        "benchmark": plan.benchmark.name,
        "title": plan.benchmark.title,
        "main_metric": plan.benchmark.main_metric,
        "methods": [method.name for method in plan.methods],
        "budget": {name: value for name, value in asdict(plan.budget).items() if value is not None},
        "begun": datetime.now(UTC).isoformat(timespec="seconds"),
        "scripted": plan.scripted,
        "version": release,
        "samples": {sample.id: fingerprint(sample.task) for sample in plan.samples},
    }


def _refuse_changes(root: Path, known: Json, described: Json) -> None:
    for name in _SAME:
        was, wanted = known.get(name), json.loads(json.dumps(described[name]))
        if was != wanted:
            raise ValueError(
                f"{root} has an evaluation with {name.replace('_', ' ')} {one_line(json.dumps(was), 80)}, "
                f"not {one_line(json.dumps(wanted), 80)}: use the same value, or name another --out"
            )
    before = known.get("samples", {})
    changed = [id for id, text in described["samples"].items() if before.get(id, text) != text]
    if changed:
        raise ValueError(
            f"{root}: the text of sample {changed[0]} has changed since its trial: restore the "
            "data, or name another --out"
        )


def _merged(known: Json, described: Json) -> Json:
    """What was begun, with what is added to it."""
    limits = (known.get("limit"), described["limit"])
    return {
        **described,
        "begun": known.get("begun", described["begun"]),
        "methods": list(dict.fromkeys([*known.get("methods", []), *described["methods"]])),
        "trials": max(int(known.get("trials", 1)), described["trials"]),
        "limit": None if None in limits else max(limits),
        "samples": {**known.get("samples", {}), **described["samples"]},
    }


def _append(path: Path, record: Mapping[str, Any]) -> None:
    """Add a line of JSON, and have it on the disk. Raises OSError, and ValueError for what is no JSON."""
    line = json.dumps(record, ensure_ascii=False, allow_nan=False)
    with path.open("ab") as file:
        file.write(line.encode("utf-8", "replace") + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _mend(path: Path) -> None:
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
