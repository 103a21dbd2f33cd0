"""chat: a conversation at the terminal, each message the next task of one thread.

Each turn opens the thread, runs it and prints it as `run` does; so a chat goes on in another process, and
`show`, `fork` and `debug` see nothing special in its thread.
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.text import Text

from forethought.app import questions, view
from forethought.app.command_flags import ModelOptions, flag
from forethought.app.errors import ANSWERED, DRAINED, INTERRUPTED, CliError, echo, echo_error, explain
from forethought.app.files import input_files
from forethought.app.options import resume_flags, settings_from
from forethought.app.report import report, unfinished
from forethought.app.run import Begin, drive_turn, go_on_where_it_was
from forethought.app.runner import Runner, open_runner
from forethought.app.text import clean, one_line
from forethought.app.threads.cost import render_costs
from forethought.app.threads.show import work_parts
from forethought.app.threads.thread import Thread, is_debugging, new_thread_id, open_thread
from forethought.redaction import redactor, without_credentials
from forethought.text import escape_hidden, sanitize_text

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

Json = dict[str, Any]
_WITH_ARGUMENTS = ("files", "set", "remember", "wrong")
_COMMANDS = ["files", "wrong", "remember", "plan", "why", "undo", "resume", "cost", "set", "help", "exit"]
_GOODBYES = ("exit", "quit", "/quit")
_SHOWN_TURNS = 3
"""Earlier turns that a resumed chat shows."""


class ChatOptions(ModelOptions):
    """The flags of `chat`."""

    offers = "approval_policy tools"
    prints_json = False

    thread: str | None = flag(help="Thread to continue or create.", metavar="ID")
    files: list[str] | None = flag(
        "--file", "-f", help="Input files: paths, folders, patterns, addresses.", metavar="F..."
    )
    exclude: list[str] | None = flag(
        help="Files of a folder to leave out, such as '*.log' (repeatable).", metavar="PATTERN"
    )


def chat(options: ChatOptions) -> int:
    """Talk with the agent. The thread keeps the conversation, files and settings."""
    if options.thread and is_debugging(options.thread):
        raise CliError(f"{one_line(options.thread)} is a debugging thread: choose another id for the chat")
    with open_runner(options.as_json) as runner:
        if not runner.interactive:
            raise CliError("chat needs a terminal; in a script, use: forethought run TASK --thread ID --json")
        return Chat(runner, options).talk()


class _Leave(Exception):
    """The person leaves."""


class Chat:
    """One conversation; the methods without an underscore in `commands` are what `/NAME` calls."""

    def __init__(self, runner: Runner, options: ChatOptions) -> None:
        self.runner, self.options = runner, options
        self.thread_id = options.thread or new_thread_id()
        self.new: dict[str, list[Any]] = {"files": [], "folders": []}
        """What the next message brings along, as the graph's input names it."""
        self._take(options.files or ())
        self.exists = False
        """Whether anything is kept of the thread."""
        self.spent: list[Json] = []
        """The usage of each turn of this session."""
        self.commands: dict[str, Callable[[str], None]] = {name: getattr(self, name) for name in _COMMANDS}
        self._prompt = _prompt_session(settings_from(options), [f"/{name}" for name in self.commands])
        runner.go_on = "/resume continues it; press Ctrl-C again to leave"

    def talk(self) -> int:
        """Read and carry out until the person leaves. Returns the exit code."""
        from forethought.shutdown import Halt

        self._greet()
        stops, code = 0, ANSWERED
        while stops < 2:
            try:
                with self.runner.shutdown.idle():
                    text = sanitize_text(self._prompt.prompt("> ")).strip()
                stops = 0
                self._carry_out(text)
            except (EOFError, _Leave):
                break
            except Halt:
                code = DRAINED
                break
            except KeyboardInterrupt:
                stops += 1
                self._say("press Ctrl-C again to leave" if stops < 2 else "")
            except Exception as error:
                if explain(error).internal:
                    raise
                stops += echo_error(error, self._complain) == INTERRUPTED
        if self.exists:
            echo(f"continue with: forethought chat --thread {self.thread_id}{resume_flags(self.options)}")
        return INTERRUPTED if stops > 1 else code

    def _carry_out(self, text: str) -> None:
        """A message, or a command: a first word such as /plan, but no path."""
        found = re.match(r"/(\w*)(?:\s+|$)", "/exit" if text in _GOODBYES else text)
        if found is None:
            if text:
                self._turn(partial(self._message, text))
            return
        name, argument = found[1], text[found.end() :].strip()
        if name not in self.commands:
            raise CliError(f"unknown command /{name}; /help lists the commands")
        if argument and name not in _WITH_ARGUMENTS:
            raise CliError(f"/{name} takes no argument: send it without {one_line(argument, 40)!r}")
        self.commands[name](argument)

    async def _message(self, text: str, thread: Thread) -> Json:
        """The graph's input for the next message."""
        new, self.new = self.new, {"files": [], "folders": []}
        new["folders"] += await self._read_again(thread, new["folders"])
        return {"task": text, **{name: items for name, items in new.items() if items}, "guidance": []}

    async def _read_again(self, thread: Thread, new: list[Any]) -> list[Any]:
        """The thread's folders, read again where files were added or changed since the last turn."""
        from forethought.tools.folders.intake import read_again

        if "*" in new:
            return []
        there = (await thread.snapshot()).values.get("folders") or []
        again = [ref for ref in there if ref["name"] not in [item["name"] for item in new]]
        given = await asyncio.to_thread(read_again, again, thread.settings)
        for note in given.notes:
            self._say(note)
        return given.folders

    def _take(self, names: Sequence[str]) -> None:
        """Take in files and folders for the next message."""
        given = input_files(
            names, settings_from(self.options), self.options.exclude or (), self.runner.console
        )
        for name, items in given.channels.items():
            self.new[name] += items

    def _turn(self, begin: Begin) -> None:
        self.exists = True
        with self._opened() as thread:
            graph_input = self.runner.run(begin(thread))
            ask = partial(questions.ask, read=self._prompt.prompt)
            _, result = drive_turn(self.runner, thread, self.options, graph_input, ask)
            self.spent.append(result.get("usage") or {})
            if any(step.get("approval") in ("edited", "rejected") for step in result.get("steps") or ()):
                self._say(f"to learn from your decision: forethought learn {self.thread_id}")

    def _opened(
        self, calls_models: bool = True, options: ChatOptions | None = None
    ) -> AbstractContextManager[Thread]:
        flags = options or self.options
        opening = open_thread(self.thread_id, flags, must_exist=False, calls_models=calls_models)
        return self.runner.opened(opening)

    def _greet(self) -> None:
        """Show what the chat runs with, and the end of what was said before."""
        with self._opened() as thread:
            snapshot, self.exists = self.runner.run(thread.snapshot()), thread.exists
            model, address = thread.context.model, without_credentials(thread.settings.base_url)
        self._say(f"thread {self.thread_id}  {model}{f' at {address}' if address else ''}", "bold")
        self._say("Enter sends, Alt-Enter starts a new line, Ctrl-C stops a turn, /help lists the commands")
        values = snapshot.values
        said = [*(values.get("progress") or {}).get("earlier", []), *_last_turn(values)]
        if older := len(said[:-_SHOWN_TURNS]):
            self._say(f"(earlier turns not shown: {older})")
        self._show(said[-_SHOWN_TURNS:])
        if unfinished(snapshot):
            self._say("the last turn is not finished: /resume continues it", "yellow")

    def _last_task(self) -> tuple[Json, Json]:
        """The report on the last turn, and the thread's state. Raises CliError before the first one."""
        with self._opened(calls_models=False) as thread:
            snapshot = self.runner.run(thread.snapshot())
        if not thread.exists:
            raise CliError("there is no turn yet: send a task first")
        return report(self.thread_id, snapshot), snapshot.values

    def _say(self, text: str, style: str = "dim") -> None:
        self.runner.console.print(Text(text, style=style))

    def _complain(self, line: str) -> None:
        self._say(escape_hidden(redactor()(line)), "red")

    def _show(self, turns: list[Json]) -> None:
        for turn in turns:
            self._say(clean(f"> {turn['task']}"), "bold")
            self.runner.console.print(view.answer(turn["answer"], turn.get("sources", ())))

    def files(self, paths: str) -> None:
        """List the files; PATH ... adds files, folders, patterns or addresses; `none` removes all"""
        if paths == "none":
            self.new = {"files": ["*"], "folders": ["*"]}
        elif paths:
            self._take(_words(paths))
        with self._opened(calls_models=False) as thread:
            values = self.runner.run(thread.snapshot()).values
        there: list[Any] = []
        for name, new in self.new.items():
            there += [] if "*" in new else values.get(name) or []
            there += [item for item in new if item != "*"]
        names = {item["name"]: item.get("size", 0) for item in there}
        for name, size in names.items():
            self._say(f"{one_line(name)} ({size:,} bytes)")
        if not names:
            self._say("no files; add some with: /files PATH ...")

    def remember(self, rule: str) -> None:
        """Keep a rule or a fact for all later tasks, such as: amounts are gross"""
        if not rule:
            raise CliError("say what to remember: /remember RULE")
        self._teach(rule, None)

    def wrong(self, why: str) -> None:
        """Say what is wrong with the last answer: it is kept for later tasks, and answered again"""
        if not why:
            raise CliError("say what is wrong: /wrong WHY")
        from forethought.app.teach import again

        values = self._last_task()[1]
        if not values.get("answer"):
            raise CliError("the last turn has no answer yet: /resume continues it")
        self._teach(why, values)

        async def begin(thread: Thread) -> Json:
            return again(why, values)

        self._turn(begin)
        self._say(f"to find and prove the step that was wrong: forethought learn {self.thread_id}")

    def _teach(self, words: str, values: Mapping[str, Any] | None) -> None:
        """Keep a person's words, which are about the thread's last answer if its `values` are given."""
        from forethought.app.teach import keep

        with self._opened() as thread:
            advice = self.runner.run(keep(words, thread, values))
        self._say(f"remembered as {advice.name}: {clean(advice.instead)}", "green")
        self._say(f"to change or drop it: forethought experience edit|drop {advice.id}")

    def plan(self, _: str) -> None:
        """Show the last turn's plan"""
        plan = self._last_task()[0]["plan"] or {}
        if not plan.get("subtasks"):
            raise CliError("the last turn had no plan")
        self.runner.console.print(view.plan(plan))

    def why(self, _: str) -> None:
        """Show the steps behind the last answer"""
        result, values = self._last_task()
        if not result["steps"]:
            self._say("no steps: the answer rests on the conversation and the attached files")
        for part in work_parts({**result, "skipped": []}, values):
            self.runner.console.print(part)

    def undo(self, _: str) -> None:
        """Undo the last turn, except for what its tools changed outside"""
        from forethought.state.history import ForkError, GraphCheckpoints, before_turn, make_head

        values = self._last_task()[1]
        with self._opened(calls_models=False) as thread:
            checkpoints = GraphCheckpoints(thread.graph, thread.config)
            try:
                point = self.runner.run(before_turn(checkpoints))
            except ForkError as error:
                raise CliError(str(error)) from error
            if point is not None:
                self.runner.run(make_head(checkpoints, point))
        if point is None:
            self.thread_id, self.exists = new_thread_id(), False
            self.new = {name: list(values.get(name) or []) for name in self.new}
            self._say(f"the first turn is undone; new thread: {self.thread_id}")
        else:
            self._say("the last turn is undone; the one before it:")
            self._show(_last_turn(point.values))

    def resume(self, _: str) -> None:
        """Continue a turn that stopped, failed or waits for a reply"""
        if self._last_task()[0]["status"] in {"answered", "best_effort", "budget_exhausted"}:
            raise CliError("nothing to resume: the last turn is finished")
        self._turn(partial(go_on_where_it_was, options=self.options))

    def cost(self, _: str) -> None:
        """Show the cost of the last turn and of the session"""
        self.runner.console.print(render_costs(self._last_task()[0]))
        if self.spent:
            self._say(f"this session: {view.usage_line(_total(self.spent))}")

    def set(self, settings: str) -> None:
        """List the settings, or change one for the next turns, such as model=openai:gpt-4.1"""
        options = self.options.model_copy(update={"sets": [*(self.options.sets or []), *_words(settings)]})
        with _named_as_typed(), self._opened(options=options) as thread:
            for name, value in thread.context.model_dump(mode="json", exclude_defaults=True).items():
                self._say(f"{name}={value}")
        self.options = options

    def help(self, _: str) -> None:
        """List the commands"""
        for name, command in self.commands.items():
            self._say(f"/{name:<7} {command.__doc__}", "")

    def exit(self, _: str) -> None:
        """Leave (or press Ctrl-D)"""
        raise _Leave


