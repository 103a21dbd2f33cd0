"""synthesize: multi-level reflections from tasks or trajectories, as records that a model can be trained on.

A synthesis is kept in a database beside that of the threads, under an id that follows from its material and
choices: the same command goes on where it was broken off, and repeats no finished call and no finished trial.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from forethought.app.checking import read_state
from forethought.app.display import make_console
from forethought.app.errors import ANSWERED, DRAINED, FAILED, INTERRUPTED, NOT_PASSED, CliError, explain
from forethought.app.leaving import event_loop
from forethought.app.options import Flags, settings_from
from forethought.app.report import unfinished
from forethought.app.streaming import hand_on
from forethought.app.synthesize.choices import Asked, Gathered, contexts, gather_material
from forethought.app.synthesize.display import SynthesizeDisplay, show_synthesis, synthesis_report
from forethought.app.tell import tell, tell_error
from forethought.app.text import one_line, to_json
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.state.synthesizer import SynthesizerContext
from forethought.storage import address_of, open_threads
from forethought.storage.address import file_address

if TYPE_CHECKING:
    from langgraph.runtime import RunControl
    from langgraph.types import StateSnapshot
    from rich.console import Console

    from forethought.training.records import ReflectionRecord
    from forethought.trajectories.tasks import Attempt

Json = dict[str, Any]
DATABASE = "syntheses.sqlite"
TRIALS = "syntheses"
"""Folder beside the database: the trials of each synthesis, as `collect` keeps its runs."""
_CODES = {"synthesized": ANSWERED, "stopped": NOT_PASSED}


@dataclass(frozen=True)
class Choice:
    """Everything that a synthesis is made with."""

    asked: Asked
    settings: Settings
    context: SynthesizerContext
    agent: Context
    gathered: Gathered

    @property
    def id(self) -> str:
        """The synthesis's name."""
        return self.gathered.name(self.context, self.asked, self.agent)

    @property
    def folder(self) -> Path:
        """Where its trials are kept."""
        path = address_of(self.settings).path
        place = self.settings.data_dir if path is None else path.parent
        return place / TRIALS / self.id.partition(":")[2]


@dataclass(frozen=True)
class Synthesis:
    """A synthesis, opened: its graph, and what it is given."""

    choice: Choice
    graph: Any

    @property
    def config(self) -> Json:
        return {"configurable": {"thread_id": self.choice.id}}

    async def snapshot(self) -> StateSnapshot:
        """Its newest state."""
        snapshot: StateSnapshot = await self.graph.aget_state(self.config)
        return snapshot

    async def run(self, display: SynthesizeDisplay, control: RunControl) -> None:
        """Begin, or go on, until the graph ends, or `control` has it stop (GraphDrained).

        Every reply is on disk before the next wave begins.
        """
        if self.choice.asked.fresh:
            await self.graph.checkpointer.adelete_thread(self.choice.id)
        snapshot = await self.snapshot()
        given: Json | None = None
        if not unfinished(snapshot):
            gathered = self.choice.gathered
            given = {
                "tasks_file": [task.model_dump(mode="json") for task in gathered.tasks],
                "trajectories": [loaded.model_dump(mode="json") for loaded in gathered.loaded],
            }
            if snapshot.values.get("tasks"):
                given = {"trajectories": [], "tasks_file": []}
        parts = self.graph.astream(
            given,
            self.config,
            context=self.choice.context,
            stream_mode=["updates", "custom"],
            version="v2",
            durability="sync",
            control=control,
        )
        await hand_on(parts, display.part)


def synthesize(asked: Asked, flags: Flags, as_json: bool) -> int:
    """Synthesize reflections and write them. Returns the exit code. Raises CliError."""
    from forethought.shutdown import Halt, Shutdown, on_sigterm

    settings = settings_from(flags)
    context, agent = contexts(flags, settings, asked.trials)
    choice = Choice(asked, settings, context, agent, gather_material(asked))
    console = make_console(sys.stderr if as_json else sys.stdout)
    drain = Shutdown()
    with on_sigterm(drain), event_loop() as loop, _opened(loop, choice) as synthesis:
        error: Exception | None = None
        display = SynthesizeDisplay(console)
        try:
            with display.live():
                loop.run(drain.finish(synthesis.run(display, drain.control), settings.drain_s))
        except Halt as stopped:
            tell(f"{stopped}; the same command goes on with it")
            return DRAINED
        except KeyboardInterrupt:
            raise CliError("interrupted; the same command goes on with it", INTERRUPTED) from None
        except Exception as failure:
            if explain(failure).internal:
                raise
            error = failure
        return _finish(choice, loop.run(synthesis.snapshot()), error, console, as_json)


