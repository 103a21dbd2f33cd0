"""How plans, diagnoses, steps, answers and costs look on a terminal.

A function takes a plain record and returns a Rich renderable. Text goes in as `Text`, never as markup, and
cleaned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.panel import Panel
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from forethought.app.text import clean, first_line, first_lines, one_line, to_json
from forethought.state.cost import tool_seconds
from forethought.state.plan_words import own_words
from forethought.state.steps import is_call
from forethought.text import escape_hidden, how_many

Json = Mapping[str, Any]
LONGEST_ARGUMENT = 10_000
"""Characters of an argument that a person is asked about, some hundred lines."""
_SUBTASK_STYLES = {"finished": "green", "failed": "red", "blocked": "yellow"}
_STATUS_STYLES = {"answered": "green", "failed": "red", "interrupted": "cyan"}
_ROOM = 6
"""Lines of the screen that are left to what is not the answer while it is written."""
_MOVES = {"finish": "finished", "replan": "asks for a new plan", "none": "no usable proposal"}


def parts(values: Json, observation_lines: int = 3) -> Iterator[RenderableType]:
    """What a state of the graph, or an update of it, holds to be shown."""
    reviews = values.get("plan_reviews") or []
    for record in reviews:
        yield review(record)
    for record in values.get("replans") or []:
        yield replan(record)
    if (values.get("plan") or {}).get("subtasks"):
        before = values["plan"].get("version", 1) - 1
        yield plan(
            values["plan"], any(one["revised"] and one.get("plan_version") == before for one in reviews)
        )
    for record in values.get("trajectory") or []:
        yield step(record, observation_lines)
    if values.get("skipped"):
        yield skips(values["skipped"])
    for record in values.get("checks") or []:
        yield check(record)
    for _, record in entries(values.get("long_term")):
        if record.get("evaluation") or record.get("reflection"):
            yield failed_round(record)
    if values.get("dispatch"):
        yield wave((values.get("progress") or {}).get("waves", 0), values["dispatch"])
    if line := _experience(values.get("experience") or {}):
        yield Text(line, style="green")


def entries(channel: Any) -> list[tuple[str, Any]]:
    """The entries of a dict channel, or of its update, that hold something."""
    return [(key, item) for key, item in channel.items() if item] if isinstance(channel, Mapping) else []


def plan(record: Json, revised: bool = False, *, whole: bool = False) -> RenderableType:
    """A plan version and its subtasks. `revised`: by the reflector, which scores nothing. `whole`: nothing is
    cut short, as a person needs it who approves it."""
    scored = f"score {record['score']}, planner" if record.get("score") else ""
    notes = [note for note in ("revised" if revised else scored,) if note]
    if record.get("unresolved"):
        notes.append("planning errors left")
    head = Text(f"Plan v{record.get('version', 1)}", style="bold")
    head.append(f" ({', '.join(notes)})" if notes else "", style="not bold")
    table = Table(box=None, padding=(0, 1), pad_edge=True, header_style="dim")
    for name in ("subtask", "description", "tool", "after", ""):
        table.add_column(name, overflow="fold", ratio=1 if name == "description" else None)
    for task in record.get("subtasks") or []:
        status = one_line(task.get("status", "pending"), 20)
        short = status == "finished"
        limits = (None, None, None) if whole else (60 if short else 300, 100 if short else 500, 60)
        description, one_of_several = own_words(task.get("description") or "")
        what = Text(one_line(description, limits[0]))
        begins = task.get("call") or {}
        if begins and (status == "pending" or one_of_several):
            brief = call(begins.get("tool"), begins.get("arguments"), limits[1], brief=not whole)
            what.append(f"\n{brief}", style="dim")
        table.add_row(
            Text(one_line(task.get("id"), 30)),
            what,
            Text(one_line(begins.get("tool", ""), 30)),
            Text(one_line(", ".join(task.get("depends_on") or []) or "-", limits[2])),
            Text("" if status == "pending" else status, style=_SUBTASK_STYLES.get(status, "")),
        )
    return Group(head, table)


def review(record: Json) -> RenderableType:
    """A diagnosis by the prospective reflector (PreFlect 3.2.2)."""
    version = record.get("plan_version")
    if record.get("skipped"):
        why = one_line(record["skipped"], 200)
        return Text(f"Reflector: plan v{version} not diagnosed: {why}", style="yellow")
    errors: Sequence[Json] = record.get("errors") or []
    if not errors:
        return Text(f"Reflector: no planning errors found in plan v{version}", style="green")
    lines = [Text(f"Reflector: {how_many(len(errors), 'planning error')} in plan v{version}", style="yellow")]
    for error in errors:
        line = Text("  ").append(one_line(error.get("error_type"), 80), style="yellow")
        line.append(f" — {one_line(error.get('evidence'), 300)} → {one_line(error.get('risk'), 300)}")
        lines.append(line)
    if record.get("revised"):
        lines.append(
            Text(f"  Revised{': ' * bool(record.get('changes'))}{one_line(record.get('changes'), 400)}")
        )
    if record.get("unresolved"):
        lines.append(Text(f"  Not resolved: plan v{record.get('runs')} runs anyway", style="yellow"))
    return Group(*lines)


def wave(number: int, dispatch: Sequence[Json]) -> RenderableType:
    """What is sent out together."""
    names = ", ".join(one_line(item.get("subtask"), 40) for item in dispatch)
    return Text(f"wave {number}: {names}{' in parallel' * (len(dispatch) > 1)}", style="bold blue")


def call(tool: Any, arguments: Json | None, width: int | None = 100, *, brief: bool = False) -> str:
    """A tool call on one line: read_file(path="a.pdf", part=2). `brief`: of a text, its first line."""
    values = ((key, value) for key, value in (arguments or {}).items() if value is not None)
    return one_line(f"{tool}({', '.join(f'{key}={_value(value, brief)}' for key, value in values)})", width)


def _value(value: Any, brief: bool) -> str:
    line, more = first_line(value, 60) if brief and isinstance(value, str) else ("", "")
    return to_json(line if more else value, None) + more


def reading(progress: Json) -> str:
    """How far a reading of many files is."""
    doubtful = f", {progress['doubtful']:,} doubtful" if progress.get("doubtful") else ""
    return f"read {progress.get('done', 0):,} of {progress.get('total', 0):,}{doubtful}"


def move(record: Json, width: int = 100, *, brief: bool = False) -> str:
    """What a step did: its call, or the move that was none."""
    if record.get("tool") and record.get("action") in (None, "call"):
        return call(record["tool"], record.get("arguments"), width, brief=brief)
    return _MOVES.get(str(record.get("action")), one_line(record.get("action"), 40))


def approval(record: Json) -> RenderableType:
    """A call that waits for a person, and what may have led to it; then once more which call it is.

    An argument is JSON in a column of its own: nothing in it looks like a line of ours, or pushes ours away.
    """
    called = escape_hidden(f"{record.get('tool')} ({record.get('effect')})")
    arguments = Table.grid(padding=(0, 1), expand=True)
    arguments.add_column(style="bold", overflow="fold")
    arguments.add_column(overflow="fold", ratio=1)
    for name, value in (record.get("arguments") or {}).items():
        if value is not None:
            arguments.add_row(Text(f"{escape_hidden(str(name))}:"), _argument(value))
    notes = [escape_hidden(str(record.get("why") or ""))]
    for change in record.get("changes") or ():
        where = "the agent" if change["origin"] == "model" else change["origin"]
        value = one_line(to_json(change["value"], None), 200)
        notes.append(escape_hidden(f"Not from you: {change['argument']} = {value}, from {where}"))
    notes += [
        f"This tool also waits for approval with {_argument(like)}" for like in record.get("like") or ()
    ]
    why = Text("\n".join(notes), style="yellow")
    ask = [Text(f"{words} {called}", style="bold cyan") for words in ("Approve this call?", "The call is")]
    return Group(ask[0], Padding(Group(arguments, why), (0, 0, 0, 2)), ask[1])


def _argument(value: Any) -> Text:
    """An argument whole, but for the middle of what would fill many screens."""
    text, half = to_json(value, None), LONGEST_ARGUMENT // 2
    if len(text) <= LONGEST_ARGUMENT:
        return Text(text)
    note = f"[{len(text) - 2 * half:,} characters left out; --json prints them]"
    return Text.assemble(text[:half], ("\n" + note + "\n", "yellow"), text[-half:])


def step(record: Json, observation_lines: int = 3) -> RenderableType:
    """One step: what was done, its score, what came of it."""
    line = Text(f"#{record.get('n')} ", style="bold")
    line.append(one_line(record.get("subtask"), 40), style="cyan").append(
        f"  {move(record, brief=True)}", "not bold"
    )
    if record.get("score"):
        line.append(f"  score {record['score']}", style="dim")
    cause = f" ({one_line(record['cause'], 30)})" if record.get("cause") else ""
    line.append(
        "  ok" if record.get("ok") else f"  failed{cause}", style="green" if record.get("ok") else "red"
    )
    line.append(f" {_times(record)}", style="dim")
    if record.get("approval"):
        by = "rule" if record["approval"] == "denied" else "person"
        line.append(f"  {one_line(record['approval'], 20)} by a {by}", style="cyan")
    if record.get("surprise") not in (None, "", "none"):
        line.append(f"  surprise: {one_line(record['surprise'], 20)}", style="magenta")
    observation = first_lines(record.get("observation") or "", observation_lines)
    return Group(line, *(Padding(_dim(text), (0, 0, 0, 4), expand=False) for text in observation))


def _times(record: Json) -> str:
    """A step's own time, and that of its model calls where there are any."""
    model = (record.get("usage") or {}).get("seconds", 0.0)
    own = seconds(tool_seconds({"seconds": 0.0, **record}))
    return f"{own} (model {seconds(model)})" if model else own


