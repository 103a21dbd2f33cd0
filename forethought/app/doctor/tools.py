"""doctor, tool by tool: each one of the run's tools is `ready`, or `lacks` something that the line names.

A built-in tool has a trial in `TRIALS`: it does a little of what the tool does, needs no network, and returns
in a few words what it found; it raises `Lacks` where something is missing, with the command that mends it.
Tools of the operator's own are ready when their module could be loaded.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Callable, Iterator, Mapping

from forethought.app.doctor.checks import Check, tried, why
from forethought.app.doctor.samples import SAMPLES, WORD
from forethought.app.text import one_line
from forethought.settings import Settings

Trial = Callable[[Settings], str]


class Lacks(Exception):
    """What a tool needs and does not find, and how it is got."""


def tool_checks(settings: Settings) -> Iterator[Check]:
    """A line a tool: `tool NAME`, `ready: ...` or `lacks ...`."""
    from forethought.tools.registry import toolbox

    try:
        names = list(toolbox(settings))
    except ValueError as error:
        yield Check("tools", False, f"lacks a usable module of tools: {one_line(error, 250)}")
        names = list(toolbox(settings.model_copy(update={"tools": None})))
    for name in names:
        yield _tried(name, TRIALS.get(name, _own), settings)
    if settings.mcp_file is not None:
        yield tried("MCP servers", lambda: _mcp(settings))


def _mcp(settings: Settings) -> str:
    from forethought.tools.mcp import mcp_tools
    from forethought.tools.mcp_settings import read_servers

    assert settings.mcp_file is not None
    found = asyncio.run(mcp_tools(read_servers(settings.mcp_file)))
    return f"ready: {one_line(', '.join(tool.name for tool in found), 200) or 'no tools'}"


def needs(module: str, install: str) -> None:
    """Raises Lacks, with the command that installs it, when a Python module is not there."""
    if importlib.util.find_spec(module) is None:
        raise Lacks(f"the package {module}: {install}")


def _tried(name: str, trial: Trial, settings: Settings) -> Check:
    try:
        return Check(f"tool {name}", True, f"ready: {trial(settings)}")
    except Lacks as error:
        return Check(f"tool {name}", False, f"lacks {one_line(error, 250)}")
    except Exception as error:
        # As for every check: whatever breaks is what a person wants to be told.
        return Check(f"tool {name}", False, f"lacks a working installation: {why(error)}")


def _own(settings: Settings) -> str:
    return "loaded"


def _read_file(settings: Settings) -> str:
    from forethought.tools.documents.load import read_document

    if WORD not in read_document(SAMPLES["txt"](), "sample.txt").text:
        raise Lacks("a reader that finds the text of a file: reinstall forethought")
    return "reads given files; the lines on formats say which"


def _inspect_image(settings: Settings) -> str:
    needs("PIL", "pip install pillow")
    import io

    from PIL import Image

    from forethought.tools.media.picture import prepare

    sample = io.BytesIO()
    Image.new("RGB", (8, 8), "white").save(sample, "PNG")
    shown = prepare(sample.getvalue(), "sample.png").image.mime
    return f"shows pictures ({shown}) to the vision model, if that can see"


def _inspect_audio(settings: Settings) -> str:
    from forethought.tools.media.sound import has_ffmpeg
    from forethought.tools.media.transcribe import transcribers, transcription_lacks
    from forethought.tools.media.whisper import weights

    if lacks := transcription_lacks(settings):
        raise Lacks(f"a way to transcribe: {lacks}")
    if transcribers(settings)[0].name == "openai":
        return f"the transcription endpoint's {settings.transcription_model}"
    if not has_ffmpeg():
        raise Lacks("ffmpeg, from the system's packages; until then only 16-bit wav can be heard")
    if not (file := weights(settings.whisper_model)).is_file():
        raise Lacks(
            f"the weights of whisper model {settings.whisper_model} ({file}): a named model is downloaded at "
            "its first use; or set FORETHOUGHT_WHISPER_MODEL to the path of a checkpoint"
        )
    return f"whisper ({settings.whisper_model}) on this machine"


def _python(settings: Settings) -> str:
    from forethought.tools.base import ToolEnv, ToolError
    from forethought.tools.python import python

    try:
        result = asyncio.run(python(ToolEnv(settings=settings), "1+1")).text.strip()
    except ToolError as error:
        raise Lacks(f"a sandbox: {error.message} ({error.hint})") from error
    if result != "2":
        raise Lacks(f"a working sandbox: 1+1 gave {one_line(result, 80)}")
    return f"1+1 is 2 in the sandbox ({settings.python_backend})"


def _web_search(settings: Settings) -> str:
    from forethought.tools.web.engines import engines

    if settings.tavily_api_key is not None:
        needs("tavily", "pip install tavily-python")
    needs("ddgs", "pip install ddgs (or set TAVILY_API_KEY or FORETHOUGHT_SEARXNG_URL)")
    names = ", then ".join(engine.name for engine in engines(settings))
    return names + (" (TAVILY_API_KEY is not set)" if settings.tavily_api_key is None else "")


def _visit_webpage(settings: Settings) -> str:
    for module in ("trafilatura", "markdownify"):
        needs(module, f"pip install {module}")
    opened = ", ".join(settings.allowed_hosts)
    return "public addresses" + (f", and the private hosts {opened}" if opened else "")


def _ask_user(settings: Settings) -> str:
    return "asks at the terminal, or waits for `forethought resume --reply`"


TRIALS: Mapping[str, Trial] = {
    "read_file": _read_file,
    "inspect_image": _inspect_image,
    "inspect_audio": _inspect_audio,
    "python": _python,
    "web_search": _web_search,
    "visit_webpage": _visit_webpage,
    "ask_user": _ask_user,
}
