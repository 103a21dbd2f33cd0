"""`run --demo`: a real task on real files, with recorded model replies; `run --demo folder`: on 300 files.

Everything but the model is live: the graph, the tools, the thread, the display.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from forethought.app.display import make_console
from forethought.app.errors import CliError
from forethought.app.files import input_files
from forethought.app.options import settings_from
from forethought.app.run import drive
from forethought.app.text import one_line
from forethought.app.threads.thread import Thread, new_thread_id, read_recording
from forethought.settings import VARIABLES

if TYPE_CHECKING:
    from forethought.app.run import RunOptions

FOLDER = "folder"
"""The demo on a folder, as the TASK beside --demo."""
_KEPT = {
    f"FORETHOUGHT_{name}"
    for name in ("DATA_DIR", "DB", "ENCRYPTION_KEY", "LOG_FORMAT", "LOG_LEVEL", "TRACING")
}
"""Settings that change no prompt. The demo ignores the others, which the recording would not fit."""


def run_demo(options: RunOptions) -> int:
    """Run the packaged example. Raises CliError where other flags come with it."""
    allowed = {"demo", "as_json", "debug", "db"} | ({"task"} if options.task == FOLDER else set())
    if options.model_dump(exclude_defaults=True).keys() - allowed:
        raise CliError("--demo has its own task and files: leave out all flags except --db and --json")
    for name in VARIABLES.keys() - _KEPT:
        os.environ.pop(name, None)
    settings = settings_from(options)
    on_folder = options.task == FOLDER
    header = read_recording(demo_folder() / ("folder.jsonl" if on_folder else "recording.jsonl")).header
    demo = folder_demo(settings.data_dir) if on_folder else choir_demo()
    given = input_files(list(map(str, demo.files)), settings)
    if not options.as_json:
        flags = [flag for path in demo.files for flag in ("--file", os.path.relpath(path))]
        model = one_line(header.get("model"), 60)
        lines = [f"The model's replies were recorded in a real run of {model}; everything else runs live."]
        if header.get("planted_first_plan"):
            lines.append("The first plan was planted: it is hasty, to show the reflector at work.")
        lines.append("To run it with a live model and your own key:")
        lines.append(f"  forethought run {demo.typed} {shlex.join(flags)} --model openai:gpt-4.1\n")
        for line in lines:
            make_console().print(Text(line, style="dim"), soft_wrap=True)

    async def begin(thread: Thread) -> dict[str, Any]:
        return {"task": demo.task, **given.channels}

    replayed = options.model_copy(update={"replay": demo.recording, "task": None})
    return drive(new_thread_id(), replayed, begin)


@dataclass(frozen=True)
class Demo:
    """A task with its files and the recording of a run."""

    task: str
    typed: str
    """The task as an argument in a shell."""
    files: list[Path]
    recording: Path


def choir_demo() -> Demo:
    """Three documents of a choir."""
    folder = demo_folder()
    question = folder / "question.txt"
    files = sorted(path for path in (folder / "files").iterdir() if path.is_file())
    typed = f'"$(cat {shlex.quote(os.path.relpath(question))})"'
    return Demo(question.read_text("utf-8").strip(), typed, files, folder / "recording.jsonl")


def folder_demo(data: Path) -> Demo:
    """A folder of 300 files, generated below `data` at the first use."""
    from forethought.evals.benchmarks.folders.benchmark import make, write_folder
    from forethought.evals.benchmarks.folders.making import DEMO

    path = data / "demo" / DEMO.name
    write_folder(path, DEMO, "demo")
    task = make(DEMO, "demo", filled=False).questions[0].text
    return Demo(task, shlex.quote(task), [path], demo_folder() / "folder.jsonl")


def demo_folder() -> Path:
    """The example's folder: beside the packages in a checkout, inside this package when installed."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package.parent / "demo", package / "_demo"):
        if (folder / "question.txt").is_file():
            return folder
    raise CliError("the demo's files are missing; reinstall forethought")
