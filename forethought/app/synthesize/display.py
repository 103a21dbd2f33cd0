"""Shows a synthesis while it happens and at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from forethought.app.errors import explain
from forethought.app.report import usage_of
from forethought.app.stream_display import StreamDisplay, entries
from forethought.app.text import clean, one_line

Json = Mapping[str, Any]


class SynthesizeDisplay(StreamDisplay):
    """Prints what the synthesizer's stream brings."""

    def updated(self, node: str, update: Json) -> None:
        """What was read, tried, reflected on, labelled, merged or left out."""
        if update.get("seen"):
            seen = update["seen"]
            read = f", {seen['trajectories']} trajectories" if seen["trajectories"] else ""
            self._print(f"{seen['tasks']} tasks{read}")
        if node == "attempt_trial":
            for key, trial in entries(update.get("trials")):
                self._print(f"trial      {key}: {trial['outcome']}")
        for name, word in (("reflections", "reflected"), ("merged", "merged")):
            for key, text in entries(update.get(name)):
                self._print(f"{word:<10} {key}: {one_line(text, 90)}")
        if node == "error_types" and update.get("taxonomy") is not None:
            self._print(f"taxonomy   {len(update['taxonomy'])} error types")
        for key, labelled in entries(update.get("labels")):
            found = Counter(item["error_type"] for step in labelled["steps"].values() for item in step)
            told = ", ".join(f"{name} x {count}" for name, count in found.items()) or "no error"
            self._print(f"labelled   {key}: {told}")
        for name, item in entries(update.get("error_reflections")):
            self._print(f"reflected  {name}, from {len(item['cites'])} trajectories")
        for key, why in entries(update.get("problems")):
            self._print(f"left out   {key}: {one_line(why, 300)}", "yellow")

    def _print(self, line: str, style: str = "") -> None:
        self.console.print(Text(clean(line), style=style))


def synthesis_report(id: str, values: Json, model: str, error: Exception | None) -> dict[str, Any]:
    """The synthesis as one JSON object. References are not in it."""
    status = str(values.get("status") or "failed")
    trials = values.get("trials") or {}
    result: dict[str, Any] = {
        "synthesis": id,
        "status": "failed" if error or status == "running" else status,
        "problem": values.get("problem") or "",
        "trials": {key: {**trial, "stored": None} for key, trial in trials.items()},
        "outcomes": dict(Counter(trial["outcome"] for trial in trials.values())),
        **{name: values.get(name) or {} for name in ("tasks", "reflections", "labels", "merged", "problems")},
        "taxonomy": values.get("taxonomy") or [],
        "error_reflections": values.get("error_reflections") or {},
        "notes": values.get("notes") or [],
        "model": model,
        "out": "",
        "usage": usage_of(values),
    }
    if error:
        result["error"] = one_line(explain(error).line, 1000)
    return result


def show_synthesis(result: Json, console: Console) -> None:
    """What was made of what, what was written where, what it cost."""
    told = ", ".join(f"{count} {name}" for name, count in result["outcomes"].items()) or "none"
    lines = [
        f"trials: {told}",
        f"{len(result['reflections'])} reflections on trials, {len(result['taxonomy'])} error types, "
        f"{len(result['error_reflections'])} reflections across tasks, {len(result['merged'])} merged",
    ]
    lines += [f"note: {note}" for note in result["notes"]]
    if result["out"]:
        lines.append(f"{len(result['merged'])} records are in {result['out']}")
    usage = result["usage"]
    cost = "" if usage["usd"] is None else f", ${usage['usd']:.4f}"
    tokens = usage["input_tokens"] + usage["output_tokens"]
    lines.append(f"{usage['calls']} model calls, {tokens} tokens{cost}")
    for line in lines:
        console.print(Text(clean(line)))
