"""How a distillation looks: while it runs, a person's review of each error, its end, and as JSON."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from forethought.app.display import StreamDisplay
from forethought.app.distill_file import counts
from forethought.app.errors import explain
from forethought.app.report import status_of, usage_of, waiting
from forethought.app.runner import Ending, Session
from forethought.app.text import clean, one_line
from forethought.app.view import entries, usage_line
from forethought.knowledge.error_file import Prose, dump_yaml
from forethought.knowledge.planning_errors import PlanningError
from forethought.knowledge.provenance import provenance_path
from forethought.knowledge.yaml_files import plain_yaml

Json = Mapping[str, Any]
_DECISIONS = {"k": "keep", "e": "edit", "m": "merge", "d": "drop"}
_PROMPT = "[k]eep, [e]dit, [m]erge into NAME, [d]rop: "
_EDIT_HELP = (
    "# Change what you like and save; leave without saving to change nothing. The first two failures are\n"
    "# shown with every diagnosis: put the most telling first.\n"
)


class DistillDisplay(StreamDisplay):
    """Prints the updates of the distiller's graph."""

    def __init__(self, console: Console, tasks: Json) -> None:
        super().__init__(console)
        self._tasks = tasks

    def updated(self, node: str, update: Json) -> None:
        """Print what was read, diagnosed, aggregated, found as patterns or left out."""
        if update.get("tasks"):
            self._tasks, seen = update["tasks"], update["seen"]
            refused = f", {seen['excluded']} refused as tasks of an evaluation" if seen["excluded"] else ""
            self.line(
                f"{seen['trajectories']} trajectories of {seen['tasks']} tasks: {seen['mixed']} with mixed "
                f"outcomes{refused}"
            )
        for key, found in entries(update.get("diagnoses")):
            names = ", ".join(entry["error_type"] for entry in found["entries"]) or "no planning error"
            self.line(f"diagnosed  {one_line(self._tasks[key]['task'], 60)}: {names}")
        for decision in (update.get("decisions") or [])[-1:]:
            into = f" -> {decision['name']}" if decision["name"] else ""
            self.line(f"aggregated {decision['entry']}: {decision['decision']}{into}")
        for name, found in entries(update.get("patterns")):
            self.line(f"patterns   {name}: {_cases(found)}")
        for key, why in entries(update.get("problems")):
            self.line(f"left out   {key}: {one_line(why, 300)}", "yellow")


def ask_review(console: Console, question: Json) -> dict[str, Any]:
    """Ask a person for the decision on one error: {decision, value}. Raises EOFError at the end of stdin."""
    console.print(_review(question))
    while True:
        word, _, rest = input(_PROMPT).strip().partition(" ")
        decision = _DECISIONS.get(word.lower(), word.lower())
        if decision in ("keep", "drop"):
            return {"decision": decision}
        if decision == "merge":
            others = question["others"]
            name = rest.strip() or (others[0] if len(others) == 1 else "")
            if name in others:
                return {"decision": "merge", "value": name}
            console.print(Text(f"merge into which one? {', '.join(others) or 'there is no other error'}"))
        elif decision == "edit":
            try:
                return {"decision": "edit", "value": edit_error(question["error"])}
            except ValueError as problem:
                console.print(Text(one_line(problem, 300), style="yellow"))
        else:
            console.print(Text("write keep, edit, merge NAME or drop"))


def edit_error(error: Json) -> dict[str, Any]:
    """The error as a person changes it in the editor ($VISUAL, $EDITOR): name, description and patterns.

    Raises ValueError, in one line, when nothing was changed or the text is no planning error.
    """
    fields = {"name": error["name"], "description": Prose(error["description"])}
    fields |= {kind: [Prose(item["text"]) for item in error[kind]] for kind in ("failures", "successes")}
    before = _EDIT_HELP + dump_yaml(fields)
    try:
        text = _through_editor(before)
    except (OSError, subprocess.SubprocessError) as failure:
        raise ValueError(f"the editor could not be used ({one_line(failure, 200)}); set EDITOR") from failure
    if text == before:
        raise ValueError("nothing was changed")
    try:
        found = PlanningError.model_validate(plain_yaml(text, Path("the edited text")))
    except ValidationError as failure:
        first = failure.errors(include_url=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from failure
    return found.full()


def _through_editor(text: str) -> str:
    """`text` as the person's editor leaves it."""
    editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "error.yaml")
        file.write_text(text, encoding="utf-8")
        subprocess.run([*editor, str(file)], check=True)
        return file.read_text(encoding="utf-8")


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
        lines.append(Text(f"That could not be done: {one_line(question['problem'], 300)}", style="red"))
    return Group(*lines)


def distillation_report(session: Session, ending: Ending, out: Path) -> dict[str, Any]:
    """The distillation as one JSON object."""
    snapshot = ending.snapshot
    values: Json = snapshot.values if snapshot else {}
    error = one_line(explain(ending.error).line, 1000) if ending.error else None
    status = status_of(snapshot, error) if snapshot else "failed"
    reviewed = values.get("reviews") or {}
    result: dict[str, Any] = {
        "distillation": session.id,
        "status": status,
        "problem": values.get("problem") or "",
        "counts": counts(values),
        "errors": list((values.get("final") or {}).values()),
        "decisions": values.get("decisions") or [],
        **{name: values.get(name) or {} for name in ("diagnoses", "tasks", "problems")},
        "reviews": reviewed,
        "excluded": values.get("excluded") or [],
        "model": session.context.model,
        "out": str(out) if status == "distilled" else "",
        "provenance": str(provenance_path(out)) if status == "distilled" else "",
        "usage": usage_of(values),
        "open": [name for name in values.get("patterns") or {} if name not in reviewed],
    }
    if snapshot and snapshot.interrupts:
        result["interrupts"] = [waiting(item) for item in snapshot.interrupts]
    if error:
        result["error"] = error
    return result


def show_distillation(result: Json, console: Console) -> None:
    """Print the errors, what was written where, and the cost."""
    for error in result["errors"]:
        console.print(Text(f"{error['name']} ({_cases(error)})", style="bold"))
        console.print(_indented(clean(error["description"])))
    for question in result["excluded"]:
        console.print(Text(f"refused, a task of an evaluation: {one_line(question, 100)}", style="dim"))
    if result["out"]:
        console.print(Text(f"written to {result['out']}; where it comes from: {result['provenance']}"))
    console.print(Text(usage_line(result["usage"]), style="dim"))


def _cases(error: Json) -> str:
    return f"{len(error['failures'])} failures, {len(error['successes'])} successes"


def _indented(text: str, by: int = 2) -> Padding:
    return Padding(Text(text), (0, 0, 0, by))
