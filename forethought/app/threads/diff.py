"""The difference of two runs that began alike: where they part, and what each did and saw from there.

Two steps are the same when the same was done and the same came back. What was thought, how long it took and
what it cost may differ: a step that was made again and came out alike is no parting.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from forethought.app.text import first_lines, one_line

Json = dict[str, Any]
_LINES = 8
"""Most lines of an observation that are compared."""
_WIDTH = 160


@dataclass(frozen=True)
class Run:
    """One of the two runs."""

    name: str
    steps: Mapping[int, Json]
    """What was done and what came back, {did, observation}, by the step's number."""
    answer: str = ""
    status: str = ""
    tokens: int = 0
    """Input and output tokens."""

    @property
    def summary(self) -> Json:
        """The run as a difference names it."""
        names = {"branch": self.name, "status": self.status, "steps": len(self.steps)}
        return {**names, "answer": self.answer, "tokens": self.tokens}


def run_of_report(name: str, report: Mapping[str, Any]) -> Run:
    """A branch of a thread, from its report."""
    steps = {step["n"]: _step(_action(step), step) for step in report["steps"]}
    tokens = report["usage"]["input_tokens"] + report["usage"]["output_tokens"]
    return Run(name, steps, report["answer"], report["status"], tokens)


def difference(a: Run, b: Run) -> Json:
    """What differs from `a` to `b`: {a, b, same_steps, parts_at, steps, answer_differs, more_tokens}.

    `steps` holds those that differ, {n, a, b}, with null where a run has no such step.
    """
    numbers = sorted(a.steps.keys() | b.steps.keys())
    differing = [n for n in numbers if a.steps.get(n) != b.steps.get(n)]
    return {
        "a": a.summary,
        "b": b.summary,
        "same_steps": len(numbers) - len(differing),
        "parts_at": differing[0] if differing else None,
        "steps": [{"n": n, "a": a.steps.get(n), "b": b.steps.get(n)} for n in differing],
        "answer_differs": a.answer.strip() != b.answer.strip(),
        "more_tokens": b.tokens - a.tokens,
    }


def _step(action: Any, step: Mapping[str, Any]) -> Json:
    return {"did": str(action or ""), "observation": str(step.get("observation") or "")}


def _action(step: Mapping[str, Any]) -> str:
    """What a step of the agent did: its subtask and its call, or the move that was no call."""
    if step.get("tool") and step.get("action") in {None, "call"}:
        arguments = {key: value for key, value in (step.get("arguments") or {}).items() if value is not None}
        text = json.dumps(arguments, ensure_ascii=False, sort_keys=True, default=str)
        return f"{step.get('subtask')}: {step['tool']}({text})"
    return f"{step.get('subtask')}: {step.get('action') or 'nothing'}"


def render_difference(record: Json, most_steps: int = 50) -> RenderableType:
    """The two runs, the step where they part, what each did from there, both answers, the tokens."""
    a, b = record["a"], record["b"]
    lines = [Text(f"- {_heading(a)}", style="red"), Text(f"+ {_heading(b)}", style="green")]
    if record["parts_at"] is None:
        lines.append(Text(f"all {record['same_steps']} steps are the same"))
    else:
        parts = f"{record['same_steps']} steps are the same; they part at step {record['parts_at']}"
        lines.append(Text(parts))
    steps = record["steps"][:most_steps]
    old, new = ([*_lines(steps, side), f"answer: {_answer(record[side])}"] for side in ("a", "b"))
    for line in list(difflib.unified_diff(old, new, n=2, lineterm=""))[3:]:
        style = {"-": "red", "+": "green"}.get(line[0], "dim")
        lines.append(Text(f"{line[0]} {line[1:]}", style=style))
    if not record["answer_differs"]:
        lines.append(Text(f"the same answer: {_answer(a)}"))
    if len(record["steps"]) > most_steps:
        lines.append(Text(f"… {len(record['steps']) - most_steps} more steps differ", style="dim"))
    lines.append(Text(f"tokens: {a['tokens']:,} and {b['tokens']:,}", style="dim"))
    return Group(*lines)


def _heading(run: Json) -> str:
    status = f"  {one_line(run['status'], 30)}" if run["status"] else ""
    return f"{one_line(run['branch'], 60)}{status}, {run['steps']} steps"


def _answer(run: Json) -> str:
    return one_line(run["answer"], 300) or "(none)"


def _lines(steps: Sequence[Json], side: str) -> Iterator[str]:
    """The steps of one side as lines to compare."""
    for step in steps:
        if (made := step[side]) is not None:
            yield f"#{step['n']} {one_line(made['did'], _WIDTH)}"
            yield from (f"    {line}" for line in first_lines(made["observation"], _LINES, _WIDTH))