def _words(text: str) -> list[str]:
    """The words of a command, quoted as in a shell."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise CliError(f"{one_line(text)}: {error}") from error


@contextmanager
def _named_as_typed() -> Iterator[None]:
    """Leave out the flag where an error names it: nobody typed one."""
    try:
        yield
    except CliError as error:
        raise CliError(error.line.removeprefix("--set").lstrip(": "), error.code) from error


def _last_turn(values: Mapping[str, Any]) -> list[Json]:
    """The thread's last task as it was answered; none where it was not."""
    if not values.get("answer"):
        return []
    task = values["progress"]["task_text"]
    return [{"task": task, "answer": values["answer"], "sources": values.get("sources") or ()}]


def _total(usages: list[Json]) -> Json:
    """The sum of reports' usages; without a price as soon as one has none."""
    names = ("calls", "input_tokens", "output_tokens", "cached_tokens", "estimated")
    total: Json = {name: sum(usage.get(name, 0) for usage in usages) for name in names}
    prices = [usage.get("usd") for usage in usages]
    return {**total, "usd": None if None in prices else sum(prices)}


def _prompt_session(settings: Any, commands: list[str]) -> PromptSession[str]:
    """A prompt that sends with Enter, with a history unless what is kept is encrypted."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import (
        NestedCompleter,
        PathCompleter,
        WordCompleter,
        merge_completers,
    )
    from prompt_toolkit.history import FileHistory, InMemoryHistory
    from prompt_toolkit.key_binding import KeyBindings

    bindings = KeyBindings()
    bindings.add("enter")(lambda event: event.current_buffer.validate_and_handle())
    bindings.add("escape", "enter")(lambda event: event.current_buffer.insert_text("\n"))
    file = settings.data_dir / "chat_history"
    if settings.key is None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
    files = NestedCompleter({"/files": PathCompleter(expanduser=True)})
    return PromptSession(
        multiline=True,
        key_bindings=bindings,
        prompt_continuation="  ",
        completer=merge_completers([WordCompleter(commands, sentence=True), files]),
        history=FileHistory(file) if settings.key is None else InMemoryHistory(),
    )
