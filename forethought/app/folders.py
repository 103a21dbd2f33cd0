"""files: the folders that were read, and their removal."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from forethought.app.command_flags import CommandOptions, argument, typer_command
from forethought.app.errors import ANSWERED, CliError
from forethought.app.options import settings_from
from forethought.app.text import one_line

files_app = typer.Typer(
    help="List or forget folders that were given with --file.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class ListOptions(CommandOptions):
    """The flags of `files list`."""


class ForgetOptions(CommandOptions):
    """The flags of `files forget`."""

    folder: str = argument(help="The folder's path, or `all`.", metavar="FOLDER")


def list_files(options: ListOptions) -> int:
    """List the folders that were read."""
    from forethought.tools.folders.places import kept_folders

    kept = [(folder.root, *folder.counts, folder.disk) for folder in kept_folders(settings_from(options))]
    names = ("folder", "files", "unreadable", "bytes", "index_bytes")
    lines = [
        f"{one_line(root)}: {files:,} files ({size:,} bytes), {unreadable:,} unreadable; index {disk:,} bytes"
        for root, files, unreadable, size, disk in kept
    ]
    records = [dict(zip(names, (str(row[0]), *row[1:]), strict=True)) for row in kept]
    options.print_result(records, lines or ["no folders"])
    return ANSWERED


def forget(options: ForgetOptions) -> int:
    """Delete the index of a folder and what read_each read there, not the folder."""
    from forethought.tools.each.store import stored_readings
    from forethought.tools.files import FileStore
    from forethought.tools.folders.places import kept_folders

    settings = settings_from(options)
    wanted = Path(os.path.expanduser(options.folder)).resolve()
    kept = kept_folders(settings)
    chosen = [folder for folder in kept if options.folder == "all" or folder.root == wanted]
    if not chosen:
        raise CliError(
            f"{one_line(options.folder)}: no such folder was read; forethought files list names all"
        )
    for folder in chosen:
        with stored_readings(FileStore.of(settings)) as readings:
            if readings:
                contents = folder.contents()
                names = {name for each in contents for name in (each, f"{folder.root.name}/{each}")}
                readings.forget(contents.values(), names)
        folder.forget()
    options.print_result(
        [str(folder.root) for folder in chosen], [f"forgotten: {one_line(folder.root)}" for folder in chosen]
    )
    return ANSWERED


files_app.command("list")(typer_command(list_files))
files_app.command("forget")(typer_command(forget))
