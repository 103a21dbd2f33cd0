"""debug --score: the metrics of AgentDebug's Table 1 on annotated trajectories.

Each trajectory is debugged under an id made of its text and the choices, so that the same command goes on
where it was broken off, and measures again for nothing what it has debugged before.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from forethought.app.debug.choices import Asked, check_scored, debugger_context
from forethought.app.debug.file import annotated
from forethought.app.debug.opening import Order, open_debugging
from forethought.app.debug.report import debug_report
from forethought.app.display import make_console
from forethought.app.errors import ANSWERED, INTERRUPTED, CliError
from forethought.app.options import Flags, settings_from
from forethought.app.report import unfinished
from forethought.app.text import one_line, to_json
from forethought.app.threads.thread import DEBUGGING
from forethought.state.debugger import DebuggerContext
from forethought.trajectories.types import Annotation, Loaded

if TYPE_CHECKING:
    from forethought.evals.annotations import Accuracy

Json = dict[str, Any]
_MEASURES = ("step", "step_and_module", "all_correct")


@dataclass(frozen=True)
class Scored:
    """One trajectory: what was annotated, and the report of its debugging."""

    loaded: Loaded
    annotation: Annotation
    report: Json

    @property
    def found(self) -> Annotation | None:
        """The critical error that was found, in the annotation's form."""
        critical: Mapping[str, Any] | None = self.report["critical"]
        if not critical:
            return None
        return Annotation.model_validate({key: critical[key] for key in Annotation.model_fields})


def score(asked: Asked, flags: Flags, as_json: bool) -> int:
    """Debug every annotated trajectory and say how often the critical error agrees. Returns the exit code."""
    assert asked.trajectory is not None
    context = debugger_context(asked, flags, settings_from(flags))
    check_scored(context)
    subjects = annotated(asked.trajectory)
    console = make_console(sys.stderr if as_json else sys.stdout)
    try:
        scored = asyncio.run(_all(subjects, context, flags, console))
    except KeyboardInterrupt:
        line = "interrupted; what was debugged is kept, and the same command goes on from there"
        raise CliError(line, INTERRUPTED) from None
    result = measured(scored, context)
    if as_json:
        print(to_json(result))
    else:
        console.print(table(result))
    return ANSWERED


async def _all(
    subjects: Sequence[Loaded], context: DebuggerContext, flags: Flags, console: Console
) -> list[Scored]:
    """One after the other: the steps of each are labelled side by side."""
    scored = []
    for loaded in subjects:
        assert loaded.reference.annotation is not None
        one = Scored(loaded, loaded.reference.annotation, await _debugged(loaded, context, flags))
        console.print(_line(one))
        scored.append(one)
    return scored


async def _debugged(loaded: Loaded, context: DebuggerContext, flags: Flags) -> Json:
    """The report of a trajectory's debugging, which is begun, gone on with, or read."""
    order = Order(context.model_dump(mode="json"))
    given = loaded.model_copy(update={"reference": loaded.reference.model_copy(update={"annotation": None})})
    opening = open_debugging(
        order, flags, lambda settings, model: context, trajectory=loaded.trajectory, id=_id(loaded, context)
    )
    async with opening as debugging:
        snapshot = await debugging.snapshot()
        begun = snapshot.created_at is not None
        if not begun or unfinished(snapshot):
            fresh = {"trajectory": given.model_dump(mode="json")}
            await debugging.stream(None if begun else fresh, lambda part: None)
            snapshot = await debugging.snapshot()
        return debug_report(debugging.id, snapshot, context.method, debugging.seconds(snapshot))


def _id(loaded: Loaded, context: DebuggerContext) -> str:
    """An id for this very text debugged with these very choices."""
    what = [loaded.trajectory.model_dump(mode="json"), context.model_dump(mode="json")]
    return f"{DEBUGGING}score:{hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:24]}"


def measured(scored: Sequence[Scored], context: DebuggerContext) -> Json:
    """The metrics over all and by environment, with each trajectory's outcome."""
    from forethought.evals.annotations import accuracy
    from forethought.knowledge.error_taxonomy import load_taxonomy

    taxonomy = load_taxonomy()
    by_environment: dict[str, list[Scored]] = {}
    for one in scored:
        by_environment.setdefault(one.loaded.trajectory.environment or "unknown", []).append(one)

    def of(some: Sequence[Scored]) -> Json:
        return _shares(accuracy([(one.found, one.annotation) for one in some], taxonomy))

    return {
        "method": context.method,
        "fine_grained": context.fine_grained,
        "model": context.model,
        "total": of(scored),
        "environments": {name: of(some) for name, some in sorted(by_environment.items())},
        "trajectories": [_outcome(one) for one in scored],
        "usage": _summed([one.report["usage"] for one in scored]),
    }


def _shares(row: Accuracy) -> Json:
    return {
        name: {
            "count": (share := getattr(row, name)).count,
            "total": share.total,
            "share": round(share.share, 4),
            "interval": [round(bound, 4) for bound in share.interval],
        }
        for name in _MEASURES
    }


def _outcome(one: Scored) -> Json:
    return {
        "id": one.loaded.trajectory.id,
        "environment": one.loaded.trajectory.environment,
        "thread_id": one.report["thread_id"],
        "status": one.report["status"],
        "annotated": one.annotation.model_dump(),
        "found": one.found.model_dump() if one.found else None,
        **({"error": one.report["error"]} if one.report.get("error") else {}),
    }


def _summed(usages: Sequence[Mapping[str, Any]]) -> Json:
    """Usage over all trajectories; no price as soon as one has none."""
    names = ("calls", "input_tokens", "output_tokens", "cached_tokens")
    prices = [usage["usd"] for usage in usages]
    usd = None if None in prices else round(sum(prices), 6)
    return {**{name: sum(usage[name] for usage in usages) for name in names}, "usd": usd}


def _line(one: Scored) -> Text:
    """What was found of one trajectory, beside what was annotated."""
    found = _short(one.found) if one.found else one_line(one.report.get("error") or one.report["status"], 80)
    same = one.found is not None and one.found.critical_step == one.annotation.critical_step
    return (
        Text(one_line(one.loaded.trajectory.id, 60), style="bold")
        .append(f"  {found}", style="green" if same else "yellow")
        .append(f"  annotated: {_short(one.annotation)}", style="dim")
    )


def _short(annotation: Annotation) -> str:
    what = f"{annotation.critical_module} {annotation.error_type}"
    return f"step {annotation.critical_step}, {one_line(what, 80)}"


def table(result: Json) -> Table:
    """The row of Table 1, over all and by environment."""
    shown = Table(box=None, padding=(0, 1), header_style="dim")
    for name in ("", "step", "step and module", "all correct"):
        shown.add_column(name, no_wrap=True)
    for name, row in (("all", result["total"]), *result["environments"].items()):
        cells = [f"{row[m]['count']}/{row[m]['total']}  {row[m]['share']:.1%}" for m in _MEASURES]
        shown.add_row(*(Text(cell) for cell in (one_line(name, 30), *cells)))
    return shown
