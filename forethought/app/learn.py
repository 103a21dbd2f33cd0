"""learn: from a failed task to proven advice."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.text import Text

from forethought.app.command_flags import Flags, ModelOptions, argument, flag
from forethought.app.display import StreamDisplay
from forethought.app.errors import ANSWERED, FAILED, NOT_PASSED, WAITS, CliError, explain
from forethought.app.options import check_repeated, context_of, settings_from
from forethought.app.report import status_of, usage_of
from forethought.app.runner import Runner, Session, claimed_threads, open_runner
from forethought.app.text import one_line
from forethought.app.threads.thread import check_thread_id, unknown_thread
from forethought.app.trials import TrialOptions
from forethought.app.view import usage_line
from forethought.settings import Settings
from forethought.state.context import Context
from forethought.state.learner import LearnerContext
from forethought.storage import address_of, open_experience, open_threads

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from forethought.experience.book import Book
    from forethought.nodes.learner.lab import Lab
    from forethought.storage.saver import ThreadSaver

Json = dict[str, Any]
DATABASE = "learnings.sqlite"
_EXIT_CODES = {"learned": ANSWERED, "not_found": NOT_PASSED}
_ASK_USD = 0.5
_ASK_TOKENS = 200_000
"""Above this estimate, or above these tokens if the price is unknown, a person has to agree."""


class LearnOptions(TrialOptions, ModelOptions):
    """The flags of `learn`."""

    what: list[str] = argument(
        help="Thread whose answer was wrong, or recorded runs or tasks: files or folders.",
        metavar="THREAD|PATH...",
    )
    task: int | None = flag(help="Number of the task in the thread.", metavar="N", min=1)
    correction: str | None = flag(help="What is wrong, in your words.", metavar="TEXT")
    expect: str | None = flag(help="Right answer, if you know it.", metavar="TEXT")
    runs: int | None = flag(
        help="Re-runs with the advice, and as many without.", metavar="N", min=1, max=20, show_default="3"
    )
    method: Literal["distill", "synthesize"] | None = flag(
        help="How to learn from recorded runs.", show_default="distill if a task has both outcomes"
    )
    exclude: list[Path] | None = flag(
        help="Refuse recorded runs of these evaluation tasks (repeatable).", metavar="FILE"
    )
    records: Path | None = flag(help="Also write reflections for `train export`.", metavar="FILE")
    fresh: bool = flag(help="Start over.", default=False)
    yes: bool = flag("--yes", "-y", help="Do not ask for confirmation.", default=False)


@dataclass
class Learning(Session):
    """A thread of the learner's graph."""

    lab: Lab
    book: Book
    settings: Settings


def learn(options: LearnOptions) -> int:
    """Learn from a wrong answer or from recorded runs."""
    paths = [Path(name) for name in options.what]
    if any(path.exists() for path in paths):
        from forethought.app.learn_runs import learn_runs

        return learn_runs(paths, options)
    if len(paths) > 1 or paths[0].name != options.what[0] or paths[0].suffix in (".json", ".jsonl"):
        raise CliError(f"there is no file or folder {one_line(options.what[-1], 60)}: check the path")
    with open_runner(options.as_json) as runner:
        learning = runner.open(open_learning(options.what[0], options.task, options))
        thread, _, number = learning.id.removeprefix("learn:").rpartition(":")
        begun = runner.run(learning.snapshot()).tasks
        if not begun:
            _agree(runner, learning, thread, int(number), options)
        given = {
            "thread_id": thread,
            "number": int(number),
            "correction": options.correction or "",
            "expect": options.expect or "",
        }
        ending = runner.drive(learning, None if begun else given, _Display(runner.console))
        error = one_line(explain(ending.error).line, 1000) if ending.error else None
        result = learning_report(learning, ending.snapshot, error)
        for line in report_lines(result):
            runner.console.print(Text(line), soft_wrap=True)
        runner.print_json(result)
        return runner.exit_code(ending, _EXIT_CODES.get(result["status"], FAILED))


@asynccontextmanager
async def open_learning(thread: str, number: int | None, flags: Flags) -> AsyncIterator[Learning]:
    """Open the learning from a task of a thread, claimed by this process. The thread is only read.

    Raises:
        CliError: There is no such thread, or a flag of its run is missing.
        ConfigurationError: The model or its key is missing.
    """
    from forethought.experience.book import Book, namespace_of
    from forethought.graph.learner import build_learner
    from forethought.graph.resume import run_options
    from forethought.models import Models
    from forethought.users import LOCAL_USER

    check_thread_id(thread)
    settings = settings_from(flags)
    address = address_of(settings)
    async with AsyncExitStack() as stack:
        saver = await stack.enter_async_context(open_threads(address, settings.key, create=False))
        checkpoint = await saver.aget_tuple({"configurable": {"thread_id": thread}})
        if checkpoint is None:
            raise unknown_thread(thread)
        previous = run_options(checkpoint.metadata)
        what = f"thread {thread}"
        check_repeated(what, flags, settings, tools=previous.tools, base_url=previous.base_url)
        own = Flags(base_url=flags.base_url, db=flags.db, tools=flags.tools)
        agent = context_of(Context, own, settings, previous.context)
        runs = {"runs": asked} if (asked := getattr(flags, "runs", None)) else {}
        context = context_of(LearnerContext, flags, settings, {"model": agent.model}, runs)
        used = (context.model, agent.model, context.retrospective_model)
        Models(settings).verify(dict.fromkeys(filter(None, used)))
        store = await stack.enter_async_context(open_experience(address))
        book = Book(store, namespace_of(LOCAL_USER, agent.experience_namespace))
        number = number or await _corrected(book, thread) or _task_number(checkpoint)
        id = f"learn:{thread}:{number}"
        kept = claimed_threads(address.beside(DATABASE), settings.key, id)
        own_saver = await stack.enter_async_context(kept)
        lab = _lab(saver, agent, settings)
        graph = build_learner(settings, own_saver, lab, book)
        yield Learning(id, own_saver, graph, context, lab, book, settings)


