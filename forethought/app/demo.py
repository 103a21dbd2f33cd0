"""`forethought run --demo`: a real task on real files, with model replies that were recorded in a real run.

Everything but the model is live: the graph, the tools, the thread, the display.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from forethought.app.display import make_console
from forethought.app.errors import CliError
from forethought.app.options import settings_from
from forethought.app.run import drive, import_files
from forethought.app.text import one_line
from forethought.app.threads.thread import Thread, new_thread_id
from forethought.app.transport import choose_transport

if TYPE_CHECKING:
    from forethought.app.commands import RunOptions

_LIVE_MODEL = "openai:gpt-4.1"


def run_demo(options: RunOptions) -> int:
    """Run the packaged example. Raises CliError when a task comes with it, or its files are not there."""
    if options.task or options.files or options.record or options.replay:
        raise CliError(
            "--demo brings its own task, files and recording: leave TASK, --file, --record and --replay out"
        )
    if options.model or options.base_url or options.sets or options.tools:
        raise CliError(
            "--demo replays a recorded run: --model, --base-url, --set and --tools would not change it"
        )
    folder = demo_folder()
    task, files, recording = read_demo(folder)
    answering = choose_transport(None, recording, {})
    if not options.as_json:
        _introduce(folder, files, answering.header)
    references = import_files(files, settings_from(options))

    async def begin(thread: Thread) -> dict[str, Any]:
        return {"task": task, "files": references}

    replayed = options.model_copy(update={"replay": recording})
    return drive(new_thread_id(), replayed, answering, begin, options.as_json)


def demo_folder() -> Path:
    """The example's folder: beside the packages in a checkout, inside this package when installed."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package.parent / "demo", package / "_demo"):
        if (folder / "question.txt").is_file():
            return folder
    raise CliError("the demo's files are not installed; install forethought again")


def read_demo(folder: Path) -> tuple[str, list[Path], Path]:
    """The task, its files and the recording. Raises CliError when there is no recording."""
    recording = folder / "recording.jsonl"
    if not recording.is_file():
        raise CliError(f"the demo's recording is missing: {recording}")
    files = sorted(path for path in (folder / "files").iterdir() if path.is_file())
    return (folder / "question.txt").read_text("utf-8").strip(), files, recording


def _introduce(folder: Path, files: list[Path], header: Mapping[str, Any]) -> None:
    console = make_console()
    model = one_line(header.get("model") or "a model", 60)
    lines = [
        f"The model's replies in this demo are recorded, from a real run of {model} with these very prompts.",
        "Everything else happens now: the graph, the tools, the files, the thread.",
    ]
    if header.get("planted_first_plan"):
        lines.append("The first plan was planted: a hasty one, to show what the reflector does with it.")
    shown = _near(folder)
    names = " ".join(f"--file {shlex.quote(str(_near(path)))}" for path in files)
    lines.append("To run it live, with your own key:")
    live = (
        f'  forethought run "$(cat {shlex.quote(str(shown / "question.txt"))})" {names} --model {_LIVE_MODEL}'
    )
    for line in lines:
        console.print(Text(line, style="dim"))
    console.print(Text(live, style="dim"), soft_wrap=True)
    console.print()


def _near(path: Path) -> Path:
    """The path as seen from here, where it lies below."""
    here = Path.cwd().resolve()
    return path.relative_to(here) if path.is_relative_to(here) else path
