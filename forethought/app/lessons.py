"""lessons: what is kept of failed tasks, for a person to look at, mend, drop and confirm."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError

from forethought.app.command_flags import CommandOptions, typer_command
from forethought.app.errors import ANSWERED, CliError
from forethought.app.options import settings_from
from forethought.app.text import clean, one_line, to_json
from forethought.state.context import Namespace
from forethought.storage import address_of

if TYPE_CHECKING:
    from rich.table import Table

    from forethought.lessons.book import LessonBook
    from forethought.lessons.record import Lesson

lessons_app = typer.Typer(
    help="What failed tasks have taught: list it, look at it, mend it, drop it, confirm it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Key = Annotated[str, typer.Argument(help="The lesson's id, as `lessons list` shows it.", metavar="ID")]
_HEAD_CHARS = 100


class LessonsOptions(CommandOptions):
    """The flags of `lessons list`, and of every command on lessons."""

    db: Annotated[
        str | None,
        typer.Option("--db", help="Database of threads; the lessons are beside it.", metavar="URL"),
    ] = None
    namespace: Annotated[
        str,
        typer.Option("--namespace", help="The collection (lesson_namespace of the runs).", metavar="NAME"),
    ] = "default"

    @asynccontextmanager
    async def open(self) -> AsyncIterator[LessonBook]:
        """The lessons. Raises CliError where there are none yet, or the collection's name is no name."""
        from forethought.lessons.book import LOCAL_USER, LessonBook, namespace_of
        from forethought.storage import open_lessons

        try:
            TypeAdapter(Namespace).validate_python(self.namespace)
        except ValidationError as error:
            raise CliError(
                f"--namespace {one_line(self.namespace, 40)!r}: use letters, digits, _ and -, at most 64"
            ) from error
        settings = settings_from(self)
        async with open_lessons(address_of(settings), create=False) as store:
            yield LessonBook(store, namespace_of(LOCAL_USER, self.namespace))


class LessonOptions(LessonsOptions):
    """The flags of a command on one lesson."""

    key: Key


class EditOptions(LessonOptions):
    """The flags of `lessons edit`."""

    failed: Annotated[str | None, typer.Option("--failed", help="What failed.", metavar="TEXT")] = None
    why: Annotated[str | None, typer.Option("--why", help="Why it failed.", metavar="TEXT")] = None
    worked: Annotated[str | None, typer.Option("--worked", help="What works instead.", metavar="TEXT")] = None


class DropOptions(LessonsOptions):
    """The flags of `lessons drop`."""

    keys: Annotated[list[str], typer.Argument(help="Ids of lessons.", metavar="ID...")]


def list_lessons(options: LessonsOptions) -> int:
    """List the lessons, the strongest first."""
    from forethought.lessons.record import now_utc

    now, found = now_utc(), _all_lessons(options)
    found.sort(key=lambda lesson: (lesson.quarantined, -lesson.strength(now), lesson.id))
    if options.as_json:
        print(to_json([_as_json(lesson) for lesson in found]))
    else:
        _print(_table(found) if found else "no lessons yet")
    return ANSWERED


def _all_lessons(options: LessonsOptions) -> list[Lesson]:
    """The lessons, none where no run has kept any."""
    from forethought.storage import LESSONS

    async def read() -> list[Lesson]:
        async with options.open() as book:
            return await book.all()

    return asyncio.run(read()) if address_of(settings_from(options)).beside(LESSONS).exists else []


def show(options: LessonOptions) -> int:
    """Show a lesson: what it says, where it comes from, and what it did."""
    from forethought.lessons.record import now_utc

    async def read() -> Lesson:
        async with options.open() as book:
            return await _lesson(book, options.key)

    lesson = asyncio.run(read())
    if options.as_json:
        print(to_json(_as_json(lesson)))
        return ANSWERED
    steps = f", steps {', '.join(map(str, lesson.steps))}" if lesson.steps else ""
    lines = [
        f"lesson {lesson.id}: {_standing(lesson)}",
        lesson.text(),
        f"From: thread {lesson.thread}, task {lesson.number}{steps}, {lesson.made:%Y-%m-%d}",
        f"Origin: {lesson.origin}",
        f"Found {lesson.found} times; shown to {lesson.used} tasks: helped {lesson.helped}, hurt "
        f"{lesson.hurt}; strength {lesson.strength(now_utc()):.2f}",
    ]
    _print(clean("\n".join(lines)))
    return ANSWERED


