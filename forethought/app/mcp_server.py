"""The MCP server: plan reviews, debuggings, tasks and experience as tools (PreFlect 4.4, AgentDebug).

What a client sends is data: it chooses no model, no address and no code, and names files only inside the
operator's folder. What a task waits for is returned as questions, with the thread that a reply goes to.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, redirect_stdout
from dataclasses import asdict
from typing import Annotated, Any

from mcp.server.fastmcp import Context, FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

import forethought
from forethought.app.command_flags import Flags
from forethought.app.display import StreamDisplay, make_console
from forethought.app.errors import CliError, echo_error, explain, input_errors
from forethought.app.experience import ExperienceOptions
from forethought.app.options import parse_set, settings_from
from forethought.app.questions import answer_questions
from forethought.app.report import report, unfinished
from forethought.app.run import ResumeOptions, go_on_where_it_was
from forethought.app.text import one_line
from forethought.app.threads.thread import Thread, is_debugging, new_thread_id, open_thread
from forethought.redaction import redactor
from forethought.state.debugger import DebuggerContext
from forethought.text import sanitize_text
from forethought.tools.files import named_file
from forethought.trajectories.read import all_from_json, read_trajectories, the_run

Json = dict[str, Any]
BEAT_S = 10.0
"""Seconds between two words to a client that waits."""
_RESULT = ("thread_id", "status", "answer", "sources", "evaluation", "stopped", "error", "usage")
_INSTRUCTIONS = (
    "Forethought criticises plans before they are carried out, finds the step that made an agent's run fail, "
    "carries out tasks, and keeps what failed tasks have taught."
)


def build_server(flags: Flags, *, stdio: bool = False) -> FastMCP[None]:
    """The server of the four tools, with the models and the database that `flags` name.

    `stdio`: what tools print goes to stderr, since stdout is the protocol's.
    """

    @asynccontextmanager
    async def own_stdout(_: FastMCP[None]) -> AsyncIterator[None]:
        with redirect_stdout(sys.stderr):
            yield

    server = _Server(
        "forethought", _INSTRUCTIONS, lifespan=own_stdout if stdio else None, log_level="WARNING"
    )
    offered = Offered(flags)
    for tool in (offered.review_plan, offered.debug_trajectory, offered.run_task, offered.experience):
        hints = ToolAnnotations(readOnlyHint=tool != offered.run_task)
        server.add_tool(tool, description=inspect.getdoc(tool), annotations=hints)
    return server


class _Server(FastMCP[None]):
    """FastMCP with errors of one line, also for an argument that no tool has."""

    async def call_tool(self, name: str, arguments: Json) -> Any:
        known = next(
            (tool.inputSchema["properties"] for tool in await self.list_tools() if tool.name == name), None
        )
        if known is not None and (wrong := sorted(arguments.keys() - known.keys())):
            raise ToolError(f"{name} has no argument {wrong[0]}; it has {', '.join(known)}")
        beating = asyncio.create_task(_beat(self.get_context()))
        try:
            return await super().call_tool(name, arguments)
        except ToolError as error:
            raise ToolError(_line(error.__cause__ or error)) from error
        finally:
            beating.cancel()


def _line(error: BaseException) -> str:
    """What went wrong, for whoever called. A mistake of ours is told on stderr too."""
    if isinstance(error, ToolError):
        return str(error)
    try:
        with input_errors():
            raise error
    except Exception as explained:
        if explain(explained).internal:
            echo_error(explained)
        return redactor()(explain(explained).line)


class PlannersTool(BaseModel):
    """A tool of whoever carries a plan out."""

    name: str
    description: str = ""
    parameters: Json = Field(default_factory=dict, description="JSON Schema of its arguments.")


class SentFile(BaseModel):
    """A file's content."""

    name: str
    data: str = Field(description="The content in base64.")