def replan(record: Json) -> RenderableType:
    """Why a new plan is due."""
    how = "forced" if record.get("forced") else one_line(record.get("kind") or "asked", 20)
    reason = one_line(record.get("reason"), 300)
    return Text(f"re-plan after step {record.get('n', 0)} ({how}): {reason}", style="magenta")


def skips(records: Sequence[Json]) -> RenderableType:
    """What rules of `effort` left out, a line each, with the steps before it."""
    places: dict[tuple[str, str], list[str]] = {}
    for record in records:
        places.setdefault((record["mechanism"], record["why"]), []).append(str(record["n"]))
    lines = [
        f"{mechanism} skipped after step {', '.join(dict.fromkeys(steps))}: {why}"
        for (mechanism, why), steps in places.items()
    ]
    return Group(*(_dim(one_line(line, 200)) for line in lines))


def check(record: Json) -> RenderableType:
    """What the answer's author held it against."""
    ok = record.get("ok") == "yes"
    line = Text("checked " if ok else "not followed ", style="green" if ok else "yellow")
    return line.append(f"{one_line(record.get('about'))}: {one_line(record.get('done'), 300)}", "default")


def failed_round(record: Json) -> RenderableType:
    """A round that did not pass, as long-term memory keeps it (MIRROR 3.5)."""
    why = one_line(record.get("reflection") or record.get("evaluation"), 300)
    head = f"round {record.get('round')} did not pass (score {record.get('score')})"
    return Text(f"{head}: {why}", style="yellow")


