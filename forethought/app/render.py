"""How each record of the state looks on a terminal: one function a record type.

A renderer takes the plain record and returns Rich renderables. Text goes in as `Text`, never as markup, and
cleaned.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from forethought.app.text import clean, first_lines, one_line

Json = Mapping[str, Any]
_SUBTASK_STYLES = {"finished": "green", "failed": "red", "blocked": "yellow"}
_STATUS_STYLES = {"answered": "green", "failed": "red", "interrupted": "cyan"}


def plan(record: Json, revised: bool = False) -> RenderableType:
    """A plan version and its subtasks. `revised`: by the reflector, which scores nothing."""
    notes = ["revised"] if revised else [f"score {record['score']}, planner"] if record.get("score") else []
    if record.get("revisions") and not revised:
        notes.append(_count(record["revisions"], "own revision"))
    if record.get("unresolved"):
        notes.append("planning errors left")
    head = Text(f"Plan v{record.get('version', 1)}", style="bold")
    head.append(f" ({', '.join(notes)})" if notes else "", style="not bold")
    lines: list[RenderableType] = [head, _subtasks(record.get("subtasks") or [])]
    if record.get("evaluation") and not revised:
        lines.append(_dim(f"evaluation: {one_line(record['evaluation'], 300)}"))
    return Group(*lines)


def _subtasks(subtasks: Sequence[Json]) -> Table:
    table = Table(box=None, padding=(0, 1), pad_edge=True, header_style="dim")
    for name in ("subtask", "what is to be done", "tool", "after", ""):
        table.add_column(name, overflow="fold", ratio=1 if name.startswith("what") else None)
    for task in subtasks:
        status = one_line(task.get("status", "pending"), 20)
        # What is finished was shown in full when it was planned.
        table.add_row(
            Text(one_line(task.get("id"), 30)),
            Text(one_line(task.get("description"), 60 if status == "finished" else 300)),
            Text(one_line(task.get("tool") or "", 30)),
            Text(one_line(", ".join(task.get("depends_on") or []) or "-", 60)),
            Text("" if status == "pending" else status, style=_SUBTASK_STYLES.get(status, "")),
        )
    return table


def review(record: Json) -> RenderableType:
    """A diagnosis by the prospective reflector (PreFlect 3.2.2): each error with its evidence and risk."""
    version = record.get("plan_version")
    if record.get("skipped"):
        return Text(
            f"Reflector: plan v{version} not diagnosed: {one_line(record['skipped'], 200)}", style="yellow"
        )
    errors: Sequence[Json] = record.get("errors") or []
    if not errors:
        return Text(f"Reflector: no planning errors found in plan v{version}", style="green")
    lines = [Text(f"Reflector: {_count(len(errors), 'planning error')} in plan v{version}", style="yellow")]
    for error in errors:
        line = Text("  ").append(one_line(error.get("error_type"), 80), style="yellow")
        line.append(f" — {one_line(error.get('evidence'), 300)} → {one_line(error.get('risk'), 300)}")
        lines.append(line)
    if record.get("revised"):
        lines.append(Text(f"  Revised: {one_line(record.get('changes') or 'no account given', 400)}"))
    if record.get("unresolved"):
        lines.append(Text("  The errors are not resolved; the plan goes on, marked so", style="yellow"))
    return Group(*lines)


def wave(number: int, dispatch: Sequence[Json]) -> RenderableType:
    """What is sent out together."""
    names = ", ".join(one_line(item.get("subtask"), 40) for item in dispatch)
    beside = " side by side" if len(dispatch) > 1 else ""
    return Text(f"wave {number}: {names}{beside}" if number else f"next: {names}{beside}", style="bold blue")


def call(tool: Any, arguments: Json | None, width: int = 100) -> str:
    """A tool call on one line: read_file(path="a.pdf", part=2)."""
    given = ", ".join(
        f"{key}={_value(value)}" for key, value in (arguments or {}).items() if value is not None
    )
    return one_line(f"{tool}({given})", width)


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def approval(record: Json) -> RenderableType:
    """A call that waits for a person: all that it would do, and who may have brought it about.

    Nothing is cut short: what matters may stand at the end of an address.
    """
    title = f"Approve this call? {one_line(record.get('tool'), 60)} ({one_line(record.get('effect'), 20)})"
    lines = [Text(title, style="bold cyan")]
    for name, value in (record.get("arguments") or {}).items():
        if value is None:
            continue
        shown = value if isinstance(value, str) else _value(value)
        lines.append(Text(f"  {one_line(name, 60)}: ", style="bold").append(clean(shown), style="not bold"))
    lines.append(Text(f"  {clean(record.get('why') or '')}", style="yellow"))
    return Group(*lines)


def step(record: Json, observation_lines: int = 3) -> RenderableType:
    """One step: what was done, its score, what came of it."""
    line = Text(f"#{record.get('n')} ", style="bold").append(
        one_line(record.get("subtask"), 40), style="cyan"
    )
    line.append(f"  {_move(record)}", style="not bold")
    if record.get("score"):
        line.append(f"  score {record['score']}", style="dim")
    ok = bool(record.get("ok"))
    line.append(
        "  ok" if ok else f"  {one_line(record.get('cause') or 'failed', 30)}", style="green" if ok else "red"
    )
    line.append(f" {_seconds(record.get('seconds'))}", style="dim")
    if record.get("approval"):
        line.append(f"  {one_line(record['approval'], 20)} by a person", style="cyan")
    if record.get("surprise") not in (None, "", "none"):
        line.append(f"  surprise: {one_line(record['surprise'], 20)}", style="magenta")
    seen = first_lines(record.get("observation") or "", observation_lines)
    calls = [_sub_step(item) for item in record.get("sub_steps") or []]
    return Group(line, *calls, *(Padding(_dim(text), (0, 0, 0, 4), expand=False) for text in seen))


def _sub_step(item: Json) -> RenderableType:
    """A call that a program of the step made."""
    shown = Text(f"- {call(item.get('tool'), item.get('arguments'), 80)}", style="not bold")
    failed = "" if item.get("ok") else one_line(item.get("cause") or "failed", 30)
    shown.append(f"  {failed or 'ok'}", style="red" if failed else "green")
    return Padding(shown, (0, 0, 0, 4), expand=False)


def _move(record: Json) -> str:
    if record.get("tool") and record.get("action") in (None, "call"):
        return call(record["tool"], record.get("arguments"))
    moves = {
        "finish": "finished",
        "replan": "asks for a new plan",
        "none": "no usable proposal",
        "call": "call",
    }
    return moves.get(str(record.get("action")), one_line(record.get("action"), 40))


def proposal(record: Json) -> RenderableType | None:
    """The proposals of one turn that scored too low and were not tried (MIRROR 3.4); None if none."""
    rejected: Sequence[Json] = record.get("rejected") or []
    if not rejected:
        return None
    return Group(*(_rejected(record, item) for item in rejected))


def _rejected(record: Json, item: Json) -> Text:
    tool = item.get("tool")
    what = call(tool, item.get("arguments"), 80) if tool else one_line(item.get("action", "?"), 80)
    why = one_line(item.get("evaluation"), 160)
    head = f"#{record.get('n')} {one_line(record.get('subtask'), 40)}  not tried, score {item.get('score')}"
    return _dim(f"{head}: {what}" + (f": {why}" if why else ""))


def replan(record: Json) -> RenderableType:
    """Why a new plan is due."""
    how = "forced" if record.get("forced") else one_line(record.get("kind") or "asked", 20)
    reason = one_line(record.get("reason"), 300)
    return Text(f"re-plan after step {record.get('n', 0)} ({how}): {reason}", style="magenta")


def decision(record: Json) -> RenderableType | None:
    """The replan trigger's decision, where it is worth a line: when it goes to the answer."""
    if record.get("to") != "answer":
        return None
    return Text(f"on to the answer: {one_line(record.get('reason'), 200)}", style="blue")


