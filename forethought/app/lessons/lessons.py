"""lessons: what is kept of failed tasks, for a person to look at, mend, drop and confirm."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pydantic import TypeAdapter, ValidationError
from rich.table import Table
from rich.text import Text

from forethought.app.display import make_console
from forethought.app.errors import ANSWERED, CliError
from forethought.app.options import Flags, settings_from
from forethought.app.text import clean, one_line, to_json
from forethought.json_files import FileError
from forethought.knowledge.planning_errors import load_planning_errors
from forethought.lessons.book import LOCAL_USER, LessonBook, namespace_of
from forethought.lessons.proposals import candidates, review_file
from forethought.lessons.record import WITNESSES, Lesson, now_utc
from forethought.state.context import Namespace
from forethought.storage import address_of, open_lessons
from forethought.storage.opening import LESSONS

_HEAD = 100


@dataclass(frozen=True)
class Place:
    """Which lessons: the database's, and the collection's in it."""

    flags: Flags
    collection: str

    @asynccontextmanager
    async def open(self) -> AsyncIterator[LessonBook]:
        """The lessons. Raises CliError where there are none yet, or the collection's name is no name."""
        try:
            TypeAdapter(Namespace).validate_python(self.collection)
        except ValidationError as error:
            raise CliError(
                f"--namespace {one_line(self.collection, 40)!r}: use letters, digits, _ and -, at most 64"
            ) from error
        settings = settings_from(self.flags)
        async with open_lessons(address_of(settings), create=False) as store:
            yield LessonBook(store, namespace_of(LOCAL_USER, self.collection))


def list_all(place: Place, as_json: bool) -> int:
    """List them, the strongest first. No file is an empty list, not an error."""
    now = now_utc()

    async def read() -> list[Lesson]:
        async with place.open() as book:
            return await book.all()

    address = address_of(settings_from(place.flags)).beside(LESSONS)
    found = asyncio.run(read()) if address.exists else []
    found.sort(key=lambda lesson: (lesson.quarantined, -lesson.strength(now), lesson.id))
    if as_json:
        print(to_json([_record(lesson) for lesson in found]))
        return ANSWERED
    make_console().print(_table(found) if found else Text(f"no lessons yet in {clean(address.shown)}"))
    return ANSWERED


def show(place: Place, key: str, as_json: bool) -> int:
    """Show one with its provenance."""

    async def read() -> Lesson:
        async with place.open() as book:
            return await _found(book, key)

    lesson = asyncio.run(read())
    if as_json:
        print(to_json(_record(lesson)))
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
    make_console().print(Text(clean("\n".join(lines))))
    return ANSWERED


def edit(place: Place, key: str, parts: Mapping[str, str | None]) -> int:
    """Word it anew. Raises CliError when nothing, or an empty text, is given."""
    given = {name: text.strip() for name, text in parts.items() if text is not None}
    if not given:
        raise CliError("say what is to change: --failed, --why or --worked, with the new text")
    for name in ("failed", "worked"):
        if given.get(name) == "":
            raise CliError(f"--{name} is empty; to forget a lesson: forethought lessons drop {key}")
    return _change(place, key, given, "worded anew")


def confirm(place: Place, key: str) -> int:
    """A person vouches for it."""
    return _change(place, key, {"confirmed": "person"}, "confirmed")


def drop(place: Place, keys: Sequence[str]) -> int:
    """Forget them: all, or none if one is unknown."""

    async def forget() -> None:
        async with place.open() as book:
            lessons = [await _found(book, key) for key in keys]
            for lesson in lessons:
                await book.drop(lesson.id)

    asyncio.run(forget())
    make_console().print(Text(f"dropped: {', '.join(clean(key) for key in keys)}"))
    return ANSWERED


def list_proposals(place: Place, as_json: bool) -> int:
    """List error types that are proposed, those that most tasks named first. Raises CliError, OSError."""
    settings = settings_from(place.flags)
    path = review_file(settings.data_dir)
    try:
        known = [error.name for error in load_planning_errors(settings.planning_errors_file)]
    except FileError as error:
        raise CliError(str(error)) from error
    found = candidates(path, known)
    if as_json:
        print(to_json([item.model_dump(mode="json") for item in found]))
        return ANSWERED
    console = make_console()
    if not found:
        console.print(Text(f"no proposals in {clean(path)}"))
    for item in found:
        console.print(Text(f"{clean(item.error_type)}: named by {item.tasks} task{'s' * (item.tasks > 1)}"))
        for named in item.named:
            where = f"{named.thread}/{named.number} ({named.by}; {named.origin})"
            console.print(Text(clean(f"  {where}: {one_line(named.evidence, 200)}")))
    return ANSWERED


def _change(place: Place, key: str, changes: Mapping[str, str], done: str) -> int:
    async def change() -> None:
        async with place.open() as book:
            lesson = await _found(book, key)
            await book.put(lesson.model_copy(update=dict(changes)))

    asyncio.run(change())
    make_console().print(Text(f"{done}: {clean(key)}"))
    return ANSWERED


async def _found(book: LessonBook, key: str) -> Lesson:
    lesson = await book.get(key)
    if lesson is None:
        raise CliError(f"no lesson {one_line(key, 40)}; `forethought lessons list` lists those there are")
    return lesson


def _record(lesson: Lesson) -> dict[str, object]:
    strength = round(lesson.strength(now_utc()), 3)
    return {**lesson.model_dump(mode="json"), "quarantined": lesson.quarantined, "strength": strength}


def _standing(lesson: Lesson) -> str:
    if lesson.quarantined:
        said = f"in quarantine, {len(lesson.witnesses)} of {WITNESSES} witnesses"
        return f"{said}; made under the influence of {', '.join(lesson.outside)}"
    by = {"person": "confirmed by a person", "threads": "confirmed by other threads"}
    return by.get(lesson.confirmed, "in use")


def _table(lessons: Sequence[Lesson]) -> Table:
    now = now_utc()
    table = Table(box=None, padding=(0, 1), header_style="dim")
    for name in ("lesson", "strength", "used", "helped", "hurt", "standing", "what works"):
        table.add_column(name, no_wrap=name != "what works", overflow="fold")
    for lesson in lessons:
        standing = "quarantine" if lesson.quarantined else "in use"
        counts = (str(lesson.used), str(lesson.helped), str(lesson.hurt))
        cells = (lesson.id, f"{lesson.strength(now):.2f}", *counts, standing, one_line(lesson.worked, _HEAD))
        table.add_row(*(Text(clean(cell)) for cell in cells))
    return table
