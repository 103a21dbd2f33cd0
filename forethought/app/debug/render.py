"""How each record of a debugging looks on a terminal: labels, critical error, probes, re-runs.

Text comes from models and from trajectories; it is cleaned and goes in as `Text`, never as markup.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from forethought.app.render import tokens
from forethought.app.text import clean, one_line
from forethought.app.threads.diff import difference, render_difference, run_of_trajectory
from forethought.prompts.debug_replies import NO_ERROR

Json = Mapping[str, Any]
_STATUS_STYLES = {"fixed": "green", "found": "green", "successful": "green", "failed": "red"}
_MEANING = {
    "fixed": "a re-run succeeded",
    "not_fixed": "no re-run succeeded",
    "found": "a critical error was found",
    "not_found": "no critical error was found",
    "successful": "the run succeeded: there is nothing to debug",
    "failed": "it could not be debugged",
    "interrupted": "it waits for a person",
    "stopped": "it was broken off and can be resumed",
    "running": "it is not over yet",
}


def subject(record: Json) -> RenderableType:
    """What is debugged."""
    steps = record.get("steps") or []
    where = f" ({one_line(record['environment'], 30)})" if record.get("environment") else ""
    head = Text(
        f"debugging {one_line(record.get('id'), 60)}{where}, {_count(len(steps), 'step')}", style="bold"
    )
    return Group(head, Text(f"task: {one_line(record.get('task'), 300)}"))


def verdict(record: Json) -> RenderableType | None:
    """What the evaluator said of the run."""
    if not record:
        return None
    said = "succeeded" if record.get("success") else "failed"
    by = f", judged by {one_line(record['by'], 30)}" if record.get("by") else ""
    why = f": {one_line(record['reason'], 300)}" if record.get("reason") else ""
    return Text(f"the run {said}{by}{why}", style="green" if record.get("success") else "yellow")


def labelled(number: str, labels: Json) -> RenderableType:
    """One line for a labelled step, as soon as it is there."""
    found = [f"{module} {one_line(label.get('error_type'), 40)}" for module, label in errors_of(labels)]
    line = Text(f"#{number} ", style="bold")
    return line.append(", ".join(found) or "no error", style="yellow" if found else "dim")


def not_labelled(number: str, why: str) -> RenderableType:
    """A step whose labels could not be had."""
    return Text(f"#{number} not labelled: {one_line(why, 200)}", style="red")


def errors_of(labels: Json) -> list[tuple[str, Json]]:
    """The modules of a step that have an error, in the order of the modules."""
    return [(module, label) for module, label in labels.items() if label.get("error_type") != NO_ERROR]


def errors(labels: Json) -> RenderableType | None:
    """All labels that are errors, with their evidence; None where there is none."""
    lines = []
    for number, modules in sorted(labels.items(), key=lambda item: int(item[0])):
        for module, label in errors_of(modules):
            line = Text(f"  #{number} {module}: ").append(
                one_line(label.get("error_type"), 60), style="yellow"
            )
            line.append(" (by rule)" if label.get("by") == "rule" else "", style="dim")
            if label.get("evidence"):
                line.append(f'  "{one_line(label["evidence"], 160)}"', style="dim")
            lines.append(line)
    return Group(Text(_count(len(lines), "error"), style="bold"), *lines) if lines else None


def critical(record: Json) -> RenderableType:
    """The critical error: where, what, why, the words that show it, and what to do instead."""
    lines = [
        Text(one_line(record.get("error_type"), 80), style="bold yellow"),
        _part("root cause", record.get("root_cause")),
        _part("evidence", record.get("evidence")),
        _part("guidance", record.get("correction_guidance")),
    ]
    effects = record.get("cascading_effects") or []
    lines += [_part(f"then #{effect.get('step')}", effect.get("impact")) for effect in effects]
    title = f"Critical error: step {record.get('critical_step')}, {record.get('critical_module')}"
    return Panel(Group(*lines), title=title, title_align="left", border_style="yellow")


def found(record: Json) -> RenderableType:
    """One line for the critical error, as soon as it is there."""
    where = f"step {record.get('critical_step')}, {record.get('critical_module')}"
    return Text(f"critical: {where}, {one_line(record.get('error_type'), 80)}", style="bold yellow")


def probe(record: Json) -> RenderableType:
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


def ended(record: Json) -> Text:
    """One line for a re-run, as soon as it is judged."""
    success = bool(record.get("success"))
    head = Text(f"re-run {record.get('attempt')} ", style="bold")
    if record.get("from_step"):
        head.append(f"from before step {record['from_step']} ", style="not bold")
    head.append("succeeded" if success else "failed", style="green" if success else "red")
    if record.get("reason"):
        head.append(f": {one_line(record['reason'], 200)}", style="default")
    return head


def rerun(record: Json, of: Json) -> RenderableType:
    """One re-run of the trajectory `of`: its verdict, its guidance, and how it differs."""
    lines: list[RenderableType] = [ended(record)]
    lines += [Text(f"  guidance: {one_line(item, 400)}") for item in record.get("guidance") or []]
    if record.get("diverged"):
        lines.append(Text(f"  the replay diverged: {one_line(record['diverged'], 300)}", style="red"))
    return Group(*lines, render_difference(compared(record, of), most_steps=10))


def compared(record: Json, of: Json) -> dict[str, Any]:
    """The difference of the original run and one re-run of it."""
    steps = of.get("steps") or []
    a = run_of_trajectory(str(of.get("id") or "the run"), steps, str(of.get("answer") or ""))
    whole = [*steps[: record.get("kept", 0)], *(record.get("steps") or [])]
    name, answer = str(record.get("branch") or "re-run"), str(record.get("answer") or "")
    return difference(a, run_of_trajectory(name, whole, answer, str(record.get("status") or "")))


def summary(result: Json) -> RenderableType:
    """The last line: status, model calls, tokens, money, time."""
    usage: Json = result["usage"]
    status = result["status"]
    price = "price unknown" if usage["usd"] is None else f"${usage['usd']:.4f}"
    line = Text(status, style=_STATUS_STYLES.get(status, "yellow"))
    return line.append(
        f"  {_MEANING.get(status, '')}; {_count(usage['calls'], 'model call')}, "
        f"{tokens(usage)}, {price}, {result['seconds']:.1f}s",
        style="default",
    )


def _part(name: str, text: Any) -> Text:
    return Text(f"{name}: ", style="dim").append(clean(text or "").strip()[:2000], style="default")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