def edit(options: EditOptions) -> int:
    """Word a lesson anew. One in quarantine stays there until it is confirmed."""
    parts = {"failed": options.failed, "why": options.why, "worked": options.worked}
    changes = {name: text.strip() for name, text in parts.items() if text is not None}
    if not changes:
        raise CliError("say what is to change: --failed, --why or --worked, with the new text")
    for name in ("failed", "worked"):
        if changes.get(name) == "":
            raise CliError(f"--{name} is empty; to forget a lesson: forethought lessons drop {options.key}")
    return _change(options, changes, "worded anew")


def confirm(options: LessonOptions) -> int:
    """Let a lesson out of quarantine: you have read it, and it may be shown to later tasks."""
    return _change(options, {"confirmed": "person"}, "confirmed")


def drop(options: DropOptions) -> int:
    """Forget lessons."""

    async def forget() -> None:
        async with options.open() as book:
            lessons = [await _lesson(book, key) for key in options.keys]  # all, or none if one is unknown
            for lesson in lessons:
                await book.drop(lesson.id)

    asyncio.run(forget())
    if options.as_json:
        print(to_json({"dropped": options.keys}))
    else:
        _print(f"dropped: {', '.join(clean(key) for key in options.keys)}")
    return ANSWERED


def proposals(options: LessonsOptions) -> int:
    """List planning errors that lessons name and the known ones lack."""
    from forethought.knowledge.planning_errors import load_planning_errors
    from forethought.lessons.book import proposed_errors

    settings = settings_from(options)
    known = [error.name for error in load_planning_errors(settings.planning_errors_file)]
    found = proposed_errors(_all_lessons(options), known)
    if options.as_json:
        named = {name: [_as_json(lesson) for lesson in group] for name, group in found.items()}
        print(to_json([{"error_type": name, "tasks": len(n), "named": n} for name, n in named.items()]))
        return ANSWERED
    if not found:
        _print("no lesson names a planning error that is not known")
    for name, group in found.items():
        _print(f"{clean(name)}: named by {len(group)} lesson{'s' * (len(group) > 1)}")
        for lesson in group:
            _print(clean(f"  {lesson.id} ({lesson.origin}): {one_line(lesson.failed, 200)}"))
    return ANSWERED


def _change(options: LessonOptions, changes: Mapping[str, str], done: str) -> int:
    async def change() -> Lesson:
        async with options.open() as book:
            lesson = (await _lesson(book, options.key)).model_copy(update=dict(changes))
            await book.put(lesson)
            return lesson

    lesson = asyncio.run(change())
    if options.as_json:
        print(to_json(_as_json(lesson)))
    else:
        _print(f"{done}: {clean(options.key)}")
    return ANSWERED


async def _lesson(book: LessonBook, key: str) -> Lesson:
    lesson = await book.get(key)
    if lesson is None:
        raise CliError(f"no lesson {one_line(key, 40)}; `forethought lessons list` lists those there are")
    return lesson


def _print(content: str | Table) -> None:
    from rich.text import Text

    from forethought.app.display import make_console

    make_console().print(Text(content) if isinstance(content, str) else content)


def _as_json(lesson: Lesson) -> dict[str, Any]:
    from forethought.lessons.record import now_utc

    strength = round(lesson.strength(now_utc()), 3)
    return {**lesson.model_dump(mode="json"), "quarantined": lesson.quarantined, "strength": strength}


def _standing(lesson: Lesson) -> str:
    if lesson.quarantined:
        return f"in quarantine; made under the influence of {', '.join(lesson.outside)}"
    return "confirmed by a person" if lesson.confirmed else "in use"


def _table(lessons: Sequence[Lesson]) -> Table:
    from rich.table import Table
    from rich.text import Text

    from forethought.lessons.record import now_utc

    now = now_utc()
    table = Table(box=None, padding=(0, 1), header_style="dim")
    for name in ("lesson", "strength", "used", "helped", "hurt", "standing", "what works"):
        table.add_column(name, no_wrap=name != "what works", overflow="fold")
    for lesson in lessons:
        standing = "quarantine" if lesson.quarantined else "in use"
        counts = (str(lesson.used), str(lesson.helped), str(lesson.hurt))
        head = one_line(lesson.worked, _HEAD_CHARS)
        cells = (lesson.id, f"{lesson.strength(now):.2f}", *counts, standing, head)
        table.add_row(*(Text(clean(cell)) for cell in cells))
    return table


lessons_app.command("list")(typer_command(list_lessons))
lessons_app.command()(typer_command(show))
lessons_app.command()(typer_command(edit))
lessons_app.command()(typer_command(drop))
lessons_app.command()(typer_command(confirm))
lessons_app.command()(typer_command(proposals))
