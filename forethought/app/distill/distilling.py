"""distill: planning errors from trajectories of mixed outcome, into a file that people review.

A distillation is kept in a database beside that of the threads, under an id that follows from its
trajectories and choices: the same command goes on where it was broken off, and repeats no finished call.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forethought.app.display import make_console
from forethought.app.distill.choices import Asked, Gathered, distiller_context, gather
from forethought.app.distill.display import DistillDisplay, ask_review, show_ending
from forethought.app.distill.writing import counts, write_distilled
from forethought.app.errors import (
    ANSWERED,
    DRAINED,
    FAILED,
    INTERRUPTED,
    NOT_PASSED,
    WAITS,
    CliError,
    explain,
)
from forethought.app.holding import claimed_threads, held
from forethought.app.leaving import event_loop
from forethought.app.options import Flags, settings_from
from forethought.app.report import unfinished, usage_of, waiting
from forethought.app.streaming import hand_on
from forethought.app.tell import tell, tell_error
from forethought.app.text import one_line, to_json
from forethought.json_files import FileError
from forethought.knowledge.provenance import provenance_path
from forethought.settings import Settings
from forethought.state.distiller import DistillerContext
from forethought.storage import address_of

if TYPE_CHECKING:
    from langgraph.runtime import RunControl
    from langgraph.types import StateSnapshot
    from rich.console import Console

    from forethought.shutdown import Shutdown

Json = dict[str, Any]
DATABASE = "distillations.sqlite"
_CODES = {"distilled": ANSWERED, "stopped": NOT_PASSED, "interrupted": WAITS}


@dataclass(frozen=True)
class Distillation:
    """A distillation, opened: its graph, and what it is given."""

    id: str
    graph: Any
    context: DistillerContext
    gathered: Gathered

    @property
    def config(self) -> Json:
        return {"configurable": {"thread_id": self.id}}

    async def snapshot(self) -> StateSnapshot:
        """Its newest state."""
        snapshot: StateSnapshot = await self.graph.aget_state(self.config)
        return snapshot

    async def begin(self, fresh: bool) -> Any:
        """What the graph is given: everything at first; nothing where it goes on."""
        if fresh:
            await self.graph.checkpointer.adelete_thread(self.id)
        snapshot = await self.snapshot()
        if snapshot.interrupts or unfinished(snapshot):
            return None
        if snapshot.values.get("tasks"):
            return {"trajectories": []}
        return {
            "trajectories": [loaded.model_dump(mode="json") for loaded in self.gathered.loaded],
            "files": self.gathered.files,
            "exclude": self.gathered.exclude,
        }

    async def stream(self, given: Any, display: DistillDisplay, control: RunControl) -> None:
        """Run until the graph ends, waits, or is to stop by `control` (GraphDrained).

        Every diagnosis is on disk before the next wave begins.
        """
        display.know((await self.snapshot()).values.get("tasks") or {})
        parts = self.graph.astream(
            given,
            self.config,
            context=self.context,
            stream_mode=["updates", "custom"],
            version="v2",
            durability="sync",
            control=control,
        )
        await hand_on(parts, display.part)


def distill(asked: Asked, flags: Flags, as_json: bool) -> int:
    """Distil planning errors and write them. Returns the exit code. Raises CliError."""
    from forethought.shutdown import Halt, Shutdown, on_sigterm

    settings = settings_from(flags)
    context = distiller_context(flags, settings, asked.review)
    gathered = gather(asked)
    console = make_console(sys.stderr if as_json else sys.stdout)
    interactive = not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    drain = Shutdown()
    with (
        on_sigterm(drain),
        event_loop() as loop,
        _opened(loop, settings, context, gathered) as distillation,
    ):
        error: Exception | None = None
        try:
            given = loop.run(distillation.begin(asked.fresh))
            _until_done(loop, distillation, given, console, interactive, drain)
        except Halt as stopped:
            tell(f"{stopped}; the same command goes on with it")
            return DRAINED
        except KeyboardInterrupt:
            raise CliError("interrupted; the same command goes on with it", INTERRUPTED) from None
        except Exception as failure:
            if explain(failure).internal:
                raise
            error = failure
        return _finish(distillation, loop.run(distillation.snapshot()), error, asked, console, as_json)


@contextmanager
def _opened(
    loop: asyncio.Runner, settings: Settings, context: DistillerContext, gathered: Gathered
) -> Iterator[Distillation]:
    """The distillation, held for this process over several runs of the loop."""
    from forethought.graph.distiller import build_distiller
    from forethought.models import Models

    Models(settings).verify([context.model])
    id = gathered.name(context)
    opening = claimed_threads(address_of(settings).beside(DATABASE), settings.key, id)
    with held(loop, opening) as saver:
        graph = build_distiller(settings, saver)
        yield Distillation(id, graph, context, gathered)


def _until_done(
    loop: asyncio.Runner,
    distillation: Distillation,
    given: Any,
    console: Console,
    interactive: bool,
    drain: Shutdown,
) -> None:
    """Run, ask at the terminal where it waits, run on."""
    from langgraph.types import Command

    display, grace_s = DistillDisplay(console), Settings().drain_s
    asked = loop.run(distillation.snapshot()).interrupts if given is None else ()
    while True:
        if not asked:
            with display.live():
                loop.run(drain.finish(distillation.stream(given, display, drain.control), grace_s))
            asked = loop.run(distillation.snapshot()).interrupts
        if not asked or not (interactive and distillation.context.review):
            return
        try:
            with drain.idle():
                replies = {item.id: ask_review(console, item.value) for item in asked}
        except EOFError:
            return
        given, asked = Command(resume=replies), ()


def _finish(
    distillation: Distillation,
    snapshot: StateSnapshot,
    error: Exception | None,
    asked: Asked,
    console: Console,
    as_json: bool,
) -> int:
    """Write the errors, print what came of it, and say how to go on where it is not over."""
    result = _result(distillation, snapshot, error, asked)
    dropped = bool(result["reviews"]) and asked.out.exists()
    if result["status"] == "distilled" or (result["status"] == "no_errors" and dropped):
        try:
            merged, _ = write_distilled(asked.out, snapshot.values, distillation.id, asked.source)
            names = ("added", "replaced", "kept", "removed")
            result["written"] = {name: getattr(merged, name) for name in names}
            if result["out"]:
                result |= {"out": str(merged.path), "provenance": str(provenance_path(merged.path))}
        except FileError as failure:
            raise CliError(f"{failure}; what was distilled is kept: mend it and run the same command") from (
                failure
            )
    show_ending(result, console)
    if as_json:
        print(to_json(result), flush=True)
    if error:
        code = tell_error(error)
        tell("what was done is kept; the same command goes on with it")
        return code
    if result["status"] == "interrupted":
        tell(f"{len(result['open'])} errors wait for a review; run the same command in a terminal")
    elif result["problem"]:
        tell(result["problem"])
    return _CODES.get(result["status"], FAILED)


def _result(
    distillation: Distillation, snapshot: StateSnapshot, error: Exception | None, asked: Asked
) -> Json:
    """The distillation as one JSON object."""
    values = snapshot.values
    status = "interrupted" if snapshot.interrupts else str(values.get("status") or "failed")
    if error or status == "running":
        status = "failed"
    final = values.get("final") or {}
    reviewed = values.get("reviews") or {}
    result: Json = {
        "distillation": distillation.id,
        "status": status,
        "problem": values.get("problem") or "",
        "counts": counts(values),
        "errors": list(final.values()),
        "decisions": values.get("decisions") or [],
        "diagnoses": values.get("diagnoses") or {},
        "tasks": values.get("tasks") or {},
        "problems": values.get("problems") or {},
        "reviews": reviewed,
        "excluded": values.get("excluded") or [],
        "model": distillation.context.model,
        "out": str(asked.out) if status == "distilled" else "",
        "provenance": str(provenance_path(Path(asked.out))) if status == "distilled" else "",
        "written": {},
        "usage": usage_of(values),
        "open": [name for name in values.get("patterns") or {} if name not in reviewed],
    }
    if snapshot.interrupts:
        result["interrupts"] = [waiting(item) for item in snapshot.interrupts]
    if error:
        result["error"] = one_line(explain(error).line, 1000)
    return result