@contextmanager
def _opened(loop: asyncio.Runner, choice: Choice) -> Iterator[Synthesis]:
    """The synthesis, held for this process."""
    from forethought.graph.synthesizer import build_synthesizer
    from forethought.models import Models
    from forethought.state.synthesizer import SynthesizerState

    Models(choice.settings).verify([choice.context.model])
    stack = AsyncExitStack()
    try:
        opening = open_threads(address_of(choice.settings).beside(DATABASE), choice.settings.key)
        saver = loop.run(stack.enter_async_context(opening))
        loop.run(stack.enter_async_context(saver.claim(choice.id)))
        attempt = loop.run(_attempts(choice, stack)) if choice.gathered.tasks else None
        graph = build_synthesizer(choice.settings, saver, attempt=attempt)
        loop.run(read_state(graph, SynthesizerState, choice.id))
        yield Synthesis(choice, graph)
    finally:
        loop.run(stack.aclose())


async def _attempts(choice: Choice, stack: AsyncExitStack) -> Attempt:
    """Trials by this project's agent, each a thread in the synthesis's own folder. Raises CliError."""
    from forethought.collecting.folder import Folder
    from forethought.collecting.running import Collector
    from forethought.collecting.success import Method, judge_for
    from forethought.graph.agent import build_agent
    from forethought.models import Models
    from forethought.nodes.support.task import models_used

    asked, tasks, settings = choice.asked, choice.gathered.tasks, choice.settings
    method = next((name for name in get_args(Method) if name == asked.success), None)
    if method is None:
        raise CliError(f"--success {one_line(asked.success, 40)}: choose exact, f1 or model")
    if settings.tools and str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    if asked.fresh:
        await asyncio.to_thread(shutil.rmtree, choice.folder, True)
    folder, models = Folder(choice.folder), Models(settings)
    judge_model = asked.judge_model or choice.agent.model
    try:
        judges = {task.id: judge_for(task, method, asked.least_f1, models, judge_model) for task in tasks}
        models.verify([*models_used(choice.agent), judge_model])
        folder.open(tasks, {"model": choice.agent.model, "context": choice.agent.model_dump(mode="json")})
        opening = open_threads(file_address(folder.database), settings.key)
        saver = await stack.enter_async_context(opening)
        graph = build_agent(settings=settings, checkpointer=saver)
    except ValueError as error:
        raise CliError(one_line(error, 1000)) from error
    return Collector(graph, choice.agent, settings, folder, judges).attempt


def _finish(
    choice: Choice, snapshot: StateSnapshot, error: Exception | None, console: Console, as_json: bool
) -> int:
    """Write the records, print what came of it, and say how to go on where it is not over."""
    result = synthesis_report(choice.id, snapshot.values, choice.context.model, error)
    if result["status"] == "synthesized":
        from forethought.json_files import write_records

        try:
            write_records(choice.asked.out, _records(choice, snapshot.values))
        except OSError as failure:
            reason = f"{choice.asked.out} cannot be written: {failure.strerror or failure}"
            raise CliError(f"{reason}; the reflections are kept: run the same command again") from failure
        result["out"] = str(choice.asked.out)
    show_synthesis(result, console)
    if as_json:
        print(to_json(result), flush=True)
    if error:
        code = tell_error(error)
        tell("what was done is kept; the same command goes on with it")
        return code
    if result["problem"]:
        tell(result["problem"])
    elif result["out"] and not as_json:
        tell(f"next: forethought train export {choice.asked.out} --out DATASET")
    return _CODES.get(result["status"], FAILED)


def _records(choice: Choice, values: Json) -> list[ReflectionRecord]:
    from forethought.tools.files import FileStore
    from forethought.training.from_synthesis import reflection_records
    from forethought.trajectories.types import Trajectory

    store = FileStore.of(choice.settings)
    kept = {
        key: Trajectory.model_validate_json(store.get(values["trials"][key]["stored"]))
        for key in values["merged"]
    }
    return reflection_records(values, kept)
