"""What a command that ran the graph leaves on the screen, and its exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from forethought.app import render
from forethought.app.errors import explain
from forethought.app.report import Json, exit_code, report
from forethought.app.run import questions
from forethought.app.run.driving import go_on_hint
from forethought.app.tell import tell, tell_error
from forethought.app.text import one_line, to_json

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot


@dataclass(frozen=True)
class Ending:
    """Where the end is shown, and how the thread is gone on with."""

    console: Console
    as_json: bool
    resume: str
    asked: str = ""
    """How the models were asked; said when one of them gave no reply."""


def finish(thread_id: str, snapshot: StateSnapshot | None, error: Exception | None, ending: Ending) -> int:
    """Print the answer and the last line (or the JSON object), and how to go on where it is not over."""
    line = explain(error).line if error else None
    if snapshot is None:
        result: Json = {"thread_id": thread_id, "status": "failed", "error": line}
    else:
        result = report(thread_id, snapshot, line)
    try:
        if snapshot is not None:
            show_ending(result, ending.console, told=error is not None)
        if ending.as_json:
            print(to_json(result), flush=True)
    except OSError:
        # The reader has left, or the disk is full: what is kept must be found again all the same.
        tell(f"the output could not be written; see it with: forethought show {thread_id}")
        _how_to_go_on(result, snapshot, ending.resume)
        raise
    if error:
        tell_error(error)
        if ending.asked and explain(error).model:
            tell(ending.asked)
    _how_to_go_on(result, snapshot, ending.resume)
    return explain(error).code if error else exit_code(result["status"])


def show_ending(result: Json, console: Console, told: bool = False) -> None:
    """The answer with its sources, what waits for a reply, the error unless it is told elsewhere."""
    if result["answer"]:
        console.print(
            render.answer(result["answer"], result["sources"], passed=result["status"] == "answered")
        )
    for question in result.get("interrupts") or []:
        console.print(questions.show_question(question))
    if result.get("error") and not told:
        console.print(Text(one_line(result["error"], 400), style="red"))
    console.print(render.summary(result))


def _how_to_go_on(result: Json, snapshot: StateSnapshot | None, resume: str) -> None:
    if result.get("interrupts"):
        tell("it waits for a reply:")
        for line in questions.how_to_reply(resume, result["interrupts"]):
            tell(f"  {line}")
    elif result["status"] in {"failed", "running"}:
        tell(go_on_hint(snapshot, resume))
