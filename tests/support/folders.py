"""Folders of files, as a run is given them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from forethought.settings import Settings
from forethought.state.folder import FolderRef
from forethought.tools.base import ToolEnv
from forethought.tools.files import FileStore
from forethought.tools.folders.given import access
from forethought.tools.folders.intake import index_folder


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """The folder `root` with these files."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def settings_in(folder: Path) -> Settings:
    """Settings that keep everything in `folder`."""
    return Settings(data_dir=folder / "data")


def indexed(root: Path, settings: Settings) -> FolderRef:
    """The folder as a run's state names it."""
    return index_folder(root, settings)[0]


def env_of(*refs: FolderRef, settings: Settings, **files: str) -> ToolEnv:
    """What tools may use of a run that was given these folders and files."""
    store = FileStore.of(settings)
    given = [{"name": name, "hash": store.put(text.encode())} for name, text in files.items()]
    return ToolEnv(settings=settings, **access(given, refs, settings, store))  # type: ignore[arg-type]
