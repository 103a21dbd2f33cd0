"""What `distill` and `synthesize` share: a graph over material that was read, and a report of its channels.

The graph's thread is kept in a database beside that of the threads, under an id derived from the material and
the settings: the same command continues it, and repeats no finished model call.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from rich.console import Console
from rich.text import Text

from forethought.app.display import StreamDisplay
from forethought.app.errors import FAILED, WAITS, CliError, echo, explain, input_errors
from forethought.app.report import status_of, usage_of, waiting
from forethought.app.runner import Ask, Ending, Runner, Session
from forethought.app.text import clean, one_line
from forethought.app.view import entries, usage_line
from forethought.trajectories.read import read_trajectories
from forethought.trajectories.types import Loaded

Json = dict[str, Any]


@dataclass(frozen=True)
class RecordedRun:
    """A trajectory that was read, and the file or folder that it was read from."""

    loaded: Loaded
    file: str
    """From the folder on that holds all paths: enough to tell files apart, and nothing of this machine."""


@dataclass(frozen=True)
class OfflineRun:
    """A graph over material, and what is shown and reported of it."""

    kind: str
    """The report's key of the thread's id."""
    opening: AbstractAsyncContextManager[Session]
    graph_input: Json
    channels: Mapping[str, Any]
    """What the report has as the state has it, and what it has where nothing is there."""
    words: Mapping[str, str]
    """By channel: what is said of an entry that was added to it."""
    ask: Ask | None = None
    estimate: str = ""
    """What it will cost: a person has to agree to that before it begins."""

    def carry_out(self, runner: Runner, fresh: bool) -> tuple[Json, Ending]:
        """Begin or continue the thread; its report, and how it ended. Raises CliError where nobody agrees."""
        session = runner.open(self.opening)
        graph_input = runner.run(_input_or_nothing(session, self.graph_input, fresh))
        if graph_input is self.graph_input and self.estimate:
            runner.console.print(Text(self.estimate))
            if not runner.confirm("continue?"):
                raise CliError("nothing was run; to continue, repeat the command with --yes", WAITS)
        display = _Display(runner.console, self.words, self.estimate)
        ending = runner.drive(session, graph_input, display, self.ask)
        return self._report(session, ending), ending

    def _report(self, session: Session, ending: Ending) -> Json:
        snapshot = ending.snapshot
        values: Mapping[str, Any] = snapshot.values if snapshot else {}
        error = one_line(explain(ending.error).line, 1000) if ending.error else None
        result = {
            self.kind: session.id,
            "status": status_of(snapshot, error) if snapshot else "failed",
            "problem": values.get("problem") or "",
            **{name: values.get(name) or empty for name, empty in self.channels.items()},
            "notes": values.get("notes") or [],
            "model": session.context.model,
            "out": "",
            "usage": usage_of(values),
        }
        if snapshot and snapshot.interrupts:
            result["interrupts"] = [waiting(item) for item in snapshot.interrupts]
        return {**result, "error": error} if error else result


class _Display(StreamDisplay):
    """A line for each entry that a node adds to a channel, and the notes, but for the `estimate` if it was
    agreed to."""

    def __init__(self, console: Console, words: Mapping[str, str], estimate: str) -> None:
        super().__init__(console)
        self._words, self._estimate = {**words, "problems": "left out"}, estimate

    def event(self, event: Mapping[str, Any]) -> None:
        """See StreamDisplay."""
        if event.get("text") != self._estimate:
            super().event(event)

    def updated(self, node: str, update: Mapping[str, Any]) -> None:
        """See StreamDisplay."""
        for channel, word in self._words.items():
            for key, value in entries(update.get(channel)):
                text = f": {one_line(value, 300)}" if isinstance(value, str) else ""
                self.line(f"{word:<10} {key}{text}", "yellow" if channel == "problems" else "")


def finish(
    runner: Runner, result: Json, ending: Ending, counts: Mapping[str, int], codes: Mapping[str, int]
) -> int:
    """Print counts, notes, files and cost, or all of it as JSON; return the exit code."""
    numbers = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count)
    files = f"written to {result['out']}" if result["out"] else ""
    for line in (numbers, *result["notes"], files, usage_line(result["usage"])):
        if line:
            runner.console.print(Text(clean(line)))
    runner.print_json(result)
    if result["problem"]:
        echo(result["problem"])
    return runner.exit_code(ending, codes.get(result["status"], FAILED))


def read_runs(paths: Sequence[Path]) -> list[RecordedRun]:
    """Read trajectories from folders of `collect` and from files, each under an id of its own.

    Raises CliError.
    """
    absolute = {path: path.absolute() for path in paths}
    common = os.path.commonpath([path.parent for path in absolute.values()])
    runs: dict[str, RecordedRun] = {}
    for path in absolute:
        collected = path / "trajectories"
        is_collection = (path / "collection.json").is_file() and collected.is_dir()
        with input_errors():
            trajectories = read_trajectories(collected if is_collection else path)
        for loaded in trajectories:
            key, number = loaded.trajectory.id, 2
            while key in runs and runs[key].loaded.trajectory != _renamed(loaded, key).trajectory:
                key, number = f"{loaded.trajectory.id}~{number}", number + 1
            file = absolute[path].relative_to(common).as_posix()
            runs.setdefault(key, RecordedRun(_renamed(loaded, key), file))
    return list(runs.values())


def _renamed(loaded: Loaded, key: str) -> Loaded:
    return loaded.model_copy(update={"trajectory": loaded.trajectory.model_copy(update={"id": key})})


def material_id(kind: str, settings: Any, material: Sequence[BaseModel]) -> str:
    """A thread's id: the same for the same material and settings, so that a command continues its own."""
    text = json.dumps([settings, [item.model_dump_json() for item in material]], ensure_ascii=False)
    return f"{kind}:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"


async def _input_or_nothing(session: Session, graph_input: Json, fresh: bool) -> Json | None:
    """What the graph is given: `graph_input` at first, nothing where it continues.

    `fresh` forgets what was done. A finished thread is given empty input, for its last step alone.
    """
    if fresh:
        await session.saver.adelete_thread(session.id)
    snapshot = await session.snapshot()
    if snapshot.interrupts or snapshot.tasks:
        return None
    finished = bool(snapshot.values.get("tasks"))
    return {name: type(value)() for name, value in graph_input.items()} if finished else graph_input
