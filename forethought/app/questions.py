"""What a run asks of a person, and the person's replies: from `--reply` or at the terminal.

A question is an interrupt's payload {kind: plan|tool|question, id, n, ...}; a reply is {decision, value,
reason} with decision approve, edit, reject or answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from forethought.app import render
from forethought.app.errors import CliError, echo
from forethought.app.report import unfinished, waiting
from forethought.app.text import clean, one_line

if TYPE_CHECKING:
    from langgraph.types import Command, StateSnapshot

Json = dict[str, Any]
_DECISIONS = {
    "plan": ("approve", "edit", "reject"),
    "tool": ("approve", "edit", "reject"),
    "question": ("answer", "reject"),
}
_EDITED = {"plan": "the list of subtasks", "tool": "the call's arguments, as an object"}


def show_question(question: Mapping[str, Any]) -> RenderableType:
    """What is asked, as the person sees it."""
    if question.get("kind") == "plan":
        shown = [Text("Approve this plan?", style="bold cyan"), render.plan(question.get("plan") or {})]
        return Group(*shown, *_problem(question))
    if question.get("kind") == "tool":
        return Group(render.approval(question), *_problem(question))
    asker = f"{one_line(question['subtask'], 40)} asks: " if question.get("subtask") else ""
    lines = [Text(asker + clean(question.get("question") or ""), style="bold cyan")]
    lines += [Text(f"  {number}. {one_line(choice)}") for number, choice in enumerate(_choices(question), 1)]
    return Group(*lines, *_problem(question))


def _problem(question: Mapping[str, Any]) -> list[Text]:
    """Why the last reply was asked for again, if it was."""
    said = question.get("problem")
    return [Text(f"The last reply could not be used: {one_line(said, 300)}", style="red")] if said else []


def tell_how_to_reply(resume: str, questions: Sequence[Mapping[str, Any]]) -> None:
    """Tell the commands that answer what is waiting; `resume` is how they begin."""
    echo("it waits for a reply:")
    for question in questions:
        name = f"{_name(question)}=" if len(questions) > 1 else ""
        if question.get("kind") == "question":
            echo(f'  {resume} --reply "{name}YOUR ANSWER"')
        else:
            echo(f'  {resume} --reply {name}approve   (or --reply "{name}reject: REASON")')
            if question.get("kind") == "tool":
                echo(f"  {resume} --reply '{name}edit: {{ARGUMENTS AS JSON}}'")


def answer_questions(replies: Sequence[str], snapshot: StateSnapshot, what: str, resume: str) -> Command[Any]:
    """The graph's input that answers what `what` waits for. Raises CliError where it waits for nothing."""
    from langgraph.types import Command

    if not snapshot.interrupts:
        later = f" yet; go on with it first: {resume}" if unfinished(snapshot) else ""
        raise CliError(f"{what} waits for no reply{later}")
    return Command(resume=replies_from(replies, [waiting(item) for item in snapshot.interrupts]))


def replies_from(texts: Sequence[str], questions: Sequence[Mapping[str, Any]]) -> dict[str, Json]:
    """The replies by interrupt id, from `[ID=]VALUE` texts.

    Raises CliError for an id that does not wait, a reply without an id where several wait, and a decision
    that does not fit.
    """
    waiting = {str(question["id"]): question for question in questions}
    replies: dict[str, Json] = {}
    for text in texts:
        key, value = _addressed(text, waiting)
        if key in replies:
            raise CliError(f"--reply: {_name(waiting[key])} is answered twice")
        replies[key] = reply_from(value, waiting[key])
    return replies


def _addressed(text: str, waiting: Mapping[str, Mapping[str, Any]]) -> tuple[str, str]:
    """The id that a reply names and its value. A prefix that is no waiting id belongs to the value."""
    name, equals, value = text.partition("=")
    named = [key for key, question in waiting.items() if name in {key, question.get("name")}]
    if equals and len(named) == 1:
        return named[0], value
    if len(waiting) == 1:
        return next(iter(waiting)), text
    names = ", ".join(_name(question) for question in waiting.values())
    raise CliError(f"--reply: {len(waiting)} questions wait; write ID=VALUE with one of {names}")


def _name(question: Mapping[str, Any]) -> str:
    """How a person names a question: question-4, plan-1; else by its id."""
    return one_line(question.get("name") or question["id"], 60)


def reply_from(text: str, question: Mapping[str, Any]) -> Json:
    """One reply: JSON with a decision, an answer as text, or `approve`, `edit: JSON`, `reject: reason`."""
    kind = str(question.get("kind", "question"))
    given = _json(text)
    if isinstance(given, dict) and "decision" in given:
        return _checked(given, kind)
    if kind == "question":
        if not text.strip():
            raise CliError("the answer is empty")
        return {"decision": "answer", "value": _chosen(text.strip(), question), "reason": ""}
    word, _, reason = text.strip().partition(":")
    word = word.strip().lower()
    if word in {"approve", "a", "yes", "y"} and not reason:
        return {"decision": "approve", "value": None, "reason": ""}
    if word in {"reject", "r", "no", "n"}:
        return {"decision": "reject", "value": None, "reason": reason.strip()}
    if word in {"edit", "e"}:
        if not isinstance(value := _json(reason), dict | list):
            raise CliError(f"edit: what follows must be JSON: {_EDITED.get(kind, 'the new value')}")
        return {"decision": "edit", "value": value, "reason": ""}
    raise CliError(
        f"{one_line(text, 60)!r} is no reply to a {kind}: write approve, or edit: JSON, or reject: REASON"
    )


def ask(console: Console, question: Mapping[str, Any], read: Callable[[str], str] = input) -> Json:
    """Show one question at the terminal and read until the reply can be used. EOFError: terminal closed."""
    console.print(show_question(question))
    asked = question.get("kind") == "question"
    prompt = "> " if asked else "approve, or edit: JSON, or reject: REASON > "
    while True:
        try:
            return reply_from(read(prompt), question)
        except CliError as error:
            console.print(Text(clean(error.line), style="red"))


def _checked(given: Json, kind: str) -> Json:
    allowed = _DECISIONS.get(kind, ("approve", "edit", "reject", "answer"))
    if given["decision"] not in allowed:
        raise CliError(
            f"--reply: decision {one_line(given['decision'], 30)!r} does not fit; use {', '.join(allowed)}"
        )
    if given["decision"] in {"edit", "answer"} and given.get("value") in (None, ""):
        raise CliError(f"--reply: decision {given['decision']!r} needs a value")
    return {
        "decision": given["decision"],
        "value": given.get("value"),
        "reason": str(given.get("reason") or ""),
    }


def _chosen(text: str, question: Mapping[str, Any]) -> str:
    """The choice that a number stands for, unless the number is itself a choice."""
    choices = _choices(question)
    if text not in choices and text.isdecimal() and 1 <= int(text) <= len(choices):
        return choices[int(text) - 1]
    return text


def _choices(question: Mapping[str, Any]) -> list[str]:
    return [str(choice) for choice in question.get("choices") or []]


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
