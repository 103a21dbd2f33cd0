"""Critical errors that people have labelled, and how often a found one agrees (AgentDebug 2.2, Table 1).

A file of labels is a list of {trajectory_id, critical_failure_step, critical_failure_module,
step_annotations: [{step, MODULE: {failure_type, reasoning}}]}, as AgentErrorBench's.

Step: the step agrees. Step and module: both agree. All correct: step, module and error type agree. Where
nothing was found, nothing agrees.
"""

from __future__ import annotations

import re
from pathlib import Path

from forethought.knowledge.error_taxonomy import Taxonomy
from forethought.trajectories.agent_error_bench import STEP_KEYS, is_labels
from forethought.trajectories.read import candidates, read_json, read_trajectories
from forethought.trajectories.types import Annotation, Loaded
from forethought.trajectories.values import Json, first, items, mapping, text

_MODULE_KEYS = ("critical_failure_module", "critical_module")
_TYPE_KEYS = ("failure_type", "critical_failure_type", "error_type")


def read_annotated(folder: str | Path, taxonomy: Taxonomy) -> list[Loaded]:
    """The trajectories in `folder` that are annotated, by id or by their file's name, in any known format.

    Annotations stand in a trajectory's own file or in JSON files of the folder, as AgentErrorBench's. One
    whose step the trajectory does not have is refused. Reads the disk. Raises ValueError, in one line that
    says what to do.
    """
    root = Path(folder)
    if not root.is_dir():
        raise ValueError(f"{root}: no such folder; give one with trajectories and their annotations")
    known: dict[str, Annotation] = {}
    for file in candidates(root, (".json", ".jsonl")):
        value = read_json(file)
        if is_labels(value):
            try:
                known.update(labels(value, taxonomy))
            except ValueError as error:
                raise ValueError(f"{file}: {error}") from error
    found = [_annotated(loaded, known) for loaded in read_trajectories(root)]
    annotated = [loaded for loaded in found if loaded.reference.annotation]
    if not annotated and not known:
        raise ValueError(
            f"{root}: no annotations; add a JSON list of trajectory_id, critical_failure_step, ..."
        )
    if not annotated:
        raise ValueError(
            f"{root}: no trajectory has an annotation; trajectory_id must be its id or file name"
        )
    return annotated


def _annotated(loaded: Loaded, known: dict[str, Annotation]) -> Loaded:
    annotation = known.get(loaded.trajectory.id)
    if annotation is None:
        return loaded
    numbers = {step.number for step in loaded.trajectory.steps}
    if annotation.critical_step not in numbers:
        there = f"it has {len(numbers)} steps"
        raise ValueError(f"{loaded.trajectory.id}: no step {annotation.critical_step} to annotate; {there}")
    reference = loaded.reference.model_copy(update={"annotation": annotation})
    return loaded.model_copy(update={"reference": reference})


def labels(value: object, taxonomy: Taxonomy) -> dict[str, Annotation]:
    """Annotations by the id of their trajectory, in the taxonomy's names where it knows them.

    Raises ValueError for a row without a whole step number or a known module.
    """
    found: dict[str, Annotation] = {}
    for number, row in enumerate(map(mapping, items(value)), 1):
        try:
            found[text(row.get("trajectory_id"))] = annotation(row, taxonomy)
        except ValueError as error:
            raise ValueError(f"label {number}: {error}") from error
    return found


def annotation(row: Json, taxonomy: Taxonomy) -> Annotation:
    """One row's annotation. Raises ValueError."""
    step, named = text(first(row, *STEP_KEYS)).strip(), text(first(row, *_MODULE_KEYS)).strip()
    if not re.fullmatch(r"\d{1,9}", step) or int(step) < 1:
        raise ValueError(f"{STEP_KEYS[0]} must be a step's number from 1, not {step[:40]!r}")
    module = taxonomy.module(named)
    if module is None:
        raise ValueError(f"{_MODULE_KEYS[0]} {named[:40]!r} is no module; use one of memory to system")
    kind = text(first(row, *_TYPE_KEYS)).strip() or _nested(row, step, named)
    # A type that the taxonomy does not know is kept as it is: it counts as a label that nobody can meet.
    canonical = taxonomy.resolve(named, kind) or kind
    return Annotation(critical_step=int(step), critical_module=module, error_type=canonical)


def _nested(row: Json, step: str, module: str) -> str:
    """The failure type in the row's annotation of its own critical step."""
    for each in map(mapping, items(row.get("step_annotations"))):
        if text(each.get("step")) == step and (detail := mapping(each.get(module))):
            return text(first(detail, *_TYPE_KEYS)).strip()
    return ""


def agreement(found: Annotation | None, known: Annotation, taxonomy: Taxonomy) -> dict[str, bool]:
    """Table 1's measures of what was found (None: nothing). Two spellings of one error type agree."""
    step = found is not None and found.critical_step == known.critical_step
    module = found is not None and step and found.critical_module == known.critical_module
    kind = found is not None and module and _type(found, taxonomy) == _type(known, taxonomy)
    return {"step": step, "step_and_module": module, "all_correct": kind}


def _type(annotation: Annotation, taxonomy: Taxonomy) -> str:
    name = annotation.error_type.strip().casefold()
    return taxonomy.resolve(annotation.critical_module, name) or name