def _experience(record: Json) -> str:
    """The advice that changed the answer of a task that has ended; '' if none did."""
    applied = [one for one in record.get("shown") or [] if one["id"] in (record.get("applied") or [])]
    if record.get("due") or not applied:
        return ""
    whose = "your correction" if all(one.get("source") == "person" for one in applied) else "experience"
    return f"Applied {whose}: {', '.join(one_line(one.get('name'), 60) for one in applied)}"


def model_event(event: Json) -> RenderableType:
    """A model call that failed: it is made again, or another model is asked."""
    model, why = one_line(event.get("model"), 60), one_line(event.get("why"), 300)
    if event.get("fallback"):
        return Text(f"{why}; using {one_line(event['fallback'], 60)} instead of {model}", style="yellow")
    again = f"retry {event.get('retry')} of {event.get('retries')} in {seconds(event.get('seconds'))}"
    return Text(f"model {model}: {why}; {again}", style="yellow")


def answer(text: str, sources: Iterable[Json], why: str | None = None) -> RenderableType:
    """The answer with the steps that it rests on; `why` it did not pass (None: it did), a line a defect."""
    lines: list[RenderableType] = [Prose(text)]
    for at, record in enumerate(sources):
        tool = f"  {one_line(record['tool'], 30)}" if record.get("tool") else ""
        origin = one_line(record.get("origin"), 100)
        source = f"#{record.get('n')} {one_line(record.get('subtask'), 40)}{tool}  {origin}"
        lines += [*([] if at else [Text("")]), _dim(source)]
    lines += [Text(f"\n{clean(why)}", style="yellow")] if why else []
    passed = why is None
    title = "Answer" if passed else "Best answer so far (did not pass)"
    return Panel(Group(*lines), title=title, title_align="left", border_style="green" if passed else "yellow")


