"""A folder of trajectories and the annotations beside them, for measuring."""

from __future__ import annotations

from pathlib import Path

from forethought.knowledge.error_taxonomy import Taxonomy
from forethought.trajectories.agent_error_bench import is_labels, labels
from forethought.trajectories.read import candidates, read_json, read_trajectories
from forethought.trajectories.types import Annotation, Loaded


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
