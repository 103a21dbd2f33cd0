"""How a debugging looks: its labels, critical error, probes and re-runs on a terminal, and its JSON.

Text comes from models and from trajectories; it is cleaned and goes in as `Text`, never as markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from forethought.app import questions
from forethought.app.display import StreamDisplay
from forethought.app.errors import ANSWERED, FAILED, NOT_PASSED, WAITS
from forethought.app.report import status_of, task_error, usage_of, waiting
from forethought.app.text import clean, one_line
from forethought.app.view import entries, usage_line
from forethought.prompts.debug_replies import NO_ERROR

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from forethought.app.debug.session import DebugSession

Json = Mapping[str, Any]
_STATUSES = {
    "fixed": (ANSWERED, "green", "a re-run succeeded"),
    "not_fixed": (NOT_PASSED, "yellow", "no re-run succeeded"),
    "found": (ANSWERED, "green", "a critical error was found"),
    "not_found": (NOT_PASSED, "yellow", "no critical error was found"),
    "successful": (ANSWERED, "green", "the run succeeded: there is nothing to debug"),
    "failed": (FAILED, "red", "it could not be debugged"),
    "interrupted": (WAITS, "yellow", "it waits for a person"),
    "stopped": (FAILED, "yellow", "it was broken off and can be resumed"),
    "running": (FAILED, "yellow", "it is not over yet"),
}
"""The exit code, the style and the meaning of each status."""


class DebugDisplay(StreamDisplay):
    """Prints the updates of the debugger's graph."""

    def updated(self, node: str, update: Json) -> None:
        """Print what is debugged, a step's labels, the critical error, a probe, a re-run."""
        for part in parts(update):
            self.console.print(part)


def parts(values: Json) -> Iterator[RenderableType]:
    """What a state of the graph, or an update of it, holds to be shown."""
    if values.get("subject"):
        yield _heading(values["subject"])
    if values.get("verdict"):
        yield _verdict(values["verdict"])
    for number, labels in sorted(entries(values.get("labels")), key=lambda item: int(item[0])):
        yield _labels(number, labels)
    for number, why in entries(values.get("label_problems")):
        yield Text(f"#{number} not labelled: {one_line(why, 200)}", style="red")
    for record in _records(values, "probes"):
        yield _probe(record)
    if values.get("critical"):
        yield _critical(values["critical"])
    for record in _records(values, "branches"):
        yield _rerun(record)


def show_ending(result: Json, console: Console, with_error: bool = True) -> None:
    """Print the notes, what waits for a reply, the error, the status and the cost."""
    for note in result["notes"]:
        console.print(Text(f"note: {one_line(note, 400)}", style="dim"))
    for question in result.get("interrupts") or []:
        console.print(questions.show_question(question))
    if with_error and result.get("error"):
        console.print(Text(one_line(result["error"], 400), style="red"))
    _, style, meaning = _STATUSES.get(result["status"], (FAILED, "yellow", ""))
    rest = f"  {meaning}; {usage_line(result['usage'])}, {result['seconds']:.1f}s"
    console.print(Text(result["status"], style=style).append(rest, style="default"))


def debug_report(session: DebugSession, snapshot: StateSnapshot, error: str | None = None) -> dict[str, Any]:
    """The debugging as one JSON object, shaped as the channels are."""
    state: Json = snapshot.values
    subject = state.get("subject") or {}
    result: dict[str, Any] = {
        "thread_id": session.id,
        "subject": {
            **{name: subject.get(name, "") for name in ("id", "task", "source")},
            "steps": len(subject.get("steps") or []),
        },
        "status": status_of(snapshot, error),
        "method": session.context.method,
        "critical": state.get("critical") or None,
        **{name: state.get(name) or {} for name in ("labels", "label_problems")},
        **{name: list(state.get(name) or []) for name in ("probes", "branches")},
        "verdict": state.get("verdict") or None,
        "usage": usage_of(state),
        "notes": list(state.get("notes") or []),
        "seconds": round(session.seconds(snapshot), 3),
    }
    if snapshot.interrupts:
        result["interrupts"] = [waiting(item) for item in snapshot.interrupts]
    if problem := error or task_error(snapshot) or state.get("problem"):
        result["error"] = problem
    return result


def exit_code(status: str) -> int:
    """The exit code of a debugging's status."""
    return _STATUSES[status][0] if status in _STATUSES else FAILED