@dataclass(frozen=True)
class Prose:
    """Markdown from a model: rendered on a terminal, as it was written elsewhere."""

    text: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = clean(self.text).strip()
        if not console.is_terminal:
            yield Text(text)
            return
        from rich.markdown import Markdown  # which loads the highlighter of code

        for segment in console.render(Markdown(text, hyperlinks=False), options):
            # An entity such as &#x202e; is a character only now.
            yield segment if segment.control else Segment(clean(segment.text), segment.style)


@dataclass(frozen=True)
class Tail:
    """As many of the last lines as the screen has room for."""

    whole: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self.whole, options.update(height=None), pad=False)
        for line in lines[-max(1, console.height - _ROOM) :]:
            yield from line
            yield Segment.line()


def summary(result: Json) -> RenderableType:
    """The last line: status, score, rounds, steps, calls, tokens, money, time."""
    status = one_line(result.get("status"), 30)
    spent = one_line(result.get("stopped"), 20) if status == "budget_exhausted" else ""
    facts = [f"max_{spent} spent"] if spent else []
    facts += [f"score {result['score']}"] if result.get("score") else []
    steps = result.get("steps") or []
    made = f"{how_many(len(steps), 'step')} with {how_many(sum(map(is_call, steps)), 'tool call')}"
    facts += [how_many(result.get("rounds") or 0, "round"), made]
    facts += [usage_line(result.get("usage") or {}), seconds(result.get("seconds"))]
    line = Text(status, style=_STATUS_STYLES.get(status, "yellow"))
    return line.append("  " + ", ".join(facts), style="default")


def usage_line(usage: Json) -> str:
    """Model calls, tokens ('about' where some are estimates) and price in one line."""
    about = "about " if usage.get("estimated") else ""
    tokens = f"{usage.get('input_tokens', 0):,} + {usage.get('output_tokens', 0):,} tokens"
    price = "price unknown" if usage.get("usd") is None else f"${usage['usd']:.4f}"
    calls = how_many(usage.get("calls", 0), "model call")
    return f"{calls}, {about}{tokens} ({usage.get('cached_tokens', 0):,} cached), {price}"


def seconds(value: Any) -> str:
    """A duration: 4.2s, or 3m 5s."""
    number = float(value or 0)
    if number < 90:
        return f"{value}s" if isinstance(value, int) else f"{number:.1f}s"
    return f"{int(number // 60)}m {int(number % 60)}s"


def _dim(text: str) -> Text:
    return Text(text, style="dim")
