"""What the tools for given files share: finding a file by its name, its content, and an answer about it."""

from __future__ import annotations

from collections.abc import Mapping

from forethought.tools.base import DocumentAnswer, Observation, ToolEnv, ToolError
from forethought.tools.files import FilesError, FileStore, relative_name

_LISTED = 30


def find_name(path: str, files: Mapping[str, str]) -> str:
    """The given file that `path` means: its name, or the only one equal but for case and folder."""
    if path in files:
        return path
    wanted = relative_name(path).casefold()
    own = wanted.rpartition("/")[2]
    alike = [name for name in files if name.casefold().rpartition("/")[2] == own]
    matches = [name for name in alike if f"/{name}".casefold().endswith(f"/{wanted}")] or alike
    if len(matches) == 1:
        return matches[0]
    some = sorted(matches or files)
    listed = ", ".join(some[:_LISTED]) + (f" and {len(some) - _LISTED:,} more" if len(some) > _LISTED else "")
    raise ToolError(
        f"several files are called {own}: {listed}"
        if matches
        else f"no file called {relative_name(path)} was given; given files: {listed or 'none'}",
        cause="not_found",
        hint="Use one of the given names exactly."
        if files
        else "Ask the user for the file, or use another tool.",
    )


def find_file(path: str, env: ToolEnv) -> tuple[FileStore, str, str]:
    """Where the given file that `path` means is: the storage, the content's hash, and its name."""
    entry = env.folders.entry(path) if env.folders and path not in env.files else None
    if entry is not None:  # of a folder, and not opened when it was indexed
        raise ToolError(f"{entry.name} {entry.reason}", cause="limit", hint="Work without it, and say so.")
    name = find_name(path, env.files)
    assert env.store is not None, "a run with files has a storage"
    return env.store, env.files[name], name


def stored_bytes(store: FileStore, content_hash: str, name: str) -> bytes:
    """The content of a stored file. Raises ToolError where it is gone or damaged."""
    try:
        return store.get(content_hash)
    except FilesError as error:
        raise ToolError(
            f"{name}: {error}", cause="not_found", hint="Ask the user for the file again."
        ) from error


def not_of_kind(data: bytes, name: str, what: str, hint: str) -> ToolError:
    """Why a file cannot be used as `what`: it is empty, or something else."""
    if not data:
        return ToolError(f"{name} is empty (0 bytes)", cause="empty", hint="Ask the user for the file again.")
    return ToolError(f"{name} is not {what}", cause="arguments", hint=hint)


def answer_about(name: str, heading: str, answer: DocumentAnswer, partial: bool = False) -> Observation:
    """The observation of an inspector's answer (PreFlect A.2) about the file `name`."""
    parts = (("Brief", answer.brief), ("Details", answer.details), ("Context", answer.context))
    lines = [heading, *(f"{label}: {text}" for label, text in parts if text)]
    return Observation("\n".join(lines), origin=f"file:{name}", partial=partial)