def lessons(record: Json) -> RenderableType | None:
    """Lessons of other tasks that this one is shown, or the one that it leaves; None where neither is."""
    if "kept" in record:
        if record["kept"]:
            kept = one_line(record["kept"], 40)
            return _dim(f"lesson kept: forethought lessons show {kept}")
        return _dim(f"no lesson kept: {one_line(record['problem'], 200)}") if record.get("problem") else None
    if record.get("due") or not record.get("shown"):
        return None
    return _dim(
        f"lessons from other tasks: {', '.join(one_line(item['id'], 40) for item in record['shown'])}"
    )


def reflection(record: Json) -> RenderableType | None:
    """What a step's deviation from what was expected leads to; None where nothing deviated significantly."""
    found = record.get("foresight")
    return _dim(f"    reflection: {one_line(found['reflection'], 300)}") if found else None


def waiting(event: Json) -> RenderableType:
    """A model call that failed in transport and is made again."""
    model, why = one_line(event.get("model"), 60), one_line(event.get("why"), 200)
    again = (
        f"asked again in {_seconds(event.get('seconds'))} ({event.get('retry')} of {event.get('retries')})"
    )
    return Text(f"model {model}: {why}; {again}", style="yellow")


def fallback(event: Json) -> RenderableType:
    """A model that gave no reply, and the one that is asked instead."""
    model, other = one_line(event.get("model"), 60), one_line(event.get("fallback"), 60)
    return Text(f"{one_line(event.get('why'), 300)}; {other} is asked instead of {model}", style="yellow")


