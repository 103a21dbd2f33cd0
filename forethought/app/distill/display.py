"""Shows a distillation while it happens and at its end, and asks a person to refine it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from forethought.app.stream_display import StreamDisplay, entries
from forethought.app.text import clean, one_line

Json = Mapping[str, Any]
_SHORT = {"k": "keep", "e": "edit", "m": "merge", "d": "drop"}
_PROMPT = "[k]eep, [e]dit, [m]erge into NAME, [d]rop: "


class DistillDisplay(StreamDisplay):
    """Prints what the distiller's stream brings."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._tasks: Json = {}

    def know(self, tasks: Json) -> None:
        """The tasks of a distillation that is gone on with."""
        self._tasks = tasks or self._tasks

    def updated(self, node: str, update: Json) -> None:
        """What was read, diagnosed, aggregated, found as patterns or left out."""
        if update.get("tasks"):
            self._tasks = update["tasks"]
            self._print(seen_line(update["seen"]))
        for key, found in entries(update.get("diagnoses")):
            names = ", ".join(entry["error_type"] for entry in found["entries"]) or "no planning error"
            self._print(f"diagnosed  {one_line(self._tasks.get(key, {}).get('task'), 60)}: {names}")
        for decision in (update.get("decisions") or [])[-1:]:
            into = f" -> {decision['name']}" if decision["name"] else ""
            self._print(f"aggregated {decision['entry']}: {decision['decision']}{into}")
        for name, found in entries(update.get("patterns")):
            kinds = f"{len(found['failures'])} failures, {len(found['successes'])} successes"
            self._print(f"patterns   {name}: {kinds}")
        for key, why in entries(update.get("problems")):
            self._print(f"left out   {key}: {one_line(why, 300)}", "yellow")

    def _print(self, line: str, style: str = "") -> None:
        self.console.print(Text(clean(line), style=style))


def seen_line(seen: Json) -> str:
    """What was read, in one line."""
    refused = f", {seen['excluded']} refused as tasks of an evaluation" if seen["excluded"] else ""
    return (
        f"{seen['trajectories']} trajectories of {seen['tasks']} tasks: {seen['mixed']} with mixed outcomes"
        f"{refused}"
    )


def show_review(question: Json) -> RenderableType:
    """An error with its patterns and its evidence, as a person judges it."""
    error = question["error"]
    lines: list[RenderableType] = [Text(one_line(error["name"], 90), style="bold cyan")]
    lines.append(Text(clean(error["description"])))
    for kind in ("failures", "successes"):
        lines.append(Text(kind.capitalize(), style="bold"))
        lines += [Padding(Text(f"- {clean(item['text'])}"), (0, 0, 0, 2)) for item in error[kind]]
    lines.append(Text("Evidence", style="bold"))
    for finding in question["findings"]:
        lines.append(Padding(Text(one_line(finding["question"], 200), style="dim"), (0, 0, 0, 2)))
        for item in (*finding["failure_evidence"], *finding["success_evidence"]):
            quoted = f'{item["run"]}, step {item["step"]}: "{one_line(item["quote"], 400)}"'
            lines.append(Padding(Text(quoted), (0, 0, 0, 4)))
    if question["others"]:
        lines.append(Text(f"Other errors: {', '.join(question['others'])}", style="dim"))
    if question.get("problem"):
        lines.append(Text(f"That could not be done: {one_line(question['problem'], 300)}", style="red"))
    return Group(*lines)


def ask_review(
    console: Console,
    question: Json,
    read: Callable[[str], str] = input,
    edit: Callable[[Json], Any] | None = None,
) -> dict[str, Any]:
    """A person's decision on one error: {decision, value}. Raises EOFError at the end of the input."""
    console.print(show_review(question))
    while True:
        word, _, rest = read(_PROMPT).strip().partition(" ")
        decision = _SHORT.get(word.lower(), word.lower())
        if decision in ("keep", "drop"):
            return {"decision": decision}
        if decision == "merge":
            others = question["others"]
            name = rest.strip() or (others[0] if len(others) == 1 else "")
            if name in others:
                return {"decision": "merge", "value": name}
            console.print(Text(f"merge into which one? {', '.join(others) or 'there is no other error'}"))
        elif decision == "edit":
            value = (edit or edit_in_editor)(question["error"])
            if isinstance(value, Mapping):
                return {"decision": "edit", "value": dict(value)}
            console.print(Text(value or "nothing was changed", style="yellow"))
        else:
            console.print(Text("write keep, edit, merge NAME or drop"))


def edit_in_editor(error: Json) -> Json | str:
    """The error as a person has changed it in the editor ($VISUAL, $EDITOR); a line that says why it has
    not changed."""
    from forethought.app.distill.text import editable, from_editable

    before = editable(error)
    try:
        text = _through_editor(before)
        return "nothing was changed" if text == before else from_editable(text)
    except (OSError, subprocess.SubprocessError) as failure:
        return f"the editor could not be used ({one_line(failure, 200)}); set EDITOR"
    except ValueError as failure:
        return one_line(failure, 300)


def _through_editor(text: str) -> str:
    """`text` as the person's editor leaves it."""
    usual = "notepad" if sys.platform == "win32" else "vi"
    editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or usual)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "error.yaml")
        file.write_text(text, encoding="utf-8")
        subprocess.run([*editor, str(file)], check=True)
        return file.read_text(encoding="utf-8")


def show_ending(result: Json, console: Console) -> None:
    """The errors, what was written where, what it cost."""
    for error in result["errors"]:
        cases = f"{len(error['failures'])} failures, {len(error['successes'])} successes"
        console.print(Text(f"{error['name']} ({cases})", style="bold"))
        console.print(Padding(Text(clean(error["description"])), (0, 0, 0, 2)))
    for name, words in (
        ("added", "added"),
        ("replaced", "replaced by their new version"),
        ("kept", "left as a person has written them"),
        ("removed", "left out, since a person has taken them out of the file"),
    ):
        if result["written"].get(name):
            console.print(Text(f"{words}: {', '.join(result['written'][name])}"))
    for question in _first(result["excluded"]):
        console.print(Text(f"refused, a task of an evaluation: {question}", style="dim"))
    if result["out"] and result["written"]:
        console.print(Text(f"written to {result['out']}; where it comes from: {result['provenance']}"))
    usage = result["usage"]
    cost = "" if usage["usd"] is None else f", ${usage['usd']:.4f}"
    tokens = usage["input_tokens"] + usage["output_tokens"]
    console.print(Text(f"{usage['calls']} model calls, {tokens} tokens{cost}", style="dim"))


def _first(texts: Sequence[str], most: int = 5) -> list[str]:
    shown = [one_line(text, 100) for text in texts[:most]]
    return [*shown, f"... {len(texts) - most} more"] if len(texts) > most else shown
