"""The benchmark `folder`: its folders, questions and score."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from forethought.evals.benchmarks.folders.answers import FORMS, right
from forethought.evals.benchmarks.folders.kinds import KINDS
from forethought.evals.benchmarks.folders.making import PLANS, Folder, Plan
from forethought.evals.benchmarks.folders.writers import write
from forethought.evals.benchmarks.reading import choice
from forethought.evals.types import Attempt, Benchmark, DataError, Sample, Score, Services
from forethought.tools.base import Tool
from forethought.tools.registry import BUILT_IN

_SHARES = {"each": 0.42, "words": 0.18, "latest": 0.15, "sources": 0.1, "one": 0.15}
"""What part of a folder the documents of each kind are."""

_TOOLS = {"find_files", "search_files", "read_file", "read_each", "sql", "python"}


class FolderQuestions(Benchmark):
    """See the package."""

    name = "folder"
    title = "Folder"
    about = "40 generated questions of five kinds over folders of 200 to 2,000 files; ours"
    main_metric = "right"
    builtin_tools = tuple(tool.name for tool in BUILT_IN if tool.name in _TOOLS)
    steps = 40
    options: Mapping[str, str] = {
        "folder": f"{', '.join(plan.name for plan in PLANS)} (default: all)",
        "kind": f"{', '.join(KINDS)} (default: all)",
        "questions": "number of questions, small folders first (default: all)",
        "seed": "seed of the texts (default: 0)",
    }

    def samples(self, data: Path, options: Mapping[str, str]) -> list[Sample]:
        """See `Benchmark`. The files are written when the first question about their folder is asked."""
        one = choice(options, "folder", ("all", *(plan.name for plan in PLANS)))
        kind = choice(options, "kind", ("all", *KINDS))
        seed, most = (options.get(name, default) for name, default in (("seed", "0"), ("questions", "40")))
        if not (seed.isdecimal() and most.isdecimal()):
            raise DataError(f"options seed={seed}, questions={most}: give whole numbers")
        samples = [
            Sample(
                id=f"{plan.name}-{question.kind}",
                task=question.text,
                files=(data / f"seed-{seed}" / plan.name,),
                answer_format=FORMS[question.form],
                target=question.answer,
                groups={"kind": question.kind, "folder": plan.name},
                data={"form": question.form, "seed": seed},
            )
            for plan in PLANS
            if one in ("all", plan.name)
            for question in make(plan, seed, filled=False).questions
            if kind in ("all", question.kind)
        ]
        return samples[: int(most)]

    def tools(self, sample: Sample, services: Services) -> Sequence[Tool]:
        """See `Benchmark`. Writes the sample's folder, unless it is there."""
        plan = next(plan for plan in PLANS if plan.name == sample.groups["folder"])
        write_folder(sample.files[0], plan, sample.data["seed"])
        return ()

    async def score(self, sample: Sample, attempt: Attempt, services: Services) -> Score:
        """Whether the answer is the computed one, in whatever form."""
        ok = right(attempt.answer, str(sample.target), sample.data["form"])
        return Score({"right": float(ok)}, f"expected {sample.target}")


def make(plan: Plan, seed: str, filled: bool = True) -> Folder:
    """A folder with its questions, and with all of its files if it is to be `filled`."""
    folder = Folder(plan, random.Random(f"{seed}:{plan.name}"))
    fillers = {}
    for name, maker in KINDS.items():
        before = len(folder.files)
        fillers[name] = maker(folder), before - len(folder.files)
    if filled:
        for name, share in _SHARES.items():
            fill, made = fillers[name]
            last = name == list(_SHARES)[-1]
            fill(plan.files - len(folder.files) if last else round(share * plan.files) + made)
    return folder


def write_folder(path: Path, plan: Plan, seed: str) -> None:
    """Write the files of a folder, the same ones for the same seed, unless it is there already.

    Raises DataError if it cannot be written."""
    if path.is_dir():
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as place:
            for name, document in make(plan, seed).files.items():
                file = Path(place, path.name, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(write(file.suffix[1:], document))
                noon = datetime(*document.day.timetuple()[:3], 12, tzinfo=UTC).timestamp()
                os.utime(file, (noon, noon))
            os.rename(Path(place, path.name), path)
    except OSError as error:
        if not path.is_dir():  # another process has written it in the meantime
            raise DataError(f"folder: {error}; name a folder to write to with --data") from error


BENCHMARK = FolderQuestions()