class Offered:
    """The tools. Their docstrings and types are what clients read."""

    def __init__(self, flags: Flags) -> None:
        self.flags = flags

    def _choices(self) -> Json:
        """The model and the settings that the flags name."""
        return {"model": self.flags.model} | dict(parse_set(item) for item in self.flags.sets or ())

    async def review_plan(
        self,
        task: Annotated[str, Field(description="What the plan is for, with all that binds it.")],
        plan: Annotated[list[str] | str, Field(description="The steps in order, or one text.")],
        tools: Annotated[
            list[PlannersTool], Field(description="The tools of whoever carries the plan out.")
        ] = [],  # noqa: B006
    ) -> Json:
        """Hold a plan against the known kinds of planning error before it is carried out. Returns the errors
        found, each with its evidence and risk, and the plan to carry out: revised where there is one."""
        described = [tool.model_dump() for tool in tools]
        settings = settings_from(self.flags)
        return asdict(
            await forethought.review_plan(task, plan, described, settings=settings, **self._choices())
        )

    async def debug_trajectory(
        self,
        trajectory: Annotated[
            Json | list[Any] | str,
            Field(
                description="The run: chat messages with their tool calls, or another export as JSON or text."
            ),
        ] = "",
        file: Annotated[str, Field(description="Instead: a file's name in the server's files folder.")] = "",
        pick: Annotated[str, Field(description="The run's id, where there are several.")] = "",
        expect: Annotated[str, Field(description="The right answer, if it is known.")] = "",
    ) -> Json:
        """Find the earliest error that made an agent's run fail. Returns its step, module, type, cause and
        evidence, and what to do there instead."""
        settings = settings_from(self.flags)
        if bool(trajectory) == bool(file):
            raise CliError("give either the trajectory or the name of a file")
        if file:
            runs = await asyncio.to_thread(lambda: read_trajectories(named_file(file, settings)))
        else:
            runs = await asyncio.to_thread(all_from_json, trajectory)
        run = the_run(runs, pick)
        own = DebuggerContext.model_fields.keys()
        choices = {name: value for name, value in self._choices().items() if name in own}
        return asdict(await forethought.debug(run, expect=expect, settings=settings, **choices))

    async def run_task(
        self,
        ctx: Context[Any, Any, Any],
        task: Annotated[str, Field(description="The task; empty goes on with the thread.")] = "",
        files: Annotated[
            list[SentFile | str],
            Field(description="Contents, or names of files in the server's files folder."),
        ] = [],  # noqa: B006
        thread_id: Annotated[str, Field(description="A thread to continue; empty begins one.")] = "",
        reply: Annotated[
            str,
            Field(
                description="To a question of the thread: an answer, approve, reject: REASON, or edit: JSON; "
                "with NAME= before it where several wait."
            ),
        ] = "",
    ) -> Json:
        """Plan a task, criticise the plan, carry it out with tools and check the answer. Returns the answer,
        its sources and its status. Where that is `interrupted`, ask the person the `questions` and call again
        with thread_id and reply: an approval is the person's to give, not yours."""
        if not task.strip() and not thread_id:
            raise CliError("give a task, or the thread_id of one to go on with")
        if is_debugging(thread_id) or (task.strip() and reply):
            raise CliError("a reply goes to a task's thread, without a new task")
        opening = open_thread(thread_id or new_thread_id(), self.flags, must_exist=not task.strip())
        async with opening as thread:
            graph_input = await self._input(thread, sanitize_text(task).strip(), files, reply)
            progress, line = _Progress(ctx), None
            try:
                await thread.stream(graph_input, progress)
            except Exception as error:
                if explain(error).internal:
                    raise
                line = redactor()(explain(error).line)
            finally:
                await progress.sent()
            result = report(thread.id, await thread.snapshot(), line)
        brief = {name: result[name] for name in _RESULT if result.get(name)}
        return brief | ({"questions": result["interrupts"]} if "interrupts" in result else {})

    async def _input(self, thread: Thread, task: str, files: Sequence[SentFile | str], reply: str) -> Any:
        """What the graph is given. Raises CliError where the thread cannot take it."""
        snapshot = await thread.snapshot()
        if reply:
            return answer_questions([reply], snapshot, f"thread {thread.id}", "run_task with its thread_id")
        if task and unfinished(snapshot):
            raise CliError(f"thread {thread.id} has an unfinished task: go on with it, without a new task")
        if task:
            sent = [item if isinstance(item, str) else item.model_dump() for item in files]
            return {"task": task, "files": sent, "guidance": []}
        return await go_on_where_it_was(thread, ResumeOptions(thread=thread.id))

    async def experience(
        self,
        task: Annotated[str, Field(description="Only what fits this task, best first.")] = "",
        namespace: Annotated[str, Field(description="The collection.")] = "default",
        most: Annotated[int, Field(ge=1, le=100)] = 10,
    ) -> Json:
        """What people and failures have taught: when it applies, and what to do. Advice that waits for a
        person's confirmation is left out."""

        def found() -> list[Any]:
            options = ExperienceOptions(db=self.flags.db, namespace=namespace)
            kept = [one for one in options.all() if one.in_use]
            if task and kept:
                return options.use(lambda book: book.relevant(task, most))
            return kept[:most]

        parts = {"id", "name", "applies", "wrong", "instead"}
        return {"experience": [one.model_dump(include=parts) for one in await asyncio.to_thread(found)]}


class _Progress(StreamDisplay):
    """Tells the client what is done, if it asked to be told."""

    def __init__(self, ctx: Context[Any, Any, Any]) -> None:
        super().__init__(make_console(sys.stderr))
        self._ctx, self._reports = ctx, list[asyncio.Task[None]]()

    def updated(self, node: str, update: Mapping[str, Any]) -> None:
        """See StreamDisplay."""
        for step in update.get("trajectory") or []:
            self.busy(f"step {step.get('n')}: {one_line(step.get('tool') or step.get('action'), 60)}")

    def busy(self, text: str, below: Any = "") -> None:
        """See StreamDisplay."""
        telling = self._ctx.report_progress(time.monotonic(), message=text)
        self._reports.append(asyncio.create_task(telling))

    async def sent(self) -> None:
        """Wait until all of it is told."""
        await asyncio.gather(*self._reports)


async def _beat(ctx: Context[Any, Any, Any]) -> None:
    """Tell the client from time to time that its call goes on: many wait a minute for a word, and no more."""
    while True:
        await asyncio.sleep(BEAT_S)
        await ctx.report_progress(time.monotonic())
