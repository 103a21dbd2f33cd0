"""Questions to the person, and replies by `--reply` or at the terminal.

A question is an interrupt's payload {kind: plan|tool|question, id, n, ...}; a reply is {decision, value,
reason} with decision approve, edit, reject or answer. The graph itself asks again, and says why, for a reply
that it cannot use.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from forethought.app import view
from forethought.app.errors import CliError, echo
from forethought.app.report import unfinished, waiting, with_like
from forethought.app.text import clean, one_line

if TYPE_CHECKING:
    from langgraph.types import Command, StateSnapshot

Json = dict[str, Any]


def show_question(question: Mapping[str, Any]) -> RenderableType:
    """What is asked, as the person sees it."""
    if question.get("kind") == "plan":
        title = Text("Approve this plan?", style="bold cyan")
        lines: list[RenderableType] = [title, view.plan(question.get("plan") or {}, whole=True)]
    elif question.get("kind") == "tool":
        lines = [view.approval(question)]
    else:
        asker = f"{one_line(question['subtask'], 40)} asks: " if question.get("subtask") else ""
        lines = [Text(asker + clean(question.get("question") or ""), style="bold cyan")]
        choices = enumerate(question.get("choices") or [], 1)
        lines += [Text(f"  {number}. {one_line(choice)}") for number, choice in choices]
    if problem := question.get("problem"):
        lines.append(Text(f"The last reply could not be used: {one_line(problem, 300)}", style="red"))
    return Group(*lines)


def tell_how_to_reply(resume: str, questions: Sequence[Mapping[str, Any]]) -> None:
    """Tell the commands that answer what is waiting; `resume` is how they begin."""
    echo("the run waits for your reply:")
    for question in questions:
        name = f"{_name(question)}=" if len(questions) > 1 else ""
        if question.get("kind") == "question":
            echo(f'  {resume} --reply "{name}YOUR ANSWER"')
        else:
            choices = question.get("choices") or ("approve", "reject")
            if "approve" in choices:
                echo(f"  {resume} --reply {name}approve")
            if "reject" in choices:
                echo(f'  {resume} --reply "{name}reject: REASON"')
            if question.get("kind") == "tool" and "approve all" in choices:
                echo(f'  {resume} --reply "{name}approve all"   (and similar calls later in this task)')
            if question.get("kind") == "tool" and "edit" in choices:
                echo(f"  {resume} --reply '{name}edit: {{ARGUMENTS AS JSON}}'")


def answer_questions(replies: Sequence[str], snapshot: StateSnapshot, what: str, resume: str) -> Command[Any]:
    """The graph's input that answers it. Raises CliError where nothing waits."""
    from langgraph.types import Command

    if not snapshot.interrupts:
        later = f" yet; continue it first with: {resume}" if unfinished(snapshot) else ""
        raise CliError(f"{what} has no open question{later}")
    return Command(resume=replies_from(replies, [waiting(item) for item in snapshot.interrupts]))


def replies_from(texts: Sequence[str], questions: Sequence[Mapping[str, Any]]) -> dict[str, Json]:
    """The replies by interrupt id, from `[ID=]VALUE` texts.

    Raises CliError for a reply that names no question where several wait.
    """
    replies: dict[str, Json] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        matching = [question for question in questions if name in (question["id"], question.get("name"))]
        if not (equals and matching):
            # A prefix that names no question belongs to the reply.
            matching, value = list(questions), text
        if len(matching) > 1:
            names = ", ".join(map(_name, questions))
            raise CliError(
                f"--reply: {len(matching)} questions are open; write ID=VALUE, with one of these ids: {names}"
            )
        replies[str(matching[0]["id"])] = reply_from(value, matching[0])
    return with_like(replies, questions)


def reply_from(text: str, question: Mapping[str, Any]) -> Json:
    """A reply: JSON, an answer, or `approve`, `edit: JSON`, `reject: REASON`."""
    text = text.strip()
    if not text:
        raise CliError("--reply is empty: give it a value")
    reply: Json = {"decision": "answer", "value": None, "reason": ""}
    if isinstance(parsed := _json(text), dict) and "decision" in parsed:
        return reply | parsed
    if question.get("kind", "question") == "question":
        choices = [str(choice) for choice in question.get("choices") or []]
        if text not in choices and text.isdecimal() and 1 <= int(text) <= len(choices):
            text = choices[int(text) - 1]
        return reply | {"value": text}
    word, _, rest = text.partition(":")
    match word.strip().lower():
        case "reject" | "no" | "n":
            return reply | {"decision": "reject", "reason": rest.strip()}
        case "edit":
            return reply | {"decision": "edit", "value": _json(rest)}
    # Whatever is added to `approve` would be lost: the graph takes the bare word alone.
    return reply | {"decision": "approve" if text.lower() in {"yes", "y"} else text.lower()}


def ask(console: Console, question: Mapping[str, Any], read: Callable[[str], str] = input) -> Json:
    """Ask at the terminal. Raises EOFError where it is closed."""
    _forget_typed_ahead()
    console.print(show_question(question))
    kind = question.get("kind", "question")
    words = "approve, approve all" if kind == "tool" else "approve"
    prompt = "> " if kind == "question" else f"{words}, reject: REASON, or edit: JSON > "
    while True:
        text = read(prompt)
        problem = _problem(reply_from(text, question), question) if text.strip() else ""
        if problem:
            console.print(Text(problem, style="red"))
        elif text.strip():
            return reply_from(text, question)


def _problem(reply: Json, question: Mapping[str, Any]) -> str:
    """What to write instead of a reply that is plainly a slip; the graph finds all else. '' if it is none."""
    choices = question.get("choices") or []
    if question.get("kind", "question") == "question":
        number = str(reply["value"])
        slip = choices and number.isdecimal() and not any(map(str.isdecimal, "".join(map(str, choices))))
        return f"no choice {number}: write 1 to {len(choices)}, or your own answer" if slip else ""
    if reply["decision"] == "edit" and not reply["value"]:
        what = (
            "the arguments as a JSON object" if question["kind"] == "tool" else "the subtasks as a JSON list"
        )
        return f"write {what} after edit:"
    known = ("approve", "reject", "edit", *(["approve all"] if question["kind"] == "tool" else []))
    return "" if reply["decision"] in known else f"write {', '.join(known)}, or yes or no"


def _forget_typed_ahead() -> None:
    """What was typed before the question was seen is no reply to it."""
    with suppress(ImportError, OSError, ValueError):  # no Unix, no terminal
        import termios

        if sys.stdin.isatty():
            termios.tcflush(sys.stdin, termios.TCIFLUSH)


def _name(question: Mapping[str, Any]) -> str:
    """How a person names a question: question-4, plan-1; else by its id."""
    return one_line(question.get("name") or question["id"], 60)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
