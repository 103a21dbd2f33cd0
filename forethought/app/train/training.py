"""train export, run and gate: what the commands do, with every error as one line."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from forethought.app.errors import ANSWERED, NOT_PASSED, CliError
from forethought.app.options import Flags, settings_from
from forethought.app.tell import tell
from forethought.app.text import to_json
from forethought.json_files import FileError
from forethought.training.errors import TrainingError

_CONFIG = "zero3.yaml"


@dataclass(frozen=True)
class Split:
    """How the rows of an export are chosen and parted."""

    held_out: float
    seed: int
    similar: float


def export_dataset(records: Sequence[Path], out: Path, split: Split, as_json: bool) -> int:
    """Write the dataset of the synthesizer's records into `out` and tell the counts."""
    from forethought.training.dataset import export
    from forethought.training.scrub import training_scrubber

    scrub = training_scrubber(settings_from(Flags()))
    with _told():
        made = export(records, out, scrub, **asdict(split))
    if as_json:
        print(to_json(asdict(made)))
        return ANSWERED
    print(f"{made.read} records read; {made.scrubbed} had secrets redacted")
    print(f"{made.near_duplicates} near-duplicates left out")
    print(f"{made.train} rows of {made.tasks[0]} tasks to train on")
    print(f"{made.held_out} rows of {made.tasks[1]} tasks held out")
    print(f"longest row: {made.longest} characters")
    print(f"next: forethought train run {out} --out MODEL")
    return ANSWERED


def run_training(data: Path, out: Path, given: Mapping[str, Any], gpus: int, as_json: bool) -> int:
    """Train on `data`; over several GPUs in processes of their own."""
    from forethought.training.train import TrainOptions

    try:
        options = TrainOptions.model_validate(
            {key: value for key, value in given.items() if value is not None}
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise CliError(
            f"--{str(first['loc'][0]).replace('_', '-')} {first['input']!r}: {first['msg']}"
        ) from error
    if gpus > 1 and "RANK" not in os.environ:
        return _over_gpus(gpus)
    from forethought.training.train import train

    with _told():
        made = train(data, options, out, tell)
    if os.environ.get("RANK", "0") != "0":
        return ANSWERED
    if as_json:
        print(to_json({**asdict(made), "out": str(made.out), "picture": str(made.picture)}))
        return ANSWERED
    print(f"{made.rows} rows, {made.steps} steps")
    print(f"loss of the reflections: {made.first_loss:.3f} at first, {made.last_loss:.3f} at last")
    print(f"the adapter is in {made.out}; its loss is drawn in {made.picture}")
    print(f"next: forethought train gate {made.out} --prompted FILE --trained FILE")
    return ANSWERED


def judge_model(model: Path, prompted: Path, trained: Path, seed: int, as_json: bool) -> int:
    """Judge the trained model, keep the verdict beside it, and tell it. Returns 3 where it is not adopted."""
    from forethought.training.dataset import read_rows
    from forethought.training.gate import Retry, check_held_out, compare, fingerprint, write_result
    from forethought.training.run_folder import RECORD, trained_on

    with _told():
        fingerprint(model)
        sides = [read_rows(path, Retry) for path in (prompted, trained)]
        if (model / RECORD).is_file():
            check_held_out([*sides[0], *sides[1]], *trained_on(model))
        else:
            tell(f"{model / RECORD} is missing: whether the tasks were held out cannot be checked")
        verdict = compare(sides[0], sides[1], seed)
        path = write_result(model, verdict, prompted, trained)
    if as_json:
        print(to_json(verdict.model_dump()))
    else:
        for name, rate in (("prompted", verdict.prompted), ("trained", verdict.trained)):
            print(
                f"{name + ':':<10} {rate.rate:.2f} of {rate.identified} errors gone "
                f"(95 %: {rate.low:.2f} to {rate.high:.2f}); {rate.new} new ones"
            )
        value, low, high = verdict.difference
        print(f"difference: {value:+.2f} (95 %: {low:+.2f} to {high:+.2f}), {verdict.tasks} tasks")
        print(f"{'adopted' if verdict.adopted else 'not adopted'}: {verdict.reason}")
        print(f"the verdict is in {path}")
    return ANSWERED if verdict.adopted else NOT_PASSED


def launch_command(gpus: int, arguments: Sequence[str]) -> list[str]:
    """The command that runs `arguments` of this program in a process a GPU, with DeepSpeed stage 3."""
    import forethought.training

    config = Path(str(forethought.training.__file__)).with_name(_CONFIG)
    return [
        *(sys.executable, "-m", "accelerate.commands.launch"),
        *("--config_file", str(config), "--num_processes", str(gpus)),
        *("-m", "forethought.app.main", *arguments),
    ]


def _over_gpus(gpus: int) -> int:
    missing = [name for name in ("accelerate", "deepspeed") if importlib.util.find_spec(name) is None]
    if missing:
        raise CliError(f"--gpus needs {missing[0]}: pip install 'forethought[train-gpus]'")
    return subprocess.run(launch_command(gpus, sys.argv[1:]), check=False).returncode


@contextmanager
def _told() -> Iterator[None]:
    """What a person can mend leaves as the command line's own error."""
    try:
        yield
    except (FileError, TrainingError) as error:
        raise CliError(str(error)) from error