def _lab(saver: ThreadSaver, context: Context, settings: Settings) -> Lab:
    from langgraph.checkpoint.memory import InMemorySaver

    from forethought.graph.agent import build_agent
    from forethought.nodes.learner.lab import Lab
    from forethought.tools.registry import toolbox

    agent = build_agent(settings=settings, checkpointer=InMemorySaver())
    agent.bounds = False  # type: ignore[attr-defined]  # these writes are our own, not a client's
    threads = build_agent(settings=settings, checkpointer=saver)
    return Lab(threads, agent, context, toolbox(settings), lambda: saver.newest(_NEWEST))


_NEWEST = 50
"""Threads among which past tasks are looked for."""


async def _corrected(book: Book, thread: str) -> int | None:
    """The newest task of the thread with a person's correction that was not learned from yet."""
    open_ones = [
        advice.number
        for advice in await book.all()
        if advice.thread == thread and advice.source == "person" and not advice.proof.runs and advice.number
    ]
    return max(open_ones, default=None)


def _task_number(checkpoint: Any) -> int:
    return int((checkpoint.checkpoint["channel_values"].get("progress") or {}).get("task", 1))


def _agree(runner: Runner, learning: Learning, thread: str, number: int, options: LearnOptions) -> None:
    """Print the estimate. Raises CliError if it is high and no person agrees."""
    tokens, usd = runner.run(estimate(learning, thread, number))
    cost = "price unknown" if usd is None else f"${usd:.2f}"
    calls = learning.context.max_calls
    runner.console.print(Text(f"estimate: at most {calls} calls, about {tokens:,} tokens, {cost}"))
    is_high = tokens > _ASK_TOKENS if usd is None else usd > _ASK_USD
    if is_high and not options.yes and not runner.confirm("continue?"):
        raise CliError("nothing was run; to continue, repeat the command with --yes", WAITS)


async def estimate(learning: Learning, thread: str, number: int) -> tuple[int, float | None]:
    """Tokens and dollars of a learning without a cache: (tokens, None if the price is unknown)."""
    from forethought.models import Models
    from forethought.models.allowance import total
    from forethought.nodes.support.offline import tokens_of_runs
    from forethought.rollouts.types import RolloutError

    context: LearnerContext = learning.context
    try:
        task = await learning.lab.failed_task(thread, number)
    except RolloutError as error:
        raise CliError(str(error)) from error
    head = await learning.lab.checkpoints(thread).read()
    used = total(*(head.values.get("usage") or {}).values()) if head else {"calls": 0, "input_tokens": 0}
    decision = used["input_tokens"] // max(used["calls"], 1) or 3_000
    own = 3  # find, reflect, judge
    sent = own * tokens_of_runs([task.trajectory]) + (context.max_calls - own) * decision
    received = context.max_calls * 400
    return sent + received, Models(learning.settings).price(context.model, sent, received)


class _Display(StreamDisplay):
    """A line for each step of the loop."""

    def updated(self, node: str, update: Mapping[str, Any]) -> None:
        """See StreamDisplay."""
        if critical := update.get("critical"):
            place = f"step {critical['critical_step']}, {critical['critical_module']}"
            self.line(f"critical step: {place}: {critical['error_type']}", "bold")
            self.line(f"  {one_line(critical['root_cause'], 400)}")
        if node == "reflect" and update.get("advice"):
            self.line(f"advice: {one_line(update['advice']['instead'], 300)}", "bold")
        for trial in update.get("trials") or []:
            if isinstance(trial, Mapping):
                kind = "past task" if trial["of"] != "failure" else "re-run"
                self.line(f"{kind} {'with' if trial['guided'] else 'without'} the advice", "dim")


def learning_report(learning: Learning, snapshot: StateSnapshot | None, error: str | None) -> Json:
    """The learning as one JSON object."""
    values: Mapping[str, Any] = snapshot.values if snapshot else {}
    result = {
        "learning": learning.id,
        "status": status_of(snapshot, error) if snapshot else "failed",
        "critical": values.get("critical") or None,
        "advice": values.get("advice") or None,
        "trials": list(values.get("trials") or []),
        "verdicts": list(values.get("verdicts") or []),
        "notes": list(values.get("notes") or []),
        "usage": usage_of(values),
    }
    problem = error or values.get("problem")
    return {**result, "error": problem} if problem else result


def report_lines(result: Mapping[str, Any]) -> list[str]:
    """The report for a person."""
    lines = [f"note: {one_line(note, 400)}" for note in result["notes"]]
    advice = result["advice"]
    if advice and result["status"] == "learned":
        proof = advice["proof"]
        rates = f"{proof['flips']} of {proof['runs']} re-runs avoid the error with the advice"
        rates += f", {proof['control_flips']} of {proof['control_runs']} without"
        interval = f"difference {proof['low']:.2f} to {proof['high']:.2f}"
        lines += [f"{proof['status']}: {rates} ({interval})"] if proof["runs"] else ["no re-run was judged"]
        lines += [f"{advice['state']}: {advice['name']}: {one_line(advice['instead'], 300)}"]
        lines += [f"see it with: forethought experience show {advice['id']}"]
    elif result.get("error"):
        lines.append(one_line(result["error"], 400))
    return [*lines, f"{result['status']}  {usage_line(result['usage'])}"]