def _heading(subject: Json) -> RenderableType:
    where = f" ({one_line(subject['environment'], 30)})" if subject.get("environment") else ""
    count = len(subject.get("steps") or [])
    steps = f"{count} step{'' if count == 1 else 's'}"
    head = Text(f"debugging {one_line(subject.get('id'), 60)}{where}, {steps}", style="bold")
    return Group(head, Text(f"task: {one_line(subject.get('task'), 300)}"))


def _verdict(record: Json) -> RenderableType:
    """What the judge said of the run."""
    outcome = "succeeded" if record.get("success") else "failed"
    by = f", judged by {one_line(record['by'], 30)}" if record.get("by") else ""
    why = f": {one_line(record['reason'], 300)}" if record.get("reason") else ""
    return Text(f"the run {outcome}{by}{why}", style="green" if record.get("success") else "yellow")


def _labels(number: str, labels: Json) -> RenderableType:
    """A step's errors with their evidence, a line each after the first."""
    line = Text(f"#{number} ", style="bold")
    errors = [(module, label) for module, label in labels.items() if label.get("error_type") != NO_ERROR]
    if not errors:
        return line.append("no error", style="dim")
    for at, (module, label) in enumerate(errors):
        line.append("\n   " * bool(at) + f"{module} {one_line(label.get('error_type'), 60)}", style="yellow")
        line.append(" (by rule)" if label.get("by") == "rule" else "", style="dim")
        if label.get("evidence"):
            line.append(f'  "{one_line(label["evidence"], 160)}"', style="dim")
    return line


def _critical(record: Json) -> RenderableType:
    """The critical error: where, what, why, the words that show it, and what to do instead."""
    rows = [
        ("root cause", record.get("root_cause")),
        ("evidence", record.get("evidence")),
        ("guidance", record.get("correction_guidance")),
    ]
    rows += [
        (f"then #{effect.get('step')}", effect.get("impact"))
        for effect in record.get("cascading_effects") or []
    ]
    lines = [Text(one_line(record.get("error_type"), 80), style="bold yellow")]
    for name, text in rows:
        lines.append(Text(f"{name}: ", style="dim").append(clean(text or "").strip()[:2000], style="default"))
    title = f"Critical error: step {record.get('critical_step')}, {record.get('critical_module')}"
    return Panel(Group(*lines), title=title, title_align="left", border_style="yellow")


def _probe(record: Json) -> RenderableType:
    """One step that was tried: what was put in its place, and what came of it."""
    what = "control" if record.get("control") else "probe"
    line = Text(f"{what} #{record.get('step')} ", style="bold")
    if record.get("trials"):
        line.append(f"{record.get('flips', 0)} of {record['trials']} continuations succeed", style="not bold")
        if record.get("rate") is not None and record.get("high") is not None:
            low, high = record.get("low", 0.0), record["high"]
            line.append(f" ({record['rate']:.2f}, between {low:.2f} and {high:.2f})", style="dim")
    for name in ("substitution", "reasoning", "diverged"):
        if record.get(name):
            line.append(f"\n    {name}: {one_line(record[name], 200)}", style="dim")
    return line


def _rerun(record: Json) -> RenderableType:
    """One re-run: its verdict, its guidance and its answer."""
    success = bool(record.get("success"))
    head = Text(f"re-run {record.get('attempt')} ", style="bold")
    if record.get("from_step"):
        head.append(f"from before step {record['from_step']} ", style="not bold")
    head.append("succeeded" if success else "failed", style="green" if success else "red")
    if record.get("reason"):
        head.append(f": {one_line(record['reason'], 200)}", style="default")
    lines = [head, *(Text(f"  guidance: {one_line(item, 400)}") for item in record.get("guidance") or [])]
    if record.get("diverged"):
        lines.append(Text(f"  the replay diverged: {one_line(record['diverged'], 300)}", style="red"))
    lines += [
        Text(f"  #{step.get('number')} {one_line(step.get('action'))}") for step in record.get("steps") or []
    ]
    lines.append(Text(f"  answer: {one_line(record.get('answer'), 300)}"))
    return Group(*lines)


def _records(values: Json, channel: str) -> list[Json]:
    """The records of a list channel, without the mark that clears it."""
    return [record for record in values.get(channel) or [] if isinstance(record, Mapping)]
