"""tau-bench's recorded trajectories: a list of {task_id, reward, info, traj: [messages], trial}.

The agent is given its task by a simulated user, so the task is what that user says first. `info` holds the
user's secret instruction and the right actions: nothing of it is read into the trajectory.
"""

from __future__ import annotations

from forethought.trajectories.openai_messages import conversation, trajectory_of
from forethought.trajectories.types import Loaded, Reference
from forethought.trajectories.values import Json, first, items, mapping, outcome, text

SOURCE = "tau_bench"


def claims(value: object) -> bool:
    """Whether `value` is such a list, or one of its entries."""
    entries = items(value) or [value]
    return all(isinstance(mapping(entry).get("traj"), list) for entry in entries)


def read(value: object, name: str) -> list[Loaded]:
    """The trajectories in `value`, named by file, task and trial."""
    return [_read(mapping(entry), name) for entry in (items(value) or [value])]


def _read(entry: Json, name: str) -> Loaded:
    messages = items(entry.get("traj"))
    if len(messages) > 1 and messages[-1] == messages[-2]:
        messages = messages[:-1]  # the recorder writes the user's last message twice
    known = [f"{key}{text(entry[key])}" for key in ("task_id", "trial") if entry.get(key) is not None]
    trajectory = trajectory_of(
        conversation(messages),
        id="-".join([name, *known]).replace("task_id", "task"),
        source=SOURCE,
        environment="tau_bench",
    )
    info = mapping(entry.get("info"))
    gold = tuple(text(item) for item in items(mapping(info.get("task")).get("outputs")))
    reached = outcome(first(entry, "reward"))
    return Loaded(trajectory=trajectory, reference=Reference(outcome=reached, gold=gold))
