"""How a difference of two runs and a list of branches look on a terminal."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from forethought.app.text import clean, first_lines, one_line

Json = Mapping[str, Any]
_LINES = 8
"""Most lines of an observation, or of the difference of two, that are shown."""
_WIDTH = 160


def difference(record: Json, most_steps: int = 50) -> RenderableType:
    """The two runs, the step where they part, what each did from there, both answers, the tokens."""
    lines: list[RenderableType] = [_side(record["a"], "-", "red"), _side(record["b"], "+", "green")]
    if record["parts_at"] is None:
        lines.append(Text(f"all {record['same_steps']} steps are the same"))
    else:
        lines.append(
            Text(f"{record['same_steps']} steps are the same; they part at step {record['parts_at']}")
        )
    for step in record["steps"][:most_steps]:
        lines += _step(step)
    if len(record["steps"]) > most_steps:
        lines.append(Text(f"… {len(record['steps']) - most_steps} more steps differ", style="dim"))
    if not any(_is_answer(step) for step in record["steps"]):
        lines += _answers(record)
    if record["more_tokens"] is not None:
        lines.append(Text(f"tokens: {record['a']['tokens']:,} and {record['b']['tokens']:,}", style="dim"))
    return Group(*lines)


def _side(side: Json, sign: str, style: str) -> Text:
    status = f"  {one_line(side['status'], 30)}" if side["status"] else ""
    return Text(f"{sign} {one_line(side['branch'], 60)}{status}, {side['steps']} steps", style=style)


def _step(step: Json) -> list[RenderableType]:
    a, b = step["a"], step["b"]
    head = Text(f"#{step['n']}", style="bold")
    if a and b and a["did"] == b["did"]:
        return [head.append(f" {one_line(a['did'], _WIDTH)}", style="not bold"), *_observations(a, b)]
    shown: list[RenderableType] = [head]
    for side, sign, style in ((a, "-", "red"), (b, "+", "green")):
        if side is not None:
            shown.append(Text(f"  {sign} {one_line(side['did'], _WIDTH)}", style=style))
            shown += [
                Text(f"      {line}", style="dim") for line in first_lines(side["observation"], 3, _WIDTH)
            ]
    return shown


def _observations(a: Json, b: Json) -> list[Text]:
    """The lines in which two observations of the same move differ."""
    compared = difflib.unified_diff(_lines(a["observation"]), _lines(b["observation"]), n=0, lineterm="")
    changed = [line for line in compared if not line.startswith(("---", "+++", "@@"))]
    more = [Text(f"    … {len(changed) - _LINES} more lines", style="dim")] if len(changed) > _LINES else []
    return [
        *(
            Text(f"    {line[0]} {line[1:]}", style="red" if line[0] == "-" else "green")
            for line in changed[:_LINES]
        ),
        *more,
    ]


def _lines(text: str) -> list[str]:
    # Cut: a difference of megabytes would take minutes, and nobody reads more.
    return [one_line(line, _WIDTH) for line in clean(text)[:20_000].splitlines() if line.strip()]


def _is_answer(step: Json) -> bool:
    """Whether a step is the answer itself, which needs no second line."""
    return any(side is not None and side["did"].startswith("answer: ") for side in (step["a"], step["b"]))


def _answers(record: Json) -> Iterable[Text]:
    if not record["answer_differs"]:
        return [Text(f"the same answer: {one_line(record['a']['answer'], 300) or '(none)'}")]
    return [
        Text(f"- answer: {one_line(record['a']['answer'], 300) or '(none)'}", style="red"),
        Text(f"+ answer: {one_line(record['b']['answer'], 300) or '(none)'}", style="green"),
    ]


def branches(records: Sequence[Json]) -> RenderableType:
    """The branches of a thread: a line each, guidance and answer below; no width cuts an id or a number."""
    lines: list[RenderableType] = []
    for record in records:
        mark = "*" if record["head"] else ""
        facts = (
            _forked(record),
            record["status"],
            "" if record["steps"] is None else f"{record['steps']} steps",
            "" if record["tokens"] is None else f"{record['tokens']:,} tokens",
        )
        told = ", ".join(one_line(fact, 40) for fact in facts if fact)
        lines.append(Text(f"{record['number']}{mark} {one_line(record['branch'], 60)}", style="bold"))
        lines.append(Text(f"   {told}"))
        lines += [Text(f"   guidance: {one_line(item, 200)}", style="dim") for item in record["guidance"]]
        if record["answer"]:
            lines.append(Text(f"   answer: {one_line(record['answer'], 200)}"))
    return Group(*lines, Text("* the head, which `show` and `resume` mean", style="dim"))


def _forked(record: Json) -> str:
    """Before what the branch was forked."""
    if record["forked_before"] is None:
        return "the first run"
    what = {"planner": "the plan of step", "answer_agent": "the answer after step"}.get(record["at"], "step")
    number = record["forked_before"] - (record["at"] == "answer_agent")
    return f"before {what} {number}"
