"""The pages of evaluations: the report of a folder of `eval run`, each trial's steps, and its thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import quote

from jinja2 import ChoiceLoader, Environment, FileSystemLoader
from markupsafe import Markup
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from forethought.app.errors import CliError
from forethought.app.viewer.local_threads import LocalThreads
from forethought.app.viewer.run_data import run_data
from forethought.app.viewer.runs import Json, UnknownThread
from forethought.app.viewer.site import ROOT, environment, number, page
from forethought.evals.results import RESULTS_FILE, RUN_FILE, Result, ResultsError, read_evaluation
from forethought.extras import install_command
from forethought.json_files import FileError, read_object
from forethought.knowledge.yaml_files import load_file
from forethought.settings import read_settings
from forethought.storage import open_threads
from forethought.storage.address import file_address
from forethought.storage.errors import StorageError
from forethought.trajectories.types import Loaded

if TYPE_CHECKING:
    from forethought.storage.saver import ThreadSaver

STEPS_A_PAGE = 100


def named_folders(paths: Iterable[Path]) -> dict[str, Path]:
    """The evaluations at `paths`, by names for their addresses: folders of `eval run`, or folders of those.

    Raises CliError for one that holds none.
    """
    named: dict[str, Path] = {}
    for path in paths:
        found = [path] if (path / RUN_FILE).exists() else [run.parent for run in path.glob(f"*/{RUN_FILE}")]
        if not found:
            raise CliError(f"--evaluations {path}: no evaluation there; give a folder that `eval run` wrote")
        for folder in sorted(found):
            name = folder.resolve().name
            same = sum(one.partition("~")[0] == name for one in named)
            named[f"{name}~{same + 1}" if same else name] = folder
    return named


async def evaluations(request: Request) -> Response:
    """The evaluations that the viewer was started with."""
    entries = []
    for name, folder in _folders(request).items():
        try:
            entries.append({"name": name, "run": (await asyncio.to_thread(read_evaluation, folder)).run})
        except (ResultsError, FileError) as error:
            entries.append({"name": name, "problem": str(error)})
    return page("evaluations.html.j2", evaluations=entries)


async def evaluation(request: Request) -> Response:
    """The report on one evaluation."""
    name, folder = _named(request)
    try:
        values = await asyncio.to_thread(load_file, folder / RESULTS_FILE, _report)
    except ImportError:
        install = f"Install the packages for evaluations: {install_command('evals')}"
        return page("error.html.j2", 500, title="The report cannot be made", text=install)
    except (ResultsError, FileError) as error:
        return page("error.html.j2", 500, title="The report cannot be made", text=str(error))
    # A drawing in the page itself would need styles that the policy forbids.
    place = f"{ROOT}/evaluations/{quote(name)}/plots"
    plots = [
        (caption, Markup('<img alt="" src="{}">').format(f"{place}/{at}.svg"))
        for at, caption in enumerate(values["drawings"])
    ]
    template = _templates().get_template("evaluation.html.j2")
    return HTMLResponse(template.render(layout="page.html.j2", name=name, **{**values, "plots": plots}))


async def plot(request: Request) -> Response:
    """A plot of the report, by its number."""
    _, folder = _named(request)
    values = await asyncio.to_thread(load_file, folder / RESULTS_FILE, _report)
    drawings = list(values["drawings"].values())
    at = request.path_params["number"]
    if at >= len(drawings):
        raise HTTPException(404, "no such plot")
    return Response(drawings[at], media_type="image/svg+xml")


async def trial(request: Request) -> Response:
    """One trial of a sample, step by step: `method`, `sample` and `trial` name it."""
    name, folder = _named(request)
    try:
        result = _result(folder, request.query_params)
        path = (folder / result.trajectory).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise FileError(f"{result.trajectory} is not in the evaluation's folder")
        loaded = Loaded.model_validate(await asyncio.to_thread(read_object, path))
    except ValidationError:
        text = f"{result.trajectory} holds no trajectory of this release."
        return page("error.html.j2", 500, title="The trial cannot be shown", text=text)
    except (ResultsError, FileError) as error:
        return page("error.html.j2", 500, title="The trial cannot be shown", text=str(error))
    start = (max(number(request.query_params.get("page", "")), 1) - 1) * STEPS_A_PAGE
    thread_id = f"{result.method}--{result.sample}--{result.trial}"
    async with _threads(folder) as saver:
        own = saver is not None and await _is_our_own(saver, thread_id)
    return page(
        "trial.html.j2",
        name=name, result=result, trajectory=loaded.trajectory, reference=loaded.reference,
        start=start, size=STEPS_A_PAGE, thread=thread_id if own else "",
        query={name: request.query_params[name] for name in ("method", "sample", "trial")},
    )  # fmt: skip


async def thread(request: Request) -> Response:
    """A trial's thread, as the page of a run; nothing can be done with it here."""
    _, folder = _named(request)
    thread_id = request.path_params["thread"]
    async with _threads(folder) as saver:
        if saver is None or not await _is_our_own(saver, thread_id):
            raise UnknownThread(thread_id)
        data = await run_data(LocalThreads(saver, read_settings()), thread_id, whole=True)
    return page("run.html.j2", form={}, **data)


