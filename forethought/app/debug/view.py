"""How a debugging looks: its labels, critical error, probes and re-runs on a terminal, and its JSON.

Text comes from models and from trajectories; it is cleaned and goes in as `Text`, never as markup.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from forethought.app import questions
from forethought.app.display import StreamDisplay
from forethought.app.errors import ANSWERED, FAILED, NOT_PASSED, WAITS
from forethought.app.report import status_of, task_error, usage_of, waiting
from forethought.app.text import one_line
from forethought.app.view import entries, usage_line
from forethought.prompts.debug_replies import NO_ERROR
from forethought.text import how_many, number_ranges
from forethought.trajectories.own import move_of

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from forethought.app.debug.session import DebugRequest

Json = Mapping[str, Any]
_EXIT_CODES = {"not_fixed": NOT_PASSED, "not_found": NOT_PASSED, "interrupted": WAITS}


class DebugDisplay(StreamDisplay):
    """Prints the updates of the debugger's graph, or a whole state of it."""

    def updated(self, node: str, update: Json) -> None:
        """Print what is debugged, each step's labels, the critical error, the probes and the re-runs."""
        if subject := update.get("subject"):
            head = f"debugging {one_line(subject['id'], 60)} ({one_line(subject['source'], 30)})"
            steps = how_many(own := _own_steps(subject), "step")
            steps += " and the answer" * (len(subject["steps"]) > own)
            self.line(f"{head}, {steps}\ntask: {one_line(subject['task'], 300)}", "bold")
        if verdict := update.get("verdict"):
            self._judged("the run", verdict)
        for suspect in update.get("suspects") or []:
            self.line(f"suspect: step {suspect['step']}: {one_line(suspect['reason'], 300)}")
        for number, labels in sorted(entries(update.get("labels")), key=lambda item: int(item[0])):
            self._labels(number, labels)
        unlabelled: dict[str, list[int]] = {}
        for number, why in entries(update.get("label_problems")):
            unlabelled.setdefault(one_line(why, 200), []).append(int(number))
        for why, numbers in unlabelled.items():
            self.line(f"#{number_ranges(numbers)} not examined: {why}", "yellow")
        for probe in _records(update, "probes"):
            self._probe(probe)
        if critical := update.get("critical"):
            self._critical(critical)
        for branch in _records(update, "branches"):
            self._judged(f"re-run {branch['attempt']} from before step {branch['from_step']}", branch)
            for text in branch["guidance"]:
                self.line(f"  guidance: {one_line(text, 400)}")
            self.line(f"  answer: {one_line(branch['answer'], 400)}")

    def _judged(self, what: str, verdict: Json) -> None:
        by = f", judged by {one_line(verdict['by'], 30)}" if verdict.get("by") else ""
        outcome = "succeeded" if verdict["success"] else "failed"
        style = "green" if verdict["success"] else "yellow"
        self.line(f"{what} {outcome}{by}: {one_line(verdict['reason'], 300)}", style)

    def _labels(self, number: str, labels: Json) -> None:
        errors = [(module, label) for module, label in labels.items() if label["error_type"] != NO_ERROR]
        if not errors:
            self.line(f"#{number} no error", "dim")
        for module, label in errors:
            rule = " (by rule)" if label["by"] == "rule" else ""
            quote = f'  "{one_line(label["evidence"], 160)}"' if label["evidence"] else ""
            self.line(f"#{number} {module} {label['error_type']}{rule}{quote}", "yellow")

    def _probe(self, probe: Json) -> None:
        """One step that was tried: what was put in its place, and what came of it."""
        line = f"{'control' if probe.get('control') else 'probe'} #{probe['step']}"
        if probe["trials"]:
            interval = f"{probe['rate']:.2f}, between {probe['low']:.2f} and {probe['high']:.2f}"
            line += f" {probe['flips']} of {probe['trials']} continuations succeed ({interval})"
        if probe.get("substitution"):
            line += f": {one_line(probe['substitution'], 200)}"
        self.line(line, "dim")

    def _critical(self, critical: Json) -> None:
        """The critical error: where, what, why, the words that show it, and what to do instead."""
        place = f"step {critical['critical_step']}, {critical['critical_module']}"
        by = {True: ", proven by re-runs", False: ", suggested by re-runs", None: ""}[critical.get("proven")]
        self.line(f"Critical error{by}: {place}: {critical['error_type']}", "bold yellow")
        rows = {
            "root cause": critical["root_cause"],
            "evidence": critical["evidence"],
            "guidance": critical["correction_guidance"],
            **{f"then #{effect['step']}": effect["impact"] for effect in critical["cascading_effects"]},
        }
        for name, text in rows.items():
            self.line(f"  {name}: {one_line(text, 2000)}")


def show_ending(result: Json, console: Console, with_error: bool = True) -> None:
    """Print the notes, what waits for a reply, the error, the status and the cost."""
    for note in result["notes"]:
        console.print(Text(f"note: {one_line(note, 400)}", style="dim"))
    for question in result.get("interrupts") or []:
        console.print(questions.show_question(question))
    if with_error and result.get("error"):
        console.print(Text(one_line(result["error"], 400), style="red"))
    style = "yellow" if exit_code(result["status"]) else "green"
    rest = f"  {usage_line(result['usage'])}, {result['seconds']:.1f}s"
    console.print(Text(result["status"], style=style).append(rest, style="default"))


def debug_report(
    thread_id: str,
    request: DebugRequest,
    snapshot: StateSnapshot,
    error: str | None = None,
    *,
    running: bool = False,
) -> dict[str, Any]:
    """The debugging as one JSON object, shaped as the channels are. `running`: by some process."""
    state: Json = snapshot.values
    subject = state.get("subject") or {}
    ended = datetime.fromisoformat(snapshot.created_at).timestamp() if snapshot.created_at else 0.0
    result: dict[str, Any] = {
        "thread_id": thread_id,
        "subject": {
            **{name: subject.get(name, "") for name in ("id", "task", "source")},
            "steps": _own_steps(subject),
        },
        "status": status_of(snapshot, error, running=running),
        "method": request.context["method"],
        "critical": state.get("critical") or None,
        **{name: state.get(name) or {} for name in ("labels", "label_problems")},
        **{name: list(state.get(name) or []) for name in ("suspects", "probes", "branches")},
        "verdict": state.get("verdict") or None,
        "usage": usage_of(state),
        "notes": list(state.get("notes") or []),
        "seconds": round(max(0.0, ended - request.started), 3),
    }
    if snapshot.interrupts:
        result["interrupts"] = [waiting(item) for item in snapshot.interrupts]
    if problem := error or task_error(snapshot) or state.get("problem"):
        result["error"] = problem
    return result


def exit_code(status: str) -> int:
    """The exit code of a debugging's status."""
    return ANSWERED if status in ("fixed", "found", "successful") else _EXIT_CODES.get(status, FAILED)


def _own_steps(subject: Json) -> int:
    """The run's steps, without the answer, which the debugger examines as one more."""
    return sum(move_of(str(step["action"]))[0] != "answer" for step in subject.get("steps") or [])


def _records(update: Json, channel: str) -> list[Json]:
    """The records of a list channel, without the mark that clears it."""
    return [record for record in update.get(channel) or [] if isinstance(record, Mapping)]
