"""lessons: what is kept of failed tasks, for a person to look at, mend, drop and confirm."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from pydantic import TypeAdapter, ValidationError

from forethought.app.command_flags import CommandOptions, argument, flag, typer_command
from forethought.app.errors import ANSWERED, CliError
from forethought.app.options import settings_from
from forethought.app.text import one_line
from forethought.settings import reason_of
from forethought.state.context import Namespace
from forethought.storage import address_of

if TYPE_CHECKING:
    from forethought.lessons.book import LessonBook
    from forethought.lessons.record import Lesson

T = TypeVar("T")
lessons_app = typer.Typer(
    help="List, show, edit, drop or confirm lessons of failed tasks.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class LessonsOptions(CommandOptions):
    """The flags of `lessons list`, and of every command on lessons."""

    offers = "db"

    namespace: str = flag(help="Lesson collection (`lesson_namespace`).", metavar="NAME", default="default")

    def use(self, work: Callable[[LessonBook], Awaitable[T]]) -> T:
        """What `work` makes of the lessons. Raises CliError where there are none yet, or for a wrong name."""
        from forethought.lessons.book import LessonBook, namespace_of
        from forethought.storage import open_experience
        from forethought.users import LOCAL_USER

        try:
            namespace = namespace_of(LOCAL_USER, TypeAdapter(Namespace).validate_python(self.namespace))
        except ValidationError as error:
            reason = reason_of(error.errors()[0])
            raise CliError(f"--namespace {one_line(self.namespace, 40)!r}: {reason}") from error

        async def opened() -> T:
            async with open_experience(address_of(settings_from(self)), create=False) as store:
                return await work(LessonBook(store, namespace))

        return asyncio.run(opened())

    def all(self) -> list[Lesson]:
        """The lessons, the strongest first; none where no run has kept any."""
        from forethought.lessons.record import now_utc
        from forethought.storage import EXPERIENCE

        is_there = address_of(settings_from(self)).beside(EXPERIENCE).exists
        lessons = self.use(lambda book: book.all()) if is_there else []
        now = now_utc()
        return sorted(lessons, key=lambda lesson: (lesson.quarantined, -lesson.strength(now), lesson.id))


class LessonOptions(LessonsOptions):
    """The flags of a command on one lesson."""

    key: str = argument(help="Lesson id, from `lessons list`.", metavar="ID")

    def change(self, done: str, **changes: str) -> int:
        """Change the lesson, and say so."""

        async def put(book: LessonBook) -> Lesson:
            lesson = (await _lesson(book, self.key)).model_copy(update=changes)
            await book.put(lesson)
            return lesson

        self.print_result(_as_json(self.use(put)), [f"{done}: {self.key}"])
        return ANSWERED


class EditOptions(LessonOptions):
    """The flags of `lessons edit`."""

    failed: str | None = flag(help="What failed.", metavar="TEXT")
    why: str | None = flag(help="Why it failed.", metavar="TEXT")
    worked: str | None = flag(help="What works instead.", metavar="TEXT")


def list_lessons(options: LessonsOptions) -> int:
    """List lessons, strongest first."""
    rows = [_as_json(lesson) for lesson in options.all()]
    lines = [
        f"{row['id']}  {'quarantine' if row['quarantined'] else 'in use'}  strength {row['strength']:.2f}  "
        f"used {row['used']}, helped {row['helped']}, hurt {row['hurt']}  {one_line(row['worked'])}"
        for row in rows
    ]
    options.print_result(rows, lines or ["no lessons yet"])
    return ANSWERED


def show(options: LessonOptions) -> int:
    """Show a lesson."""
    lesson = options.use(lambda book: _lesson(book, options.key))
    row, steps = _as_json(lesson), ", ".join(map(str, lesson.steps))
    standing = "confirmed by a person" if lesson.confirmed else "in use"
    if lesson.quarantined:
        standing = f"in quarantine; influenced by {', '.join(lesson.outside)}"
    lines = [
        f"lesson {lesson.id}: {standing}",
        lesson.text(),
        f"From: thread {lesson.thread}, task {lesson.number}, steps {steps or 'none'}",
        f"Made {lesson.made:%Y-%m-%d}; origin: {lesson.origin}",
        f"Found {lesson.found} times; shown to {lesson.used} tasks: helped {lesson.helped}, hurt "
        f"{lesson.hurt}; strength {row['strength']:.2f}",
    ]
    options.print_result(row, lines)
    return ANSWERED


def edit(options: EditOptions) -> int:
    """Reword a lesson. It stays in quarantine until you confirm it."""
    parts = {"failed": options.failed, "why": options.why, "worked": options.worked}
    changes = {name: text.strip() for name, text in parts.items() if text is not None}
    if not changes or not (changes.get("failed", "-") and changes.get("worked", "-")):
        raise CliError("give the new text with --failed, --why or --worked (`lessons drop` deletes a lesson)")
    return options.change("reworded", **changes)


def confirm(options: LessonOptions) -> int:
    """Release a lesson from quarantine."""
    return options.change("confirmed", confirmed="person")


def drop(options: LessonOptions) -> int:
    """Delete a lesson."""

    async def forget(book: LessonBook) -> None:
        await book.drop((await _lesson(book, options.key)).id)

    options.use(forget)
    options.print_result({"dropped": [options.key]}, [f"dropped: {options.key}"])
    return ANSWERED


def proposals(options: LessonsOptions) -> int:
    """List planning errors that only lessons name."""
    from forethought.knowledge.planning_errors import load_planning_errors
    from forethought.lessons.book import proposed_errors

    known = [error.name for error in load_planning_errors(settings_from(options).planning_errors_file)]
    lines: list[str] = []
    rows: list[dict[str, Any]] = []
    for name, lessons in proposed_errors(options.all(), known).items():
        rows.append({"error_type": name, "tasks": len(lessons), "named": [*map(_as_json, lessons)]})
        lines.append(f"{name}: named by {len(lessons)} lesson{'s' * (len(lessons) > 1)}")
        lines += [f"  {item.id} ({item.origin}): {one_line(item.failed, 200)}" for item in lessons]
    options.print_result(rows, lines or ["no lesson names an unknown planning error"])
    return ANSWERED


async def _lesson(book: LessonBook, key: str) -> Lesson:
    lesson = await book.get(key)
    if lesson is None:
        raise CliError(f"no lesson {one_line(key, 40)}; see: forethought lessons list")
    return lesson


def _as_json(lesson: Lesson) -> dict[str, Any]:
    from forethought.lessons.record import now_utc

    strength = round(lesson.strength(now_utc()), 3)
    return {**lesson.model_dump(mode="json"), "quarantined": lesson.quarantined, "strength": strength}


lessons_app.command("list")(typer_command(list_lessons))
for command in (show, edit, drop, confirm, proposals):
    lessons_app.command()(typer_command(command))
