"""experience: advice from people and failures, to be reviewed by a person."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from pydantic import TypeAdapter, ValidationError

from forethought.app.command_flags import CommandOptions, argument, flag, typer_command
from forethought.app.errors import ANSWERED, CliError
from forethought.app.options import settings_from
from forethought.app.text import one_line, to_json
from forethought.settings import Settings, reason_of
from forethought.state.context import Namespace
from forethought.storage import EXPERIENCE, address_of, open_experience
from forethought.text import how_many

if TYPE_CHECKING:
    from forethought.experience.advice import Advice
    from forethought.experience.book import Book

T = TypeVar("T")
experience_app = typer.Typer(
    help="List, edit, confirm, drop or move advice.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@asynccontextmanager
async def open_own_book(settings: Settings, namespace: str) -> AsyncIterator[Book]:
    """The advice of the person at this machine. Its file is created if it is missing."""
    from forethought.experience.book import Book, namespace_of
    from forethought.users import LOCAL_USER

    async with open_experience(address_of(settings)) as store:
        yield Book(store, namespace_of(LOCAL_USER, namespace))


class ExperienceOptions(CommandOptions):
    """The flags of every command on experience."""

    offers = "db"

    namespace: str = flag(
        help="Collection of advice (`experience_namespace`).", metavar="NAME", default="default"
    )

    def use(self, work: Callable[[Book], Awaitable[T]]) -> T:
        """Open the advice for `work`, and return its result. Raises CliError for a wrong namespace."""
        try:
            namespace = TypeAdapter(Namespace).validate_python(self.namespace)
        except ValidationError as error:
            reason = reason_of(error.errors()[0])
            raise CliError(f"--namespace {one_line(self.namespace, 40)!r}: {reason}") from error

        async def opened() -> T:
            async with open_own_book(settings_from(self), namespace) as book:
                return await work(book)

        return asyncio.run(opened())

    def all(self) -> list[Advice]:
        """The advice, first that in use; none before the first one."""
        is_there = address_of(settings_from(self)).beside(EXPERIENCE).exists
        found = self.use(lambda book: book.all()) if is_there else []
        return sorted(found, key=lambda one: (not one.in_use, one.state, one.made, one.id))


class ListOptions(ExperienceOptions):
    """The flags of `experience list`."""

    packaged: bool = flag(help="List the packaged planning errors too.", default=False)


class AdviceOptions(ExperienceOptions):
    """The flags of a command on one advice."""

    key: str = argument(help="Advice id, from `experience list`.", metavar="ID")

    def change(self, done: str, **changes: str) -> int:
        """Change the advice, and say so. Raises CliError."""
        from forethought.experience.advice import Advice

        async def put(book: Book) -> Advice:
            old = await _advice(book, self.key)
            try:
                new = Advice.model_validate({**old.model_dump(), **changes})
            except ValidationError as error:
                raise CliError(reason_of(error.errors()[0])) from error
            await book.put(new)
            return new

        self.print_result(self.use(put).model_dump(mode="json"), [f"{done}: {self.key}"])
        return ANSWERED


class EditOptions(AdviceOptions):
    """The flags of `experience edit`."""

    name: str | None = flag(help="Name, such as gross_amounts.", metavar="NAME")
    applies: str | None = flag(help="When it applies.", metavar="TEXT")
    wrong: str | None = flag(help="What goes wrong.", metavar="TEXT")
    instead: str | None = flag(help="What to do instead, in a sentence that names its case.", metavar="TEXT")


class FileOptions(ExperienceOptions):
    """The flags of `experience export` and `import`."""

    file: Path = argument(help="File.", metavar="FILE")


def list_advice(options: ListOptions) -> int:
    """List advice, first that in use."""
    from forethought.app.experience_import import packaged

    file = settings_from(options).planning_errors_file
    found = [*options.all(), *(packaged(file) if options.packaged else ())]
    lines = [
        f"{one.id}  {one.state:<11}  {one.kind:<5}  shown {one.shown}, applied {one.applied}, helped "
        f"{one.helped}, harmed {one.harmed}  {one.name}: {one_line(one.instead)}"
        for one in found
    ]
    nothing = ["nothing was taught yet; in forethought chat, use /remember RULE"]
    options.print_result([one.model_dump(mode="json") for one in found], lines or nothing)
    return ANSWERED


def show(options: AdviceOptions) -> int:
    """Show an advice with its evidence and its effect."""
    one = options.use(lambda book: _advice(book, options.key))
    options.print_result(one.model_dump(mode="json"), list(_described(one)))
    return ANSWERED


def edit(options: EditOptions) -> int:
    """Reword an advice."""
    parts = {name: getattr(options, name) for name in ("name", "applies", "wrong", "instead")}
    changes = {name: text for name, text in parts.items() if text is not None}
    if not changes:
        raise CliError("give the new text with --name, --applies, --wrong or --instead")
    return options.change("reworded", **changes)


def confirm(options: AdviceOptions) -> int:
    """Adopt an advice, such as one in quarantine or on probation."""
    return options.change("adopted", state="adopted")


def drop(options: AdviceOptions) -> int:
    """Stop to use an advice."""
    return options.change("dropped", state="dropped")


def export(options: FileOptions) -> int:
    """Write all advice to a JSON file."""
    rows = [one.model_dump(mode="json") for one in options.all()]
    try:
        options.file.write_text(to_json(rows) + "\n", "utf-8")
    except OSError as error:
        raise CliError(f"{options.file}: {error.strerror}; name another file") from error
    options.print_result({"exported": len(rows)}, [f"exported: {len(rows)} to {options.file}"])
    return ANSWERED


def import_advice(options: FileOptions) -> int:
    """Import an export, planning errors (.yaml), guidance (.txt), or `lessons` of an earlier version."""
    from forethought.app.experience_import import imported

    found = asyncio.run(imported(options.file, settings_from(options), options.namespace))

    async def put(book: Book) -> int:
        known = {one.id for one in await book.all()}
        new = [one for one in found if one.id not in known]
        for one in new:
            await book.put(one)
        return len(new)

    added = options.use(put)
    options.print_result({"imported": added}, [f"imported: {added} of {len(found)}; the rest was known"])
    return ANSWERED


async def _advice(book: Book, key: str) -> Advice:
    advice = await book.get(key)
    if advice is None:
        raise CliError(f"no advice {one_line(key, 40)}; see: forethought experience list")
    return advice


def _described(one: Advice) -> Any:
    """The lines that show an advice."""
    state = f"{one.state}: based on text from {', '.join(one.outside)}" if one.outside else one.state
    yield f"{one.name} ({one.kind}, {state})"
    names = ("applies", "wrong", "instead", "failure", "success")
    yield from (f"{name.capitalize()}: {getattr(one, name)}" for name in names if getattr(one, name))
    steps = f", steps {', '.join(map(str, one.steps))}" if one.steps else ""
    place = f", thread {one.thread}, task {one.number}{steps}" if one.thread else ""
    yield f"From: {one.source}{place}, {one.made:%Y-%m-%d}"
    if one.proof.runs:
        proof = one.proof
        yield (
            f"Proof: {proof.status}; {proof.flips} of {proof.runs} re-runs became right with it, "
            f"{proof.control_flips} of {proof.control_runs} without it"
        )
    if one.gate.runs:
        yield f"Gate: prevented {one.gate.prevented}, broke {one.gate.broken} of {one.gate.runs} plans"
    shown = how_many(one.shown, "task")
    yield f"Shown to {shown}: applied {one.applied}, helped {one.helped}, harmed {one.harmed}"
    if one.replaced_by:
        yield f"Replaced by: {one.replaced_by}"
    if one.replaces:
        yield f"Replaces: {', '.join(one.replaces)}"


experience_app.command("list")(typer_command(list_advice))
for command in (show, edit, confirm, drop, export):
    experience_app.command()(typer_command(command))
experience_app.command("import")(typer_command(import_advice))
