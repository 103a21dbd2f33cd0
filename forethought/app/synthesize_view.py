"""How a synthesis looks: while it runs, at its end, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from forethought.app.display import StreamDisplay
from forethought.app.errors import explain
from forethought.app.report import status_of, usage_of
from forethought.app.runner import Ending, Session
from forethought.app.text import clean, one_line
from forethought.app.view import entries, usage_line

Json = Mapping[str, Any]


class SynthesizeDisplay(StreamDisplay):
    """Prints the updates of the synthesizer's graph."""

    def updated(self, node: str, update: Json) -> None:
        """Print what was read, tried, reflected on, labelled, merged or left out."""
        if update.get("seen"):
            seen = update["seen"]
            read = f", {seen['trajectories']} trajectories" if seen["trajectories"] else ""
            self.line(f"{seen['tasks']} tasks{read}")
        if node == "attempt_trial":
            for key, trial in entries(update.get("trials")):
                self.line(f"trial      {key}: {trial['outcome']}")
        for name, word in (("reflections", "reflected"), ("merged", "merged")):
            for key, text in entries(update.get(name)):
                self.line(f"{word:<10} {key}: {one_line(text, 90)}")
        if node == "error_types" and update.get("taxonomy") is not None:
            self.line(f"taxonomy   {len(update['taxonomy'])} error types")
        for key, labelled in entries(update.get("labels")):
            found = Counter(item["error_type"] for step in labelled["steps"].values() for item in step)
            errors = ", ".join(f"{name} x {count}" for name, count in found.items()) or "no error"
            self.line(f"labelled   {key}: {errors}")
        for name, item in entries(update.get("error_reflections")):
            self.line(f"reflected  {name}, from {len(item['cites'])} trajectories")
        for key, why in entries(update.get("problems")):
            self.line(f"left out   {key}: {one_line(why, 300)}", "yellow")


def synthesis_report(session: Session, ending: Ending) -> dict[str, Any]:
    """The synthesis as one JSON object. References are not in it."""
    values: Json = ending.snapshot.values if ending.snapshot else {}
    error = one_line(explain(ending.error).line, 1000) if ending.error else None
    trials = values.get("trials") or {}
    return {
        "synthesis": session.id,
        "status": status_of(ending.snapshot, error) if ending.snapshot else "failed",
        "problem": values.get("problem") or "",
        "trials": {key: {**trial, "stored": None} for key, trial in trials.items()},
        "outcomes": dict(Counter(trial["outcome"] for trial in trials.values())),
        **{name: values.get(name) or {} for name in ("tasks", "reflections", "labels", "merged", "problems")},
        "taxonomy": values.get("taxonomy") or [],
        "error_reflections": values.get("error_reflections") or {},
        "notes": values.get("notes") or [],
        "model": session.context.model,
        "out": "",
        "usage": usage_of(values),
        **({"error": error} if error else {}),
    }


def show_synthesis(result: Json, console: Console) -> None:
    """Print the counts of each level, where the records are, and the cost."""
    outcomes = ", ".join(f"{count} {name}" for name, count in result["outcomes"].items()) or "none"
    lines = [
        f"trials: {outcomes}",
        f"{len(result['reflections'])} reflections on trials, {len(result['taxonomy'])} error types, "
        f"{len(result['error_reflections'])} reflections across tasks, {len(result['merged'])} merged",
    ]
    lines += [f"note: {note}" for note in result["notes"]]
    if result["out"]:
        lines.append(f"{len(result['merged'])} records are in {result['out']}")
    for line in (*lines, usage_line(result["usage"])):
        console.print(Text(clean(line)))
