"""A person's review of each distilled error in the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from forethought.app.text import clean, one_line

Json = Mapping[str, Any]
_DECISIONS = {"k": "keep", "m": "merge", "d": "drop"}


def ask_review(console: Console, question: Json) -> dict[str, Any]:
    """Ask a person for the decision on one error: {decision, value}. Raises EOFError at the end of stdin."""
    console.print(_review(question))
    others = question["others"]
    while True:
        word, _, name = input("[k]eep, [m]erge into NAME, [d]rop: ").strip().partition(" ")
        decision = _DECISIONS.get(word.lower(), word.lower())
        if decision in ("keep", "drop"):
            return {"decision": decision}
        if decision == "merge" and name.strip() in others:
            return {"decision": "merge", "value": name.strip()}
        into = ", ".join(others) or "there are no others"
        console.print(
            Text(f"write keep, merge NAME or drop ({into}); to change the wording, edit the file afterwards")
        )


def _review(question: Json) -> RenderableType:
    """An error with its patterns and its evidence, as a person judges it."""
    error = question["error"]
    lines: list[RenderableType] = [Text(one_line(error["name"], 90), style="bold cyan")]
    lines.append(Text(clean(error["description"])))
    for kind in ("failures", "successes"):
        lines.append(Text(kind.capitalize(), style="bold"))
        lines += [_indented(f"- {clean(item['text'])}") for item in error[kind]]
    lines.append(Text("Evidence", style="bold"))
    for finding in question["findings"]:
        lines.append(_indented(one_line(finding["question"], 200)))
        for item in (*finding["failure_evidence"], *finding["success_evidence"]):
            quoted = f'{item["run"]}, step {item["step"]}: "{one_line(item["quote"], 400)}"'
            lines.append(_indented(quoted, by=4))
    if question["others"]:
        lines.append(Text(f"Other errors: {', '.join(question['others'])}", style="dim"))
    if question.get("problem"):
        lines.append(Text(f"That is not possible: {one_line(question['problem'], 300)}", style="red"))
    return Group(*lines)


def _indented(text: str, by: int = 2) -> Padding:
    return Padding(Text(text), (0, 0, 0, by))
