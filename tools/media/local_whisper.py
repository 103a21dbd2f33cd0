"""Speech as text on this machine, with openai-whisper (the extra `audio`)."""

from __future__ import annotations

import importlib.util
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forethought.models.transcription import Segment, Transcript
from forethought.text import one_line
from forethought.tools.base import ToolError
from forethought.tools.media.decode import RATE

if TYPE_CHECKING:
    from forethought.tools.media.decode import Samples

INSTALL = "pip install 'forethought[audio]'"
_FILES = {"large": "large-v3", "turbo": "large-v3-turbo"}
"""Names that stand for a file of another name."""

_lock = threading.Lock()
_loaded: dict[str, Any] = {}
"""The last model used, by its name: loading takes seconds and memory."""


def whisper_lacks() -> str:
    """What keeps whisper from being used, weights aside; '' if nothing does."""
    there = importlib.util.find_spec("whisper") is not None
    return "" if there else f"openai-whisper is not installed: {INSTALL}"


def weights(model: str) -> Path:
    """Where the weights of `model` (a name, or a path to a checkpoint) are, or will be once downloaded."""
    if _is_path(model):
        return Path(model)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "whisper" / f"{_FILES.get(model, model)}.pt"


def transcribe_here(samples: Samples, model: str) -> Transcript:
    """The transcript of `samples`. Blocking, one at a time: a model keeps what it is just doing in itself.

    Raises ToolError when whisper or its weights are missing.
    """
    if lacks := whisper_lacks():
        raise ToolError(lacks, cause="unavailable")
    with _lock:
        loaded = _model(model)
        half = str(getattr(loaded, "device", "cpu")).startswith("cuda")
        heard: dict[str, Any] = loaded.transcribe(samples, fp16=half, verbose=None)
    seconds = len(samples) / RATE
    # It hears in windows of 30 seconds, and may give times beyond the end of the last one's sound.
    segments = tuple(
        Segment(min(float(item["start"]), seconds), min(float(item["end"]), seconds), str(item["text"]))
        for item in heard["segments"]
    )
    shown = Path(model).stem if _is_path(model) else model
    return Transcript(segments, seconds, str(heard.get("language") or ""), f"whisper ({shown})")


def _is_path(model: str) -> bool:
    return os.sep in model or model.endswith(".pt")


def _model(model: str) -> Any:
    if model in _loaded:
        return _loaded[model]
    if _is_path(model) and not Path(model).is_file():
        raise _unavailable(model, "there is no such file")
    try:
        import whisper

        made = whisper.load_model(model)
    except ImportError as error:
        raise ToolError(f"whisper cannot be loaded ({error}): {INSTALL}", cause="unavailable") from error
    except OSError as error:  # urllib's errors are of this kind: no network, or no disk
        reason = str(getattr(error, "reason", "") or error.strerror or error)
        raise _unavailable(
            model, f"they are not on this machine and cannot be downloaded ({reason})"
        ) from error
    # A broken checkpoint is reported by torch, pickle or zipfile, each in its own way.
    except Exception as error:
        raise _unavailable(model, f"{type(error).__name__}: {one_line(error, 200)}") from error
    _loaded.clear()
    _loaded[model] = made
    return made


def _unavailable(model: str, why: str) -> ToolError:
    return ToolError(
        f"the weights of whisper model {model} cannot be used: {why}",
        cause="unavailable",
        hint="The operator sets FORETHOUGHT_WHISPER_MODEL to the path of a checkpoint, or lets the machine "
        "download one once.",
    )
