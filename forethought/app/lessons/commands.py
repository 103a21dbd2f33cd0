"""The commands under `lessons` and their flags. What they do is in `forethought.app.lessons.lessons`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from forethought.app.lessons.lessons import Place

lessons_app = typer.Typer(
    help="What failed tasks have taught: list it, look at it, mend it, drop it, confirm it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Key = Annotated[str, typer.Argument(help="The lesson's id, as `lessons list` shows it.", metavar="ID")]
Db = Annotated[
    str | None,
    typer.Option("--db", help="Database of threads; the lessons are beside it.", metavar="URL"),
]
Collection = Annotated[
    str, typer.Option("--namespace", help="The collection (lesson_namespace of the runs).", metavar="NAME")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout.")]
Debug = Annotated[bool, typer.Option("--debug", help="Log the traceback of an error.")]


def _place(db: str | None, collection: str, debug: bool) -> Place:
    from forethought.app.command_flags import begin

    begin(debug)
    from forethought.app.lessons.lessons import Place
    from forethought.app.options import Flags

    return Place(Flags(db=db), collection)


@lessons_app.command("list")
def list_lessons(
    db: Db = None, namespace: Collection = "default", as_json: Json = False, debug: Debug = False
) -> int:
    """List the lessons, the strongest first."""
    place = _place(db, namespace, debug)
    from forethought.app.lessons import lessons

    return lessons.list_all(place, as_json)


@lessons_app.command()
def show(
    key: Key, db: Db = None, namespace: Collection = "default", as_json: Json = False, debug: Debug = False
) -> int:
    """Show a lesson: what it says, where it comes from, and what it did."""
    place = _place(db, namespace, debug)
    from forethought.app.lessons import lessons

    return lessons.show(place, key, as_json)


@lessons_app.command()
def edit(
    key: Key,
    failed: Annotated[str | None, typer.Option("--failed", help="What failed.", metavar="TEXT")] = None,
    why: Annotated[str | None, typer.Option("--why", help="Why it failed.", metavar="TEXT")] = None,
    worked: Annotated[
        str | None, typer.Option("--worked", help="What works instead.", metavar="TEXT")
    ] = None,
    db: Db = None,
    namespace: Collection = "default",
    debug: Debug = False,
) -> int:
    """Word a lesson anew. One in quarantine stays there until it is confirmed."""
    place = _place(db, namespace, debug)
    from forethought.app.lessons import lessons

    return lessons.edit(place, key, {"failed": failed, "why": why, "worked": worked})


@lessons_app.command()
def drop(
    keys: Annotated[list[str], typer.Argument(help="Ids of lessons.", metavar="ID...")],
    db: Db = None,
    namespace: Collection = "default",
    debug: Debug = False,
) -> int:
    """Forget lessons."""
    place = _place(db, namespace, debug)
    from forethought.app.lessons import lessons

    return lessons.drop(place, keys)


@lessons_app.command()
def confirm(key: Key, db: Db = None, namespace: Collection = "default", debug: Debug = False) -> int:
    """Let a lesson out of quarantine: you have read it, and it may be shown to later tasks."""
    place = _place(db, namespace, debug)
    from forethought.app.lessons import lessons

    return lessons.confirm(place, key)


@lessons_app.command()
def proposals(as_json: Json = False, debug: Debug = False) -> int:
    """List planning errors that failed tasks have named and the known ones lack."""
    place = _place(None, "default", debug)
    from forethought.app.lessons import lessons

    return lessons.list_proposals(place, as_json)