def memory(subtask: str, record: Json | None) -> RenderableType | None:
    """How much short-term memory now holds of a subtask (MIRROR 3.5); None when it holds no failure."""
    if not record or not record.get("failures"):
        return None
    return _dim(
        f"    memory: {_count(len(record['failures']), 'failure')} of {one_line(subtask, 40)} remembered"
    )


def round_record(record: Json) -> RenderableType | None:
    """A failed round as long-term memory keeps it (MIRROR 3.5); None for one that still runs."""
    if not record.get("evaluation") and not record.get("reflection"):
        return None
    text = record.get("reflection") or record.get("evaluation")
    return Text(
        f"round {record.get('round')} did not pass (score {record.get('score')}): {one_line(text, 300)}",
        style="yellow",
    )


def answer(text: str, sources: Iterable[Json], passed: bool = True) -> RenderableType:
    """The answer with the steps that it rests on."""
    lines: list[RenderableType] = [Text(clean(text).strip())]
    if rests := list(sources):
        lines.append(Text(""))
        lines.extend(_source(item) for item in rests)
    title = "Answer" if passed else "Best answer so far (did not pass)"
    return Panel(Group(*lines), title=title, title_align="left", border_style="green" if passed else "yellow")


def _source(record: Json) -> Text:
    origin = one_line(record.get("origin"), 100)
    tool = f"  {one_line(record['tool'], 30)}" if record.get("tool") else ""
    return _dim(f"#{record.get('n')} {one_line(record.get('subtask'), 40)}{tool}  {origin}")


def summary(result: Json) -> RenderableType:
    """The last line: status, score, rounds, steps, calls, tokens, money, time."""
    usage: Json = result.get("usage") or {}
    usd = usage.get("usd")
    status = one_line(result.get("status"), 30)
    parts = [f"score {result['score']}"] if result.get("score") else []
    parts += [
        _count(result.get("rounds") or 0, "round"),
        _count(len(result.get("steps") or []), "step"),
        _count(usage.get("calls", 0), "model call"),
        tokens(usage),
        "price unknown" if usd is None else f"${usd:.4f}",
        _seconds(result.get("seconds")),
    ]
    line = Text(status, style=_STATUS_STYLES.get(status, "yellow"))
    return line.append("  " + ", ".join(parts), style="default")


def tokens(usage: Json) -> str:
    """The tokens of a run's usage; 'about' where some are estimates."""
    about = "about " if usage.get("estimated") else ""
    told = f"{usage.get('input_tokens', 0):,} + {usage.get('output_tokens', 0):,} tokens"
    return f"{about}{told} ({usage.get('cached_tokens', 0):,} cached)"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _seconds(value: Any) -> str:
    seconds = float(value or 0)
    return f"{seconds:.1f}s" if seconds < 90 else f"{int(seconds // 60)}m {int(seconds % 60)}s"


def _dim(text: str) -> Text:
    return Text(text, style="dim")