def _folders(request: Request) -> Mapping[str, Path]:
    folders: Mapping[str, Path] = getattr(request.app.state, "evaluations", {})
    return folders


def _named(request: Request) -> tuple[str, Path]:
    """The evaluation that the address names. Raises HTTPException."""
    name = request.path_params["name"]
    if name not in _folders(request):
        raise HTTPException(404, "no such evaluation")
    return name, _folders(request)[name]


def _result(folder: Path, query: Mapping[str, str]) -> Result:
    """The trial that a query names. Raises HTTPException where there is none with a trajectory."""
    wanted = tuple(query.get(name, "") for name in ("method", "sample", "trial"))
    for result in read_evaluation(folder).results:
        if (result.method, result.sample, str(result.trial)) == wanted and result.trajectory:
            return result
    raise HTTPException(404, "no such trial")


def _report(path: Path) -> Json:
    """The values of the report on the evaluation whose results are at `path`."""
    from forethought.app.eval.report import summary_for
    from forethought.evals.plots import PlotError, draw_all
    from forethought.evals.report.rows import figures_of
    from forethought.evals.report.write import page_values

    found = read_evaluation(path.parent)
    if not found.results:
        raise ResultsError(f"{path.parent}: no finished sample yet")
    figures = figures_of(found, summary_for(found, None))
    with TemporaryDirectory() as folder:
        try:
            drawn = draw_all(found, figures, Path(folder))
        except PlotError:  # without matplotlib
            drawn = {}
        drawings = {caption: drawing.read_bytes() for caption, drawing in drawn.items()}
    return {**page_values(found, figures), "drawings": drawings}


@lru_cache(maxsize=1)
def _templates() -> Environment:
    """The viewer's templates, and the report's."""
    from forethought.evals.report.write import FILTERS, TEMPLATES

    templates = environment()
    assert templates.loader is not None
    templates.loader = ChoiceLoader([templates.loader, FileSystemLoader(TEMPLATES)])
    templates.filters |= FILTERS
    return templates


@asynccontextmanager
async def _threads(folder: Path) -> AsyncIterator[ThreadSaver | None]:
    """The evaluation's own checkpoints; None where there are none that can be read."""
    path = folder / "threads.sqlite"
    async with AsyncExitStack() as opened:
        saver = None
        if path.exists():
            with suppress(StorageError):
                opening = open_threads(file_address(path), read_settings().key, create=False)
                saver = await opened.enter_async_context(opening)
        yield saver


async def _is_our_own(saver: ThreadSaver, thread_id: str) -> bool:
    """Whether there is this thread, and it is of the agent's graph: methods bring graphs of their own."""
    latest = await saver.aget_tuple({"configurable": {"thread_id": thread_id}})
    return latest is not None and "progress" in latest.checkpoint["channel_values"]


ROUTES = [
    Route("/evaluations", evaluations, name="evaluations"),
    Route("/evaluations/{name}", evaluation, name="evaluation"),
    Route("/evaluations/{name}/plots/{number:int}.svg", plot, name="plot"),
    Route("/evaluations/{name}/trial", trial, name="trial"),
    Route("/evaluations/{name}/threads/{thread}", thread, name="trial_thread"),
]
