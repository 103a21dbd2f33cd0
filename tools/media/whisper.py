"""Speech as text on this machine, with openai-whisper (the extra `audio`)."""

from __future__ import annotations

import importlib.util
import os
import threading
from pathlib import Path
from typing import Any

from forethought.settings import Settings
from forethought.text import one_line
from forethought.tools.base import ToolError
from forethought.tools.media.sound import RATE, Sound
from forethought.tools.media.transcript import Segment, Transcriber, Transcript

INSTALL = "pip install 'forethought[audio]'"

_lock = threading.Lock()
_loaded: dict[str, Any] = {}
"""The last model used, by its name: loading takes seconds and memory."""


def whisper_lacks(settings: Settings) -> str:
    """What keeps whisper from being used; '' if nothing does."""
    there = importlib.util.find_spec("whisper") is not None
    return "" if there else f"openai-whisper is not installed: {INSTALL}"


def transcribe_here(sound: Sound, settings: Settings) -> Transcript:
    """The transcript of a sound. Blocking, one at a time: a model keeps what it is just doing in itself.

    Raises ToolError: what `Sound.samples` raises, or the weights are missing.
    """
    name, samples = settings.whisper_model, sound.samples()
    with _lock:
        model = _model(name)
        half = str(getattr(model, "device", "cpu")).startswith("cuda")
        result: dict[str, Any] = model.transcribe(samples, fp16=half, verbose=None)
    seconds = len(samples) / RATE
    # It hears in windows of 30 seconds, and may give times beyond the end of the last one's sound.
    segments = tuple(
        Segment(min(float(item["start"]), seconds), min(float(item["end"]), seconds), str(item["text"]))
        for item in result["segments"]
    )
    shown = Path(name).stem if _is_path(name) else name
    return Transcript(segments, seconds, str(result.get("language") or ""), f"whisper ({shown})")


WHISPER = Transcriber("whisper", whisper_lacks, transcribe_here)


def _is_path(model: str) -> bool:
    return os.sep in model or model.endswith(".pt")


def _model(name: str) -> Any:
    if name in _loaded:
        return _loaded[name]
    if _is_path(name) and not Path(name).is_file():
        raise _unavailable(name, "there is no such file")
    try:
        import whisper

        model = whisper.load_model(name)
    except OSError as error:  # urllib's errors are of this kind: no network, or no disk
        reason = str(getattr(error, "reason", "") or error.strerror or error)
        raise _unavailable(
            name, f"they are not on this machine and cannot be downloaded ({reason})"
        ) from error
    # A broken checkpoint or installation is reported by torch, pickle or zipfile, each in its own way.
    except Exception as error:
        raise _unavailable(name, f"{type(error).__name__}: {one_line(error, 200)}") from error
    _loaded.clear()
    _loaded[name] = model
    return model


def _unavailable(model: str, why: str) -> ToolError:
    return ToolError(
        f"the weights of whisper model {model} cannot be used: {why}",
        cause="unavailable",
        hint="The operator sets FORETHOUGHT_WHISPER_MODEL to the path of a checkpoint, or lets the machine "
        "download one once.",
    )
